// Step four: a first automation from the gallery, each with what it may cost at most.

import { h, put } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { badge, button, field, input, money, time } from '../../js/parts.js';
import { link } from '../../js/router.js';
import { saying, told } from '../settings/told.js';

export async function automationStep({ view, done }) {
  const cards = view.gallery.map((each) => suggestion(each, view, done));
  return h('section', { class: 'stack is-wide' },
    h('div', { class: 'stack is-tight' }, h('h2', 'What should it do by itself?'), h('p', { class: 'dim' }, 'Pick one to begin with. You find it under Automations, where you change it, run it now, or make your own.')),
    !view.standing.has_model && told('warn', 'Only the built-in model is set up: it stays silent in these until you add one. What you pick waits for it.'),
    h('ul', { class: 'welcome-gallery', role: 'list' }, cards));
}

function suggestion(each, view, done) {
  const address = each.needs && input({ type: 'url', placeholder: each.example }), schedule = input({ value: each.schedule });
  const result = saying(), actions = h('div', { class: 'settings-actions' });
  const isThere = view.automations.includes(each.id);
  const add = () => result.during('Setting it up …', async () => {
    const made = await api.post('/v1/setup/automations', { id: each.id, schedule: schedule.value.trim(), address: address ? address.value.trim() : '' });
    put(actions, badge('set up', 'good'), link(`/automations/${each.id}`, 'Look at it'));
    await done();
    return told(made.warnings.length ? 'warn' : 'good', h('span', 'Next time: ', time(made.next), `, ${made.schedule}.`), ...made.warnings);
  });
  put(actions, isThere ? [badge('set up', 'good'), link(`/automations/${each.id}`, 'Look at it')] : button('Set it up', { onclick: add, 'aria-label': `Set up ${each.title}` }));
  const controls = h('div', { class: 'settings-row is-low' }, !isThere && [address && h('div', { class: 'grow' }, field(each.needs === 'feed' ? 'Feed' : 'Page', address)), h('div', { class: 'grow' }, field('When', schedule))], actions);
  return h('li', { class: 'welcome-card', data: { id: each.id } }, h('div', { class: 'row is-spread is-wrapping' }, h('h3', each.title), badge(`at most ${money(each.cost)} a day`)), h('p', { class: 'dim' }, each.text), controls, result);
}
