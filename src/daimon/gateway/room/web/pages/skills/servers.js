// The servers that are connected: how each is, and what of it waits for the owner.

import { h } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { badge, card, empty, table, words } from '../../js/parts.js';
import { serverState, whose } from './words.js';

export const read = async () => (await get('/v1/servers')).servers;

export const waits = ({ waiting }) => waiting.length > 0 && badge(waiting.length === 1 ? '1 tool waits for your yes' : `${waiting.length} tools wait for your yes`, 'warn');

export function draw(all) {
  const columns = [
    { title: 'Name', cell: (each) => h('bdi', { class: 'nowrap' }, each.name) },
    { title: 'Where', cell: (each) => h('span', { class: 'mono small skill-about', dir: 'ltr' }, each.where) },
    { title: 'State', cell: (each) => h('span', { class: 'row is-wrapping' }, serverState(each), waits(each)) },
    { title: 'Words of', tight: true, cell: (each) => whose(each.is_vouched, `mcp:${each.name}`) },
    { title: 'Offers', tight: true, cell: (each) => h('span', { class: 'small dim' }, each.tools.length ? words(each.tools.length, 'tool') : 'nothing yet') },
  ];
  const nothing = empty('No server is connected', 'A server of the Model Context Protocol brings tools: a program that runs in a box, or an address. You agree to each of its tools before it is offered.');
  return card('', { bare: true }, h('div', { class: 'skill-rows' }, table(columns, all, { href: (each) => `/skills?tab=servers&server=${encodeURIComponent(each.name)}`, empty: nothing, caption: 'Servers' })));
}
