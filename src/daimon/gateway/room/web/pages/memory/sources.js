// Sources: where items come from, and the one deed that cannot be taken back. It is counted first, and the name must be typed.

import { h } from '../../js/dom.js';
import { del, get } from '../../js/api.js';
import { attempt, button, card, chip, dialog, empty, field, input, list, time, toast, words } from '../../js/parts.js';

export async function sources(context) {
  const found = await get('/v1/room/memory/sources');
  const rows = found.map((each) => h('li', { class: 'note' }, h('div', { class: 'grow' },
    context.here({ tab: 'everything', source: each.source, item: '', standing: '' }, { class: 'mono source-name', dir: 'auto' }, each.source),
    h('div', { class: 'row is-wrapping small dim item-about' }, chip(each.label), words(each.items, 'item'), h('span', 'newest ', time(each.newest_at)))),
    button('Delete', { kind: 'quiet', 'aria-label': `Delete all from ${each.source}`, onclick: () => forgetSource(context, each.source) })));
  const none = empty('Nothing is kept yet', 'As soon as something is kept, its sources stand here.');
  const other = input({ placeholder: 'web:example.org, a turn, an event', 'aria-label': 'Another source', dir: 'auto' });
  const more = h('form', { class: 'row memory-pad', onsubmit: (event) => { event.preventDefault(); if (other.value.trim()) forgetSource(context, other.value.trim()); } }, other, button('Delete from there', { type: 'submit' }));
  return card('Sources', { note: 'what is deleted here is gone for good', bare: true }, rows.length ? [list(rows), more] : none);
}

export function forgetSource(context, source) {
  return attempt(async () => {
    const counted = await get('/v1/memory/source', { name: source });
    const kinds = Object.entries(counted.items), many = kinds.reduce((sum, [, n]) => sum + n, 0);
    if (!many && !counted.claims && !counted.payloads) return toast(`Nothing is from ${source}`, { tone: 'warn' });
    const typed = input({ 'aria-label': 'Type the name of the source', dir: 'auto' });
    const rows = [...kinds.map(([kind, n]) => words(n, kind)), counted.claims && words(counted.claims, 'claim of the graph', 'claims of the graph'), counted.payloads && words(counted.payloads, 'entry of the journal', 'entries of the journal')].filter(Boolean);
    const gone = await dialog({
      title: 'Delete for good',
      body: h('div', { class: 'stack' }, h('p', { dir: 'auto' }, 'All that came from ', h('bdi', { class: 'mono strong' }, source), ', and all that was made of it, is deleted. This cannot be undone; it does not reach backups.'), h('ul', { class: 'doomed' }, rows.map((each) => h('li', each))), field('Type the name of the source to go on', typed)),
      onopen: () => typed.focus(),
      actions: [{ text: 'Cancel' }, { text: `Forget ${words(many, 'item')} for good`, kind: 'danger', run: () => {
        if (typed.value.trim() !== source) throw new Error(`Type ${source} to go on.`);
        return del('/v1/memory/source', { name: source });
      } }],
    });
    if (!gone) return undefined;
    toast(`All from ${source} is gone for good`);
    await context.open({ item: '', source: '' });
    return context.refresh();
  });
}
