// People and things: who and what is known by name, and one of them with its facts and relations, each with whose word it is.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { attempt, badge, button, card, chip, count, empty, input, table, time } from '../../js/parts.js';
import { learn } from './edit.js';
import { item } from './items.js';

const PAUSE_MS = 200;

export async function things(context) {
  return context.state.thing ? portrait(context, await get('/v1/room/memory/thing', { name: context.state.thing })) : listed(context, await get('/v1/room/memory/things'));
}

function listed(context, first) {
  const box = h('div'), note = h('span', { class: 'card-note', role: 'status' });
  let timer = 0;
  const narrow = input({ type: 'search', placeholder: 'Part of a name', 'aria-label': 'Part of a name', dir: 'auto', oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(() => attempt(async () => show(await get('/v1/room/memory/things', { text: narrow.value }))), PAUSE_MS);
  } });
  const columns = [
    { title: 'Name', cell: (each) => context.here({ thing: each.name, item: '' }, { class: 'strong', dir: 'auto' }, each.name) },
    { title: 'Kind', cell: (each) => each.kinds.map((kind) => badge(kind)) },
    { title: 'Facts', number: true, cell: (each) => count(each.facts) },
    { title: 'Relations', number: true, cell: (each) => count(each.relations) },
  ];
  const show = (found) => {
    put(note, found.is_cut ? 'more than these: write a part of the name' : '');
    put(box, table(columns, found.things, { caption: 'People and things', onrow: (each) => context.open({ thing: each.name, item: '' }), empty: empty('Nobody and nothing by that name', 'Who and what facts and relations tell of stands here.') }));
  };
  show(first);
  return card('People and things', { bare: true, note }, h('div', { class: 'memory-pad' }, narrow), box);
}

function portrait(context, found) {
  const all = context.here({ thing: '', item: '' }, {}, 'All people and things');
  const nodes = found.nodes.map((node) => h('div', { class: 'stack is-tight' }, h('div', { class: 'row is-wrapping small dim' }, badge(node.kind, 'accent'), chip(node.label), time(node.at)), properties(node.properties)));
  const columns = [
    { title: 'How', cell: (each) => h('span', { class: 'mono small' }, each.is_from ? `${each.type} →` : `← ${each.type}`) },
    { title: 'With', cell: (each) => [context.here({ thing: each.name, item: '' }, { dir: 'auto', class: 'linked' }, each.name), ' ', badge(each.kind)] },
    { title: 'More', cell: (each) => [each.confidence < 1 && badge(`${Math.round(100 * each.confidence)}% sure`, 'warn'), (each.since || each.until) && h('span', { class: 'small dim' }, each.since && ['since ', time(each.since)], each.until && [' until ', time(each.until)]), properties(each.properties)] },
    { title: 'Whose word', cell: (each) => chip(each.label) },
    { title: 'When', tight: true, cell: (each) => time(each.at) },
  ];
  const relations = table(columns, found.relations, { caption: `Relations of ${found.name}`, empty: h('p', { class: 'dim memory-pad' }, 'No relations are known.') });
  const facts = found.facts.length ? h('ul', { class: 'list items', role: 'list' }, found.facts.map((each) => item(context, { item: each }))) : h('p', { class: 'dim memory-pad' }, 'No facts are known.');
  return h('div', { class: 'stack is-wide' },
    card(h('bdi', found.name), { actions: [button('Learn a fact about it', { onclick: () => learn(context, found.name) })] }, h('div', { class: 'small' }, all), nodes),
    card('Facts', { note: count(found.facts.length), bare: true }, facts),
    card('Relations', { note: found.is_cut ? `the first ${count(found.relations.length)}` : count(found.relations.length), bare: true }, relations));
}

function properties(all) {
  const rows = Object.entries(all);
  return rows.length > 0 && h('dl', { class: 'facts small' }, rows.map(([name, value]) => [h('dt', { dir: 'auto' }, name), h('dd', { dir: 'auto' }, typeof value === 'string' ? value : JSON.stringify(value))]));
}
