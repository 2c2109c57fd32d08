// The conversations of all channels, newest first. Read again when something happened, at most twice a second; older ones as one scrolls.
// What was seen is kept in this browser: a dot says that something came since. What was there before this browser first looked is not new.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { setQuery } from '../../js/router.js';
import { badge, empty, failure, input, time } from '../../js/parts.js';
import { channelIcon, channelName } from './channels.js';

const PAGE = 50, LATER_MS = 400, SEARCH_MS = 150, MOST_SEEN = 300;

export function conversationList({ on, signal, pick, search }) {
  let rows = [], next = '', current = '', timer = 0, asked = 0, isMore = false;
  const seen = read();
  const box = input({ type: 'search', placeholder: 'Search conversations', 'aria-label': 'Search conversations', value: search, oninput: () => later(SEARCH_MS) });
  const items = h('ul', { class: 'talks-items', role: 'list' });
  const scroller = h('div', { class: 'talks-scroll', onscroll: () => scroller.scrollTop + scroller.clientHeight > scroller.scrollHeight - 300 && more() }, items);
  const element = h('nav', { class: 'talks', 'aria-label': 'Conversations' }, h('div', { class: 'talks-search' }, box), scroller);
  const self = { element, refresh, find, newest: () => rows[0]?.name, beside, pick: picked, focus: () => box.focus(), changed: () => {} };

  for (const kind of ['change', 'turn', 'refresh']) on(kind, (news) => news?.sort === 'amendment' || later(LATER_MS));
  signal.addEventListener('abort', () => clearTimeout(timer));

  function later(ms) { if (ms < LATER_MS) clearTimeout(timer), timer = 0; timer ||= setTimeout(() => { timer = 0; refresh(); }, ms); }

  async function refresh() {
    const mine = ++asked, q = box.value.trim();
    try {
      const found = await get('/v1/conversations', { q, limit: PAGE });
      if (mine !== asked || signal.aborted) return;
      setQuery({ q });
      const known = new Set(found.items.map((each) => each.name));
      const isLonger = !q && rows.length > PAGE;
      rows = isLonger ? [...found.items, ...rows.filter((each) => !known.has(each.name))] : found.items;
      if (!isLonger) next = found.next;
      if (localStorage.getItem('chat.since') === null && !q) localStorage.setItem('chat.since', rows[0]?.at ?? '');
      draw();
    } catch (error) {
      if (!rows.length && mine === asked) put(items, h('li', failure(error, refresh)));
    }
  }

  async function more() {
    if (!next || isMore || box.value.trim()) return;
    isMore = true;
    try {
      const found = await get('/v1/conversations', { limit: PAGE, before: next });
      const known = new Set(rows.map((each) => each.name));
      rows = [...rows, ...found.items.filter((each) => !known.has(each.name))];
      next = found.next;
      draw();
    } catch { /* the line says so; scrolling asks again */ } finally { isMore = false; }
  }

  function draw() {
    note();
    const focused = document.activeElement?.dataset?.name;
    put(items, rows.length ? rows.map(row) : h('li', { class: 'talks-none' }, box.value ? empty('Nothing found', 'No conversation has these words in its first or last message.') : h('p', { class: 'dim small' }, 'No conversations yet.')));
    if (focused && !element.contains(document.activeElement)) items.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
    self.changed();
  }

  function row(each) {
    const isNew = each.name !== current && each.at > (seen[each.name] ?? since());
    const open = (event) => { if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return; event.preventDefault(); pick(each.name); };
    return h('li', h('a', { class: ['talk', isNew && 'is-new'], href: `/?c=${encodeURIComponent(each.name)}`, data: { name: each.name }, 'aria-current': each.name === current ? 'true' : null, onclick: open },
      h('span', { class: 'talk-icon', title: channelName(each.channel) }, channelIcon(each.channel)),
      h('span', { class: 'talk-title cut', dir: 'auto' }, each.title || each.name),
      h('span', { class: 'talk-time small' }, time(each.at, 'brief')),
      h('span', { class: 'talk-last cut small dim', dir: 'auto' }, each.people.length ? h('span', { class: 'strong' }, `${each.people.join(', ')} `) : '', each.last),
      h('span', { class: 'talk-marks' }, each.is_running && h('span', { class: 'running', title: 'Working', role: 'img', 'aria-label': 'Working' }), each.questions > 0 && badge(`${each.questions} ?`, 'warn'), isNew && h('span', { class: 'talk-new', role: 'img', 'aria-label': 'New' }))));
  }

  function find(name) { return rows.find((each) => each.name === name); }

  function beside(name, step) {
    const at = rows.findIndex((each) => each.name === name);
    return rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.name;
  }

  function picked(name) { current = name; draw(); items.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }); }

  function note() {
    const found = find(current);
    if (!found || (seen[current] ?? '') >= found.at) return;
    seen[current] = found.at;
    const kept = Object.entries(seen).sort((a, b) => (a[1] < b[1] ? 1 : -1)).slice(0, MOST_SEEN);
    localStorage.setItem('chat.seen', JSON.stringify(Object.fromEntries(kept)));
  }

  function since() { return localStorage.getItem('chat.since') ?? ''; }

  function read() { try { return JSON.parse(localStorage.getItem('chat.seen')) ?? {}; } catch { return {}; } }

  return self;
}
