// Step one: a model with its key, or the built-in one.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { modelForm } from '../settings/model_form.js';
import { told } from '../settings/told.js';

export async function modelStep({ view, done }) {
  const [models, found] = await Promise.all([api.get('/v1/settings/models'), api.get('/v1/settings/models/found')]);
  return h('section', { class: 'stack is-wide' },
    h('div', { class: 'stack is-tight' }, h('h2', 'Who thinks?'), h('p', { class: 'dim' }, 'A language model answers for your agent. Bring a key, or a model that runs on this machine. Without one, the built-in reflex does small chores: notes, reminders, times. You can add one later.')),
    view.standing.has_model && told('good', `Set up already: ${view.standing.use.join(', ')}. Another one comes beside it.`),
    modelForm(models, found, { submit: 'Test and use it', ondone: done }));
}
