// What happens by itself, in two tabs: automations with their next and last times, and webhooks (automations/hooks.js). A name in the address
// opens one (automations/one.js), `?new` the form of a new one.

import { h, put } from '../js/dom.js';
import { del, get, post } from '../js/api.js';
import { inTurn } from '../js/order.js';
import { go } from '../js/router.js';
import { command, shortcut } from '../js/keys.js';
import { badge, button, card, confirm, empty, iconButton, menu, table, tabs, time, toast } from '../js/parts.js';
import { more as dots } from '../js/icons.js';
import { editor } from './automations/editor.js';
import { hooks } from './automations/hooks.js';
import { one } from './automations/one.js';
import { outcome, watched } from './automations/words.js';

const AGAIN_MS = 30000, SOON_MS = 600;
const TABS = [{ id: '', title: 'Automations' }, { id: 'hooks', title: 'Webhooks' }];

export default async function page(root, context) {
  if (context.params.name) return one(root, context);
  const { query, signal } = context, isHooks = query.tab === 'hooks';
  const body = h('div', { class: 'stack is-wide' });
  const picked = tabs(TABS, isHooks ? 'hooks' : '', (id) => go(id ? `/automations?tab=${id}` : '/automations'));
  const anew = isHooks ? '/automations?tab=hooks&new=1' : '/automations?new=1';
  shortcut('n', isHooks ? 'New webhook' : 'New automation', () => go(anew), { signal });
  command({ title: 'New automation', run: () => go('/automations?new=1'), signal });
  command({ title: 'New webhook', run: () => go('/automations?tab=hooks&new=1'), signal });
  if (query.new === undefined) context.head({ actions: [button(isHooks ? 'New webhook' : 'New automation', { kind: 'primary', key: 'n', onclick: () => go(anew) })] });
  await (isHooks ? hooks(body, context) : automations(body, context));
  if (signal.aborted) return;
  put(root, picked, body);
  if (query.new !== undefined) body.querySelector('input')?.focus();
}

async function automations(body, { query, signal, on }) {
  let seen = await get('/v1/room/automations'), timer = 0;
  const box = h('div', { class: 'stack is-wide' });
  if (query.new !== undefined) {
    const form = editor({ shown: null, around: seen.around, signal, onsaved: (made) => go(`/automations/${encodeURIComponent(made.automation.id)}`), onwish: (there) => go(`/automations/${encodeURIComponent(there.shown.automation.id)}`) });
    put(body, h('div', { class: 'split' }, form.element, form.due));
    return;
  }

  const columns = [
    { title: 'Name', cell: ({ shown }) => h('span', { class: 'nowrap' }, shown.automation.id) },
    { title: 'Task', cell: ({ shown }) => h('span', { class: 'task dim', dir: 'auto' }, shown.automation.task.slice(0, 200)) },
    { title: 'When', cell: ({ shown }) => [shown.schedule, shown.automation.watch && h('div', { class: 'task dim small', dir: 'auto' }, watched(shown.automation.watch))] },
    { title: 'Next', cell: ({ shown }) => (shown.automation.is_paused ? badge('paused', 'warn') : shown.next ? time(shown.next) : h('span', { class: 'dim' }, 'never again')), tight: true },
    { title: 'Last', tight: true, cell: ({ last }) => h('span', { class: 'row' }, outcome(last), last && h('span', { class: 'dim small' }, time(last.tick.at))) },
    { title: '', name: 'Actions', tight: true, cell: (row) => iconButton(dots, `What to do with ${row.shown.automation.id}`, { onclick: (event) => menu(event.currentTarget, choices(row)) }) },
  ];

  function choices({ shown }) {
    const { id, is_paused: isPaused } = shown.automation, own = `/v1/automations/${encodeURIComponent(id)}`;
    return [
      { text: 'Run now', run: async () => { const tick = await post(`${own}/run`); toast(tick.outcome === 'ran' ? `${id} runs` : `${id}: ${tick.why || tick.outcome}`, { tone: tick.outcome === 'failed' ? 'bad' : 'good' }); await read(); } },
      { text: isPaused ? 'Resume' : 'Pause', run: async () => { await post(`${own}/${isPaused ? 'resume' : 'pause'}`); await read(); } },
      { text: 'Delete', danger: true, run: async () => {
        if (!await confirm({ title: `Delete ${id}?`, text: 'It will not run again. What became of its times so far stays on record.', yes: 'Delete', danger: true })) return;
        await del(own);
        await read();
      } },
    ];
  }

  function draw() {
    const nothing = empty('Nothing happens by itself yet', 'Let the agent brief you each morning, watch a feed or a price, or tidy up on Fridays.', button('New automation', { kind: 'primary', onclick: () => go('/automations?new=1') }));
    const silent = seen.around.has_only_built_in && h('p', { class: 'warned' }, 'Only the small built-in model is set up. It stays silent here: connect one under Settings, Models.');
    put(box, silent, card('', { bare: true }, h('div', { class: 'rows' }, table(columns, seen.automations, { href: ({ shown }) => `/automations/${encodeURIComponent(shown.automation.id)}`, empty: nothing, caption: 'Automations' }))));
  }

  const read = inTurn(async () => {
    try { seen = await get('/v1/room/automations'); } catch { return; }
    if (!signal.aborted && !document.querySelector('.menu')) draw();
  });

  const soon = () => { timer ||= setTimeout(() => { timer = 0; read(); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, soon);
  const again = setInterval(read, AGAIN_MS);
  signal.addEventListener('abort', () => { clearInterval(again); clearTimeout(timer); }, { once: true });
  draw();
  put(body, box);
}
