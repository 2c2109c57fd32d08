// "Why do you think so?": what the model had before it when it answered.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { badge, chip, count, dialog, empty, failure, loading, tabs, time } from '../../js/parts.js';
import { link } from '../../js/router.js';

const SORTS = { said: 'Said', result: 'Tool', reply: 'Earlier answer', summary: 'Summary', notice: 'Notice', unknown: 'Unknown' };

export function why(view) {
  const body = h('div', { class: 'why stack' }, loading());
  load(view, body);
  return dialog({ title: 'What this answer was made of', body, wide: true, actions: [{ text: 'Close', autofocus: true }] });
}

async function load(view, body) {
  try { show(await get(`/v1/turns/${view.id}/why`), body, view); } catch (error) { put(body, failure(error, () => load(view, body))); }
}

function show(found, body, view) {
  if (found.missing) return put(body, empty('Nothing to show', found.missing));
  const all = [
    { id: 'memories', title: 'Recalled', count: found.memories.length, rows: found.memories.map(memory), none: 'Nothing was recalled from memory for it.' },
    { id: 'sources', title: 'Seen', count: found.sources.length, rows: found.sources.toReversed().map((each) => source(each, view)), none: 'The model saw nothing but its instructions.' },
    { id: 'notes', title: 'Always in mind', count: found.notes.length, rows: found.notes.map(memory), none: 'The page of what it always keeps in mind is empty.' },
  ];
  const draw = (id) => {
    const one = all.find((each) => each.id === id);
    put(body, h('p', { class: 'dim small' }, `What ${found.model} had before it. What it made of that, nobody can see.`), tabs(all, id, draw), one.rows.length ? h('ul', { class: 'list', role: 'list' }, one.rows) : h('p', { class: 'dim' }, one.none));
  };
  return draw(found.memories.length ? 'memories' : 'sources');
}

function memory(each) {
  const id = each.item && each.standing !== 'deleted';
  return h('li', { class: 'stack is-tight' },
    h('p', { dir: 'auto' }, each.text),
    h('div', { class: 'row is-wrapping small dim' }, each.kind && badge(each.kind), each.label && chip(each.label), each.at && time(each.at), each.speaker && h('span', { dir: 'auto' }, each.speaker), each.why && h('span', `found by ${each.why}`), each.standing !== 'holds' && each.standing && badge(each.standing, 'warn'), id && link(`/memory?item=${encodeURIComponent(each.item)}`, 'In memory')));
}

function source(each, view) {
  return h('li', { class: 'stack is-tight' },
    h('div', { class: 'row is-wrapping small dim' }, badge(each.tool || SORTS[each.sort] || each.sort), chip(each.label), each.is_earlier && 'from an earlier turn', each.form !== 'whole' && `only ${each.form}`, h('span', `${count(each.tokens)} tokens`), each.turn && link(`/runs/${each.turn}?step=${each.ref.split(':')[1]}`, 'In the run')),
    each.addresses.map((url) => h('a', { class: 'small cut', href: url, target: '_blank', rel: 'noopener noreferrer', dir: 'ltr' }, url)),
    h('p', { class: 'why-text', dir: 'auto' }, each.text, each.is_cut && ' …'));
}
