// One automation: how it is set, when it is due, what it watches, and what became of each time. The record is read anew as things happen; the
// form is not, so that nobody's words are drawn over. If it was changed elsewhere meanwhile, the page says so.

import { h, put } from '../../js/dom.js';
import { del, get, post } from '../../js/api.js';
import { inTurn } from '../../js/order.js';
import { go, link } from '../../js/router.js';
import { attempt, badge, button, card, confirm, crumbs, empty, table, time, toast } from '../../js/parts.js';
import { editor } from './editor.js';
import { outcome, watched } from './words.js';

const AGAIN_MS = 30000, SOON_MS = 600;
const said = (why) => why.replace(/^by hand(; )?/, '');  // a mark says so already

export async function one(root, { params, signal, on, head }) {
  const path = `/v1/room/automations/${encodeURIComponent(params.name)}`, own = `/v1/automations/${encodeURIComponent(params.name)}`;
  let seen = await get(path), form = null, timer = 0;
  if (signal.aborted) return;
  const notice = h('div', { class: 'slot' }), left = h('div', { class: 'stack' }), right = h('div', { class: 'stack is-wide' }), due = h('div'), watching = h('div', { class: 'slot' }), record = h('div');

  function edit() {
    form = editor({ shown: seen.shown, licence: seen.licence, kept: seen.times, around: seen.around, signal, onsaved: () => { put(notice); read(); }, onwish: (there) => { seen = there; edit(); draw(); } });
    put(left, form.element);
    put(due, form.due);
  }

  function draw() {
    const { shown } = seen, { automation } = shown;
    head({ title: automation.id, note: shown.schedule, actions: actions() });
    put(watching, automation.watch && watchCard());
    put(record, recordCard());
    const isOther = shown.version !== form.version();
    put(notice, isOther && form.isDirty() ? h('div', { class: 'failure', role: 'status' }, h('span', { class: 'grow' }, 'This automation was changed elsewhere while you edit it. What you typed is still here.'), button('Show both versions', { onclick: () => attempt(form.conflict) })) : null);
    if (isOther && !form.isDirty()) edit();
  }

  const actions = () => [
    button('Run now', { onclick: () => attempt(run) }),
    button(seen.shown.automation.is_paused ? 'Resume' : 'Pause', { onclick: () => attempt(pause) }),
    button('Delete', { kind: 'danger', onclick: () => attempt(remove) }),
  ];

  async function run() {
    const tick = await post(`${own}/run`);
    const said = { ran: 'It runs', unchanged: 'It looked, and nothing is new', failed: 'The look failed' }[tick.outcome] ?? tick.outcome;
    toast(tick.why && tick.outcome !== 'ran' ? `${said}: ${tick.why}` : said, { tone: tick.outcome === 'failed' ? 'bad' : 'good' });
    await read();
  }

  async function pause() {
    const verb = seen.shown.automation.is_paused ? 'resume' : 'pause', wasDirty = form.isDirty();
    await post(`${own}/${verb}`);
    seen = await get(path);
    if (!wasDirty) edit();
    draw();
  }

  async function remove() {
    if (!await confirm({ title: `Delete ${params.name}?`, text: 'It will not run again. What became of its times so far stays on record.', yes: 'Delete', danger: true })) return;
    await del(own);
    toast(`${params.name} is deleted`);
    go('/automations');
  }

  function watchCard() {
    const { looked_at: at, note, failures } = seen.watching;
    const state = failures ? badge(failures === 1 ? 'the last look failed' : `${failures} looks failed in a row`, 'bad') : at ? badge('well', 'good') : badge('has not looked yet');
    return card('Watches', {}, h('p', { dir: 'auto' }, watched(seen.shown.automation.watch)), h('dl', { class: 'facts' }, h('dt', 'State'), h('dd', state), h('dt', 'Last look'), h('dd', time(at)), said(note) && [h('dt', 'It said'), h('dd', { dir: 'auto' }, said(note))]));
  }

  function recordCard() {
    const columns = [
      { title: 'Due', cell: ({ tick }) => time(tick.due), tight: true },
      { title: 'What became of it', cell: (each) => h('span', { class: 'row is-wrapping' }, outcome(each), each.tick.by_hand && badge('by hand'), said(each.tick.why) && h('span', { class: 'dim', dir: 'auto' }, said(each.tick.why))) },
      { title: 'Recorded', cell: ({ tick }) => time(tick.at), tight: true },
    ];
    const nothing = empty('It was not due yet', 'Each time that it is due leaves a line here, whatever came of it.');
    return card('What became of each time', { bare: true, note: seen.ticks.length >= 50 ? 'the last 50' : '' }, table(columns, seen.ticks, { empty: nothing, caption: 'What became of each time' }));
  }

  async function look() {
    const known = form.version();
    try {
      const found = await get(path);
      if (form.version() !== known) return look();  // it was saved meanwhile: what was read may be what stood there before
      seen = found;
    } catch (error) {
      if (error.status === 404 && !signal.aborted && form.isDirty()) { put(notice, h('div', { class: 'failure', role: 'status' }, 'This automation was deleted elsewhere. What you typed is still here; saving makes it again.')); return; }
      if (error.status === 404 && !signal.aborted) go('/automations', { replace: true });
      return;
    }
    if (!signal.aborted) draw();
  }

  const read = inTurn(look);
  const soon = () => { timer ||= setTimeout(() => { timer = 0; read(); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, soon);
  const again = setInterval(read, AGAIN_MS);
  signal.addEventListener('abort', () => { clearInterval(again); clearTimeout(timer); }, { once: true });
  edit();
  draw();
  put(right, due, watching);
  put(root, crumbs(link('/automations', 'Automations'), h('span', { dir: 'auto' }, params.name)), notice, h('div', { class: 'split' }, left, right), record);
}
