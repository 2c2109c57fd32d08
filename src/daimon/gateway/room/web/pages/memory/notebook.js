// The notebook: the notes that stand in every prompt, in their order, and how much room is left.

import { h } from '../../js/dom.js';
import { badge, button, card, chip, count, empty, list, time } from '../../js/parts.js';
import { meter } from '../../js/parts/chart.js';
import { add, takeOff } from './edit.js';

export function notebook(context, { page, characters }) {
  const add_ = button('Add a note', { onclick: () => add(context, true) });
  const room = meter(characters, page.most_characters, { label: 'Room', text: `${count(characters)} of ${count(page.most_characters)} characters` });
  const rows = page.notes.map((note, i) => h('li', { class: 'note', 'aria-current': note.id === context.state.item ? 'true' : undefined },
    h('span', { class: 'note-number dim', 'aria-hidden': 'true' }, i + 1),
    h('div', { class: 'grow' }, context.here({ item: note.id }, { class: 'item-text', dir: 'auto' }, note.text), h('div', { class: 'row is-wrapping small dim item-about' }, chip(note.label), time(note.at))),
    button('Take off', { kind: 'quiet', title: 'It goes on as a note like others', onclick: () => takeOff(context, note) })));
  const left = page.left_out.length > 0 && h('p', { class: 'row is-wrapping' }, badge('no room', 'warn'), 'Meant for it, but they do not fit: ', page.left_out.map((id) => context.here({ item: id }, { class: 'mono small' }, id)));
  const none = empty('The notebook is empty', 'What you write here stands in every prompt: how to address you, what never to do, what is going on.', add_);
  return card('Stands in every prompt', { note: 'the oldest first', bare: true }, h('div', { class: 'memory-pad' }, room, left), rows.length ? list(rows) : none);
}
