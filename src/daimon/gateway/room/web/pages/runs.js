// All turns, newest first. What the list is narrowed down by stands in the address; it is read again when something happens.

import { h, put } from '../js/dom.js';
import { get } from '../js/api.js';
import { shortcut } from '../js/keys.js';
import { setQuery } from '../js/router.js';
import { attempt, badge, button, count, duration, empty, failure, field, input, loading, money, select, table, time } from '../js/parts.js';

export const title = 'Runs';
const STATES = [['', 'Any state'], ['running', 'Running'], ['parked', 'Waiting'], ['queued', 'Queued'], ['done', 'Done'], ['failed', 'Failed']];
const TONES = { running: 'accent', parked: 'warn', queued: undefined, done: 'good', failed: 'bad' };
const NAMES = { parked: 'waiting' };
const FILTERS = ['text', 'state', 'conversation', 'agent', 'job', 'model', 'since', 'until'];
const SOON_MS = 400, TYPING_MS = 250;

export default async function page(root, { query, signal, on }) {
  const wanted = Object.fromEntries(FILTERS.map((name) => [name, query[name] ?? '']));
  const known = { conversation: new Set(), agent: new Set(), job: new Set(), model: new Set() };
  let rows = [], next = '', pages = 1, timer = 0, asked = 0;
  const body = h('div', { class: 'stack' }, loading());
  const controls = filters(wanted, changed);
  put(root, controls.element, body);
  root.classList.add('is-runs');

  function changed(name, value, isTyping) {
    wanted[name] = value;
    setQuery({ [name]: value });
    pages = 1;
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; read(); }, isTyping ? TYPING_MS : 0);
  }

  // As many pages as there were before; an answer that was overtaken by another one is not shown.
  async function read() {
    const mine = ++asked;
    try {
      let found = [], from = '';
      for (let i = 0; i < pages; i++) {
        const part = await get('/v1/runs', { ...wanted, since: day(wanted.since), until: day(wanted.until, 1), before: from });
        found = [...found, ...part.rows];
        from = part.next;
        if (!from) break;
      }
      if (signal.aborted || mine !== asked) return;
      [rows, next] = [found, from];
      draw();
    } catch (error) {
      if (!signal.aborted && mine === asked) put(body, failure(error, read));
    }
  }
  const later = () => { if (!document.hidden) timer ||= setTimeout(() => { timer = 0; read(); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, later);
  signal.addEventListener('abort', () => clearTimeout(timer));

  function draw() {
    for (const row of rows) {
      for (const name of ['conversation', 'agent', 'job']) if (row[name]) known[name].add(row[name]);
      for (const model of row.models) known.model.add(model);
    }
    controls.offer(known);
    const at = body.contains(document.activeElement) && document.activeElement.closest('a')?.getAttribute('href');
    const isNarrowed = FILTERS.some((name) => wanted[name]);
    const nothing = isNarrowed ? empty('No run fits', next ? 'Not in what was looked through so far.' : 'Take a filter away to see more.', button('Clear all filters', { onclick: () => { for (const name of FILTERS) wanted[name] = ''; setQuery(wanted); controls.show(wanted); return read(); } })) : empty('Nothing ran yet', 'Everything that the agent does, by your word or by itself, stands here.');
    put(body, h('div', { class: 'card rows' }, table(columns, rows, { href: (row) => `/runs/${row.id}`, caption: 'Runs', empty: nothing })),
      next && h('div', { class: 'row' }, button(rows.length ? 'Show more' : 'Look further back', { onclick: () => { pages += 1; return attempt(read); } })));
    if (at) body.querySelector(`a[href="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
  }

  function move(step) {
    const links = [...body.querySelectorAll('tbody td:first-child > a')];
    const i = links.indexOf(document.activeElement);
    links[Math.max(0, Math.min(links.length - 1, i + step))]?.focus();
  }
  shortcut('j', 'Next run', () => move(1), { signal });
  shortcut('k', 'Run before', () => move(-1), { signal });
  shortcut('/', 'Search runs', () => controls.search.focus(), { signal });
  await read();
}

// The day as the owner's browser counts it, as a moment.
function day(text, later = 0) {
  const [year, month, date] = text.split('-').map(Number);
  return year ? new Date(year, month - 1, date + later).toISOString() : '';
}

const columns = [
  { title: 'What', cell: (row) => h('span', { class: 'run-said', dir: 'auto' }, row.said || '(nothing said)') },
  { title: 'State', tight: true, cell: (row) => badge(row.ending ?? NAMES[row.state] ?? row.state, row.ending && row.state === 'done' && row.ending !== 'answered' ? undefined : TONES[row.state]) },
  { title: 'Where', cell: (row) => h('span', { class: 'run-lines' }, h('span', { class: 'cut run-where', dir: 'auto' }, row.job || row.conversation), (row.job || row.agent !== 'daimon') && h('span', { class: 'small dim cut run-where', dir: 'auto' }, [row.job && row.conversation, row.agent].filter(Boolean).join(' · '))) },
  { title: 'Model', cell: (row) => h('span', { class: 'small run-model', title: row.models.join(', ') }, row.models.join(', ')) },
  { title: 'Began', tight: true, cell: (row) => time(row.started_at) },
  { title: 'Took', number: true, cell: (row) => (row.duration_ms === null ? h('span', { class: 'dim' }, '…') : duration(row.duration_ms)) },
  { title: 'Model + tool', number: true, cell: (row) => h('span', { title: `${row.model_calls} model calls, ${row.tool_calls} tool calls, ${row.steps} steps` }, `${count(row.model_calls)} + ${count(row.tool_calls)}`) },
  { title: 'Tokens', number: true, cell: (row) => h('span', { title: `${row.input_tokens} in, of these ${row.cached_tokens} cached; ${row.output_tokens} out` }, row.input_tokens + row.output_tokens ? `${count(row.input_tokens)} → ${count(row.output_tokens)}` : h('span', { class: 'dim' }, '–')) },
  { title: 'Cost', number: true, cell: (row) => (row.cost === null ? h('span', { class: 'dim', title: 'Nobody knows the price of a call' }, '?') : money(row.cost)) },
];

function filters(wanted, changed) {
  const lists = {};
  const made = {
    text: input({ type: 'search', placeholder: 'Words', value: wanted.text, dir: 'auto' }),
    state: select(STATES, { value: wanted.state }),
    ...Object.fromEntries([['conversation', 'Any'], ['agent', 'Any'], ['job', 'Any'], ['model', 'Any']].map(([name, hint]) => {
      lists[name] = h('datalist', { id: `runs-${name}` });
      return [name, input({ placeholder: hint, value: wanted[name], list: `runs-${name}`, dir: 'auto' })];
    })),
    since: input({ type: 'date', value: wanted.since }),
    until: input({ type: 'date', value: wanted.until }),
  };
  const titles = { text: 'Search', state: 'State', conversation: 'Conversation', agent: 'Agent', job: 'Automation', model: 'Model', since: 'From', until: 'To' };
  for (const [name, control] of Object.entries(made)) {
    const isText = control.tagName === 'INPUT' && control.type !== 'date';
    control.addEventListener(isText ? 'input' : 'change', () => changed(name, control.value.trim(), isText));
  }
  const more = button('More filters', { kind: 'quiet', 'aria-expanded': 'false', onclick: () => more.setAttribute('aria-expanded', String(element.classList.toggle('is-open'))) });
  const element = h('form', { class: ['run-filters', Object.keys(made).slice(2).some((name) => wanted[name]) && 'is-open'], role: 'search', 'aria-label': 'Narrow down', onsubmit: (event) => event.preventDefault() }, Object.entries(made).map(([name, control]) => field(titles[name], control)), h('div', { class: 'run-more' }, more), Object.values(lists));
  return {
    element,
    search: made.text,
    show: (values) => { for (const [name, control] of Object.entries(made)) control.value = values[name]; },
    offer: (known) => { for (const [name, found] of Object.entries(known)) if (lists[name].children.length !== found.size) put(lists[name], [...found].map((value) => h('option', { value }))); },
  };
}
