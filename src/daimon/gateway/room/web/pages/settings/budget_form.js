// Limits in money for a day and a month, and more for those who want them. A field left empty means no limit.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { button, field, input, select, toast } from '../../js/parts.js';
import { consequences, saying, told } from './told.js';

const MORE = [['turn', 'One task, with all that it starts'], ['conversation', 'One conversation, a day'], ['job', 'One automation, a day'], ['agent', 'One agent, a day'], ['person', 'One guest or group, a day']];

export function budgetForm(view, { ondone, isShort = false, submit = 'Save' } = {}) {
  const money = (purse) => input({ value: view.limits[purse].cost ?? '', inputmode: 'decimal', placeholder: 'no limit' });
  const tokens = (purse) => input({ value: view.limits[purse].tokens ?? '', inputmode: 'numeric', placeholder: 'no limit' });
  const shown = isShort ? ['day', 'month'] : ['day', 'month', ...MORE.map(([id]) => id)];
  const costs = Object.fromEntries(shown.map((id) => [id, money(id)])), limits = Object.fromEntries(shown.map((id) => [id, tokens(id)]));
  const unknown = select([['ask', 'Ask me before each call'], ['allow', 'Allow it']], { value: view.limits.unknown_price });
  const result = saying();
  const number = (text) => (text.trim() === '' ? null : text.trim().replace(/^\$/, '').replace(',', '.'));
  const whole = (text) => (/^\s*\d+\s*$/.test(text) ? Number(text) : number(text));
  const save = () => result.during('Saving …', async () => {
    const purses = Object.fromEntries(shown.map((id) => [id, { cost: number(costs[id].value), tokens: isShort ? view.limits[id].tokens : whole(limits[id].value) }]));
    const changed = await api.put('/v1/settings/budget', { version: view.version, limits: { ...purses, ...(isShort ? {} : { unknown_price: unknown.value }) } });
    toast('The limits are changed');
    await ondone?.(changed);
    return told('good', 'Saved. It counts from the next call on.', ...consequences(changed));
  });
  const row = (id, text) => h('div', { class: 'settings-two', role: 'group', 'aria-label': text }, field(`${text}: $`, costs[id]), field(`${text}: tokens`, limits[id]));
  return h('form', { class: 'settings-form', onsubmit: (event) => { event.preventDefault(); save(); } },
    isShort ? h('div', { class: 'settings-two' }, field('A day, $', costs.day), field('A month, $', costs.month)) : [row('day', 'A day'), row('month', 'A month'), MORE.map(([id, text]) => row(id, text)), field('A call whose price nobody knows', unknown)],
    h('div', { class: 'settings-actions' }, button(submit, { kind: 'primary', type: 'submit' })), result);
}
