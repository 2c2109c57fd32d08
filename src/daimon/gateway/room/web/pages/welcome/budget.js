// Step three: what models may cost a day and a month.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { budgetForm } from '../settings/budget_form.js';

export async function budgetStep({ done }) {
  const view = await api.get('/v1/settings/budget');
  return h('section', { class: 'stack is-wide' },
    h('div', { class: 'stack is-tight' }, h('h2', 'What may it cost?'), h('p', { class: 'dim' }, 'A call to a model happens only if its worst case fits into both. When a limit is reached, the agent asks you instead of spending. The built-in model and your own hardware cost nothing.')),
    budgetForm(view, { isShort: true, submit: 'Set the budget', ondone: async (changed) => { view.version = changed.version; await done(); } }));
}
