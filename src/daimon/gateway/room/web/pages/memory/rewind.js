// Rewinding: notes, facts, values and relations become as they were at a moment. The latest changes are moments to pick; what would change is
// shown first, and the toast offers the way back.

import { h } from '../../js/dom.js';
import { get, post } from '../../js/api.js';
import { attempt, badge, button, card, chip, count, dialog, empty, field, input, list, time, toast, words } from '../../js/parts.js';

const SAID = { kept: ['kept', 'good'], superseded: ['replaced', ''], disputed: ['disputed', 'warn'], forgotten: ['forgotten', 'bad'], rewound: ['rewound', ''] };
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const at = '/v1/room/memory/rewind';

export async function rewind(context) {
  const found = await get('/v1/room/memory/changes');
  const when = input({ type: 'datetime-local', step: '1', 'aria-label': 'Moment' });
  const pick = h('form', { class: 'row is-wrapping memory-pad', onsubmit: (event) => { event.preventDefault(); const to = new Date(when.value); if (!Number.isNaN(to.getTime())) ask(context, to.toISOString()); } }, field('As it was at', when), button('Look at it', { type: 'submit' }));
  const rows = found.map((each) => h('li', { class: 'note' }, h('div', { class: 'grow' },
    context.here({ item: each.item.id }, { class: 'item-text is-short', dir: 'auto' }, each.item.text || '(no words)'),
    h('div', { class: 'row is-wrapping small dim item-about' }, badge(...SAID[each.did]), badge(each.item.kind), chip(each.item.label), time(each.at))),
    button('Go to before this', { kind: 'quiet', onclick: () => ask(context, each.before) })));
  return card('Latest changes', { bare: true }, h('p', { class: 'dim memory-pad' }, 'Notes, facts, values and relations become as they were. What was said stays; what was deleted for good stays deleted.'), pick, rows.length ? list(rows) : empty('Nothing was changed yet', 'What is kept, replaced or forgotten stands here.'));
}

function ask(context, to) {
  return attempt(async () => {
    const ahead = await get(at, { to });
    const isNothing = !ahead.ended && !ahead.returned && !ahead.claims;
    const body = h('div', { class: 'stack' },
      h('p', { class: 'strong' }, isNothing ? 'Nothing would change: memory is as it was then.' : said(ahead)),
      side('What would end', ahead.ended_rows, ahead.ended), side('What would come back', ahead.returned_rows, ahead.returned));
    const done = await dialog({ title: `Rewind to ${exact.format(new Date(ahead.to))}`, wide: true, body, actions: [{ text: isNothing ? 'Close' : 'Cancel' }, !isNothing && { text: 'Rewind', kind: 'primary', run: () => post(at, { to: ahead.to }) }].filter(Boolean) });
    if (!done) return undefined;
    await context.refresh();
    return toast(`Rewound: ${words(done.ended, 'item')} ended, ${count(done.returned)} came back`, { undo: async () => { await post(at, { to: done.undo }); await context.refresh(); toast('Taken back'); } });
  });
}

function said({ ended, returned, claims }) {
  const parts = [ended && words(ended, 'item ends', 'items end'), returned && words(returned, 'item comes back', 'items come back'), claims && words(claims, 'claim of the graph changes', 'claims of the graph change')];
  return `${parts.filter(Boolean).join(', ')}.`;
}

function side(title, rows, all) {
  if (!rows.length) return null;
  const more = all > rows.length && h('li', { class: 'dim' }, `and ${count(all - rows.length)} more`);
  return h('div', { class: 'stack is-tight' }, h('h3', title), h('ul', { class: 'rewound', role: 'list', tabindex: '0', 'aria-label': title }, rows.map(({ item }) => h('li', badge(item.kind), ' ', h('bdi', item.text.slice(0, 200)))), more));
}
