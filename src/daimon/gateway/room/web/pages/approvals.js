// What waits for the owner's word, what was decided before, and what was granted. One question is picked at a time; yes and no are one key.
//
// The picked question is known by its address (`?q=`), not by its place, so a new one above it changes nothing. After an answer the next one
// is picked, and for a moment keys answer nothing: nobody allows unseen what moved under the finger.

import { h, put } from '../js/dom.js';
import { get, post } from '../js/api.js';
import { shortcut } from '../js/keys.js';
import { inTurn } from '../js/order.js';
import { go, setQuery } from '../js/router.js';
import { attempt, empty, tabs, time, toast } from '../js/parts.js';
import { grants } from './approvals/grants.js';
import { history } from './approvals/history.js';
import { pane, summary } from './approvals/question.js';

export const title = 'Approvals';
const READY_MS = 350, FOLLOW_MS = 2500, SOON_MS = 120;
const NARROW = matchMedia('(max-width: 960px)');

export default async function page(root, { query, signal, on }) {
  let open = [], picked = query.q ?? '', tab = query.tab ?? '', readyAt = 0, timer = 0, shown = null, drawn = '';
  const answered = new Set();
  const rows = h('ul', { class: 'asked-list', role: 'list', 'aria-label': 'Questions' });
  const aside = h('div', { class: 'asked-pane' });
  const both = h('div', { class: 'asked' }, rows, aside);
  const status = h('div', { class: 'unseen', role: 'status' });
  const heads = h('div'), body = h('div', { class: 'asked-body' });
  put(root, heads, status, body);
  root.classList.add('is-asked');

  const read = inTurn(async () => {
    const found = await get('/v1/approvals');
    if (signal.aborted) return;
    for (const to of answered) if (!found.some((each) => each.to === to)) answered.delete(to);
    const before = open.length;
    open = found.filter((each) => !answered.has(each.to));
    if (open.length > before && drawn) put(status, `${open.length} waiting`);
    draw();
  });
  const later = () => { timer ||= setTimeout(() => { timer = 0; if (!tab) read().catch(() => {}); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, later);
  signal.addEventListener('abort', () => clearTimeout(timer));

  function draw() {
    put(heads, tabs([{ id: '', title: 'Waiting', count: open.length }, { id: 'history', title: 'History' }, { id: 'grants', title: 'Grants' }], tab, (next) => attempt(() => show(next))));
    if (tab) return;
    if (!open.length) {
      shown = null;
      drawn = 'empty';
      return put(body, empty('Nothing waits for you', 'When the agent needs your word, its question stands here, with what it wants to do, where to and with which data.'));
    }
    if (!open.some((each) => each.to === picked)) pick(open[Math.min(place(), open.length - 1)].to);
    const hadFocus = rows.contains(document.activeElement);
    put(rows, open.map((each, i) => row(each, i)));
    if (!body.contains(both)) put(body, both);
    detail();
    if (hadFocus) rows.querySelector('[aria-current="true"] button')?.focus({ preventScroll: true });
    drawn = 'rows';
  }

  let last = 0;
  const place = () => { const i = open.findIndex((each) => each.to === picked); if (i >= 0) last = i; return i >= 0 ? i : last; };
  const current = () => open.find((each) => each.to === picked);

  function row(each, i) {
    const is = each.to === picked;
    const { what, where } = summary(each);
    return h('li', { 'aria-current': String(is) }, h('button', { type: 'button', class: 'asked-row', onclick: () => { pick(each.to); draw(); enter(); }, data: { to: each.to } },
      h('span', { class: 'row is-spread' }, h('span', { class: 'cut strong', dir: 'auto' }, what), h('span', { class: 'dim small' }, time(each.asked_at))),
      h('span', { class: 'cut small dim', dir: 'auto' }, [where, each.job || each.conversation].filter(Boolean).join(' · '))));
  }

  function pick(to, byHand = true) {
    if (to === picked && shown) return;
    picked = to;
    last = Math.max(0, open.findIndex((each) => each.to === to));
    setQuery({ q: to });
    if (!byHand) readyAt = performance.now() + READY_MS;
  }

  function detail() {
    const each = current(), key = JSON.stringify(each);
    if (NARROW.matches) rows.querySelector('[aria-current="true"]')?.append(aside);
    else if (aside.parentElement !== both) both.append(aside);
    if (shown?.key === key) return;
    const keep = shown?.to === each.to ? aside.scrollTop : 0;
    const made = pane(each, (choice, text) => answer(each, choice, text));
    shown = { key, to: each.to, made };
    put(aside, made.element);
    aside.scrollTop = keep;
    aside.dataset.ready = '';
    setTimeout(() => { aside.dataset.ready = 'yes'; }, Math.max(0, readyAt - performance.now()));
  }
  NARROW.addEventListener('change', () => current() && detail(), { signal });

  async function answer(each, choice, text = '') {
    const index = place();
    answered.add(each.to);
    open = open.filter((other) => other.to !== each.to);
    if (open.length) pick(open[Math.min(index, open.length - 1)].to, false);
    draw();
    const heard = signs(each.to.split(':')[0]);
    const sent = await attempt(() => post('/v1/events', { type: 'answer', to: each.to, choice, text, source: 'web' }));
    if (!sent) { heard.off(); answered.delete(each.to); return read(); }
    const end = ended(each, heard);
    await Promise.race([end, new Promise((done) => { setTimeout(done, FOLLOW_MS); })]);
    const made = await decided(each);
    tell(each, choice, made);
    if (!isDone(made) && isDone(await end)) tell(each, choice, await end);  // what takes longer is told of as under way, and once more at its end
    heard.off();
  }

  // That a turn came to rest, or that something was missed. What came while nobody waited counts for whoever waits next.
  function signs(turn) {
    let wake = () => {}, isThere = false, isOver = false;
    const sign = () => { isThere = true; wake(); };
    const offs = [
      on('turn', (update) => { if (update.turn === turn && update.state !== 'running') { isOver ||= update.state !== 'parked'; sign(); } }),
      on('refresh', sign),
    ];
    const next = async () => { if (!isThere) await new Promise((done) => { wake = done; }); isThere = false; };
    return { next, isOver: () => isOver, off: () => { for (const off of offs) off(); } };
  }

  // The decision, when all that it allowed was done. The first sign may still be of the rest in which the question was asked.
  async function ended(each, heard) {
    for (;;) {
      await heard.next();
      const made = await decided(each);
      if (isDone(made) || heard.isOver()) return made;
    }
  }

  const isDone = (made) => Boolean(made?.calls.every((call) => call.outcome !== 'none'));

  async function decided(each) {
    const { decisions } = await get('/v1/decisions', { limit: 20 }).catch(() => ({ decisions: [] }));
    return decisions.find((other) => other.to === each.to);
  }

  const titled = (each, choice) => (each.calls.length ? choice : each.choices.find((one) => one.choice === choice)?.title ?? choice);

  function tell(each, choice, made) {
    const action = { text: 'See the run', run: () => go(`/runs/${each.to.split(':')[0]}`) };
    const { what } = summary(each);
    if (!made) return toast(`Answered “${choice}”. It is under way: ${what}`, { action });
    const said = [titled(each, made.choice), made.said].filter(Boolean).join(' ');
    if (!each.calls.length && !made.calls.length) return toast(`Answered: ${said}`, { action });
    const isOther = made.choice.toLowerCase() !== choice.split(' ')[0].toLowerCase() && made.choice !== choice && made.text;
    const outcomes = made.calls.map((call) => (call.outcome === 'ok' ? 'done' : call.outcome === 'none' ? 'under way' : call.outcome.replaceAll('_', ' ')));
    const failed = made.calls.some((call) => call.is_allowed && !['ok', 'none'].includes(call.outcome));
    toast(`${what}: ${isOther ? `settled before, “${said}”` : [said, ...new Set(outcomes)].join(', ')}`, { tone: failed ? 'bad' : 'good', action });
  }

  function move(step) {
    if (tab || !open.length) return;
    pick(open[Math.max(0, Math.min(open.length - 1, place() + step))].to);
    draw();
    const at = rows.querySelector('[aria-current="true"] button');
    at?.focus({ preventScroll: true });
    at?.scrollIntoView({ block: 'nearest' });
  }
  const press = (find) => () => {
    const choice = !tab && shown && performance.now() >= readyAt && shown.made.choices.find(find);
    if (choice) shown.made.choose(choice);
  };
  const enter = () => aside.querySelector('h2')?.focus();
  const first = (tone) => (choice) => choice.tone === tone;
  for (const [keys, name, run] of [
    ['j', 'Next question', () => move(1)], ['k', 'Question before', () => move(-1)],
    ['a', 'Allow once', press(first('yes'))], ['y', 'Allow once', press(first('yes'))],
    ['d', 'Deny', press(first('no'))], ['n', 'Deny', press(first('no'))],
    ...Array.from({ length: 9 }, (_, i) => [String(i + 1), `Answer number ${i + 1}`, press((_, at) => at === i)]),
  ]) shortcut(keys, name, run, { signal });
  document.addEventListener('keydown', (event) => {
    const isFree = event.target === document.body || event.target.id === 'content';
    if (event.key === 'Enter' && isFree && !tab && !document.querySelector('dialog[open]')) enter();
  }, { signal });

  async function show(next, byHand = true) {
    tab = next;
    setQuery({ tab: next });
    draw();
    if (tab === 'history') await history(body, { signal, on });
    else if (tab === 'grants') await grants(body, { signal, on });
    else { shown = null; await read(); }
    if (byHand) heads.querySelector('[aria-selected="true"]')?.focus({ preventScroll: true });
  }
  await read();
  if (tab) await show(tab, false);
}
