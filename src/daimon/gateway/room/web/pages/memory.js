// Memory: what is kept, found again, put right, taken back. The address holds the search (`q`), the tab, the item that is open (`item`), and
// what a list is narrowed to. Whatever is shown may be a stranger's words: it is text, and its chip says whose.

import { h, put } from '../js/dom.js';
import { get, search } from '../js/api.js';
import { command, shortcut } from '../js/keys.js';
import { inTurn } from '../js/order.js';
import { button, failure, input, loading, tabs } from '../js/parts.js';
import { setQuery } from '../js/router.js';
import { add, learn } from './memory/edit.js';
import { panel } from './memory/item.js';
import { browsed, found } from './memory/items.js';
import { notebook } from './memory/notebook.js';
import { rewind } from './memory/rewind.js';
import { sources } from './memory/sources.js';
import { things } from './memory/things.js';

export const title = 'Memory';
const NAMES = ['q', 'tab', 'item', 'standing', 'source', 'thing'], PAUSE_MS = 250, LATER_MS = 900;
const VIEWS = { notebook, facts: browsed, notes: browsed, everything: browsed, things, sources, rewind };

export default async function page(root, { query, signal, on, head }) {
  const state = Object.fromEntries(NAMES.map((name) => [name, query[name] ?? '']));
  if (!VIEWS[state.tab]) state.tab = state.q ? '' : 'notebook';
  const box = h('div', { class: 'memory-view' }), side = h('aside', { class: 'memory-side', 'aria-label': 'The item' }), bar = h('div');
  const words = input({ type: 'search', placeholder: 'Search memory', 'aria-label': 'Search memory', value: state.q, dir: 'auto', oninput: typed });
  let overview = null, timer = 0, later = 0, turn = 0, looked = 0;
  const refresh = inTurn(read);

  const context = { state, signal, open, here, refresh };
  head({ actions: [button('Learn a fact', { onclick: () => learn(context) }), button('Add a note', { kind: 'primary', key: 'n', onclick: () => add(context) })] });
  put(root, h('div', { class: 'memory-search' }, words), bar, h('div', { class: 'memory-columns' }, box, side));
  shortcut('/', 'Search memory', () => words.focus(), { signal });
  shortcut('n', 'Add a note', () => add(context), { signal });
  shortcut('Escape', 'Close the item', () => state.item && open({ item: '' }), { signal });
  command({ title: 'Learn a fact', hint: 'memory', run: () => learn(context), signal });
  command({ title: 'Rewind memory', run: () => open({ tab: 'rewind', q: '' }), signal });

  function open(change, { push = true } = {}) {
    const isView = Object.keys(change).some((name) => name !== 'item');
    Object.assign(state, change);
    if ('q' in change && words.value !== state.q && document.activeElement !== words) words.value = state.q;
    setQuery(Object.fromEntries(NAMES.map((name) => [name, state[name]])), { push });
    drawBar();
    return Promise.all([isView && draw(), 'item' in change && drawItem()]);
  }

  // A link to another state of this page: followed without opening it anew.
  function here(change, props, ...children) {
    const isPlain = (event) => event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    const next = Object.fromEntries(NAMES.map((name) => [name, change[name] ?? state[name]]));
    return h('a', { ...props, href: `/memory${search(next)}`, onclick: (event) => { if (isPlain(event)) { event.preventDefault(); open(change); } } }, ...children);
  }

  function typed() {
    clearTimeout(timer);
    timer = setTimeout(() => open({ q: words.value.trim(), item: '', tab: words.value.trim() ? '' : 'notebook' }, { push: !state.q }), PAUSE_MS);
  }

  function drawBar() {
    const { holding, over } = overview.counts;
    const all = (counts) => Object.values(counts).reduce((sum, each) => sum + each, 0);
    put(bar, tabs([
      { id: 'notebook', title: 'Notebook', count: overview.page.notes.length }, { id: 'facts', title: 'Facts', count: holding.fact }, { id: 'notes', title: 'Notes', count: holding.note },
      { id: 'things', title: 'People and things' }, { id: 'sources', title: 'Sources' }, { id: 'everything', title: 'Everything', count: all(holding) + all(over) }, { id: 'rewind', title: 'Rewind' },
    ], state.tab, (tab) => open({ tab, q: '', item: '', source: '', thing: '', standing: '' }).then(() => bar.querySelector('[aria-selected="true"]')?.focus())));
    bar.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }

  async function draw() {
    const mine = ++turn;
    const view = state.tab ? VIEWS[state.tab] : found;
    if (!box.firstChild) put(box, loading());
    try {
      const made = await view(context, overview);
      if (!signal.aborted && mine === turn) put(box, made);
    } catch (error) { if (!signal.aborted && mine === turn) put(box, failure(error, draw)); }
  }

  async function drawItem() {
    const mine = ++looked;
    side.hidden = !state.item;
    root.classList.toggle('has-item', Boolean(state.item));
    if (!state.item) return put(side);
    try {
      const made = await panel(context, overview);
      if (!signal.aborted && mine === looked) { put(side, made); if (innerWidth < 900) side.scrollIntoView({ block: 'start' }); }
    } catch (error) { if (!signal.aborted && mine === looked) put(side, failure(error, drawItem)); }
  }

  async function read() {
    overview = await get('/v1/room/memory');
    if (signal.aborted) return;
    drawBar();
    await Promise.all([draw(), drawItem()]);
  }

  const soon = () => { clearTimeout(later); later = setTimeout(() => { if (!signal.aborted && !box.querySelector('.is-grown') && !document.querySelector('dialog[open]')) refresh().catch(() => {}); }, LATER_MS); };
  on('turn', (update) => { if (update.state !== 'running') soon(); });
  on('change', (update) => { if (update.sort === 'amendment' || update.sort === 'erasure') soon(); });
  on('refresh', soon);
  signal.addEventListener('abort', () => { clearTimeout(timer); clearTimeout(later); });
  await refresh();
}
