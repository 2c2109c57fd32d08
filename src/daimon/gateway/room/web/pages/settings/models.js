// Models: who answers, in which order, and who stands in.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { attempt, badge, button, card, confirm, count, list, menu, toast } from '../../js/parts.js';
import { modelForm, triedWords } from './model_form.js';
import { saying, told } from './told.js';

export default async function section({ again }) {
  const [view, found] = await Promise.all([api.get('/v1/settings/models'), api.get('/v1/settings/models/found')]);
  const used = view.models.filter((each) => each.place !== null).map((each) => each.name);
  const order = (use) => attempt(async () => {
    await api.put('/v1/settings/models/use', { use, version: view.version });
    toast('The order is changed');
  }).then(again);

  const rows = view.models.map((row) => {
    const at = used.indexOf(row.name), result = saying();
    const isBuiltIn = !row.model;
    const moved = (step) => { const use = [...used]; [use[at], use[at + step]] = [use[at + step], use[at]]; return order(use); };
    const items = [
      at > 0 && { text: 'Ask earlier', run: () => moved(-1) },
      at >= 0 && at < used.length - 1 && { text: 'Ask later', run: () => moved(1) },
      at < 0 && { text: 'Use it', run: () => order([...used, row.name]) },
      at >= 0 && used.length > 1 && { text: 'Do not use it', run: () => order(used.filter((each) => each !== row.name)) },
      !isBuiltIn && { text: 'Remove', danger: true, run: () => remove(row) },
    ].filter(Boolean);
    const test = () => result.during(`Asking ${row.model} …`, async () => {
      const tried = await api.post(`/v1/settings/models/${encodeURIComponent(row.name)}/test`);
      return told(tried.is_good ? 'good' : 'bad', triedWords(tried), ...tried.remarks);
    });
    const facts = isBuiltIn ? [row.vendor === 'built in' ? 'Built in: small chores without any provider, costs nothing' : 'From an extension'] : [row.address, row.price === 'free' ? 'free' : row.price ? `${row.price} a million` : 'price unknown', row.context_tokens && `reads ${count(row.context_tokens)} tokens`, row.is_local && 'stays on this machine', row.key && `key ${row.key}`];
    return h('li', h('div', { class: 'settings-row' },
      h('span', { class: 'settings-place' }, row.place ?? '–'),
      h('div', { class: 'grow stack is-tight' }, h('div', { class: 'row is-wrapping' }, h('span', { class: 'strong', dir: 'auto' }, row.name), row.model && row.model !== row.name && h('span', { class: 'dim' }, `${row.vendor} ${row.model}`), row.place === 1 && badge('first', 'accent'), row.place === null && badge('not in use'), row.lacks_key && badge('key missing', 'bad')), h('span', { class: 'dim small' }, facts.filter(Boolean).join(' · '))),
      h('div', { class: 'settings-actions' }, !isBuiltIn && button('Test', { onclick: test }), items.length > 0 && button('Change', { 'aria-haspopup': 'menu', 'aria-label': `Change ${row.name}`, onclick: (event) => menu(event.currentTarget, items) }))), result);
  });

  async function remove(row) {
    const yes = await confirm({ title: `Remove ${row.name}?`, text: 'Its key goes too, if no other model uses it. Conversations stay.', yes: 'Remove', danger: true });
    if (!yes) return;
    const changed = await attempt(() => api.del(`/v1/settings/models/${encodeURIComponent(row.name)}`));
    if (changed) toast([`${row.name} is removed`, ...changed.notes].join('; '));
    await again();
  }
  return [
    card('Who answers', { note: 'The first that can and may; the others stand in for it.', bare: true }, list(rows)),
    view.overridden && told('warn', `The variable ${view.overridden} of the environment says another order, and it wins.`),
    card('Add a model', {}, modelForm(view, found, { ondone: async (added, shown) => { toast(`${added.name} answers now`); await again(); } })),
  ];
}
