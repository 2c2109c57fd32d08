// One turn as a waterfall. Stretches of time are read in pages as one comes to them, and only what is on the screen is drawn, so a run of
// ten thousand steps moves as lightly as one of ten. Numbers of stretches never change: a run that goes on only grows at its end.

import { h, put } from '../js/dom.js';
import { get, post } from '../js/api.js';
import { command } from '../js/keys.js';
import { link, setQuery } from '../js/router.js';
import { attempt, badge, button, chip, confirm, copyText, count, duration, figure, money, time, toast, words } from '../js/parts.js';
import { panel } from './run/panel.js';
import { waterfall } from './run/waterfall.js';

export const title = 'Run';
const PAGE = 400, SOON_MS = 150, TICK_MS = 1000;
const TONES = { running: 'accent', parked: 'warn', done: 'good', failed: 'bad' };

export default async function page(root, { params, query, signal, on, head }) {
  const id = params.turn, path = `/v1/runs/${encodeURIComponent(id)}`;
  const loaded = new Map(), asking = new Set();
  let about = null, timer = 0, readAt = 0, isBehind = false;
  const facts = h('div', { class: 'run-facts' }), side = h('aside', { class: 'run-side', hidden: true, 'aria-label': 'Details' });
  const shown = waterfall({ span: (n) => loaded.get(n), want, onpick: picked, onopen: open });
  root.classList.add('is-run');
  put(root, facts, h('div', { class: 'run-both' }, shown.element, side));

  function take(found) {
    about = found;
    readAt = performance.now();
    for (const each of found.spans) loaded.set(each.n, each);
  }

  async function read(asked) {
    const found = await get(path, asked);
    if (signal.aborted) return null;
    take(found);
    return found;
  }

  // A page that is not there yet; `waterfall` asks for it when one scrolls to it.
  async function want(n) {
    const first = n - (n % PAGE);
    if (asking.has(first)) return;
    asking.add(first);
    await attempt(() => read({ first, limit: PAGE }));
    asking.delete(first);
    shown.draw(frame());
  }

  const isOver = () => ['done', 'failed'].includes(about.turn.state);
  const frame = () => ({ count: about.count, idle: about.idle, end: about.end_ms + (isOver() ? 0 : performance.now() - readAt) });

  function draw() {
    const { turn, totals } = about;
    head({ title: about.said || id, note: id, actions: [!isOver() && button('Stop', { kind: 'danger', onclick: stop }), copyText('Copy as JSON', async () => JSON.stringify(await get(`/v1/turns/${encodeURIComponent(id)}`), null, 2))] });
    const cached = totals.input_tokens ? `${Math.round((100 * totals.cached_tokens) / totals.input_tokens)} % cached` : '';
    put(facts,
      h('div', { class: 'row is-wrapping run-line' }, badge(turn.ending ?? (turn.state === 'parked' ? 'waiting' : turn.state), TONES[turn.state]), h('span', 'in ', link(`/?c=${encodeURIComponent(turn.conversation)}`, turn.conversation)), h('span', { class: 'dim' }, `by ${turn.agent} for ${turn.principal}`), turn.job && link(`/runs?job=${encodeURIComponent(turn.job)}`, turn.job), turn.parent && h('span', 'started by ', link(`/runs/${turn.parent.turn}?step=${turn.parent.n}`, 'another run')), h('span', { class: 'dim' }, 'began ', time(turn.created_at)), chip(turn.label)),
      h('div', { class: 'run-figures' },
        figure(duration(frame().end), isOver() ? 'from the event to the end' : 'so far'),
        figure(count(totals.model_calls), totals.model_calls === 1 ? 'model call' : 'model calls'),
        figure(count(totals.tool_calls), totals.tool_calls === 1 ? 'tool call' : 'tool calls', totals.failures ? words(totals.failures, 'failure') : ''),
        figure(count(totals.input_tokens), 'tokens in', cached),
        figure(count(totals.output_tokens), 'tokens out'),
        figure(totals.cost === null ? '?' : money(totals.cost), 'cost', Number(totals.assumed) ? `${money(totals.assumed)} of it assumed` : '')));
    shown.draw(frame());
  }

  async function stop() {
    const isMeant = await confirm({ title: 'Stop this run?', text: 'What it has done so far stays; what is under way ends as soon as it can.', yes: 'Stop it', danger: true });
    if (isMeant && (await attempt(() => post(`/v1/turns/${encodeURIComponent(id)}/stop`)))) toast('It is told to stop');
  }

  function picked(n) { setQuery({ span: n, step: '' }); if (!side.hidden) open(n); }

  let wanted = -1;
  async function open(n) {
    wanted = n;
    side.hidden = false;
    root.classList.add('has-side');
    const detail = await attempt(() => get(`${path}/spans/${n}`));
    if (signal.aborted || wanted !== n || !detail) return;
    put(side, panel(detail, { path: `${path}/spans/${n}`, onclose: close }));
    side.scrollTop = 0;
  }

  function close() {
    wanted = -1;
    side.hidden = true;
    root.classList.remove('has-side');
    shown.focus();
    shown.draw(frame());
  }
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !side.hidden && !document.querySelector('dialog[open]')) close();
  }, { signal });

  // What may have changed: from the first stretch that was open on; where none was, what is new.
  async function refresh() {
    const from = about.open ?? Math.max(0, about.count - 1), wasOpen = !side.hidden && loaded.get(wanted)?.end_ms === null;
    await read({ first: from, limit: PAGE });
    if (signal.aborted) return;
    draw();
    if (wasOpen) open(wanted);
  }
  const later = (update) => { if (update?.turn && update.turn !== id) return; if (!timer) timer = setTimeout(async () => { await refresh().catch(() => {}); timer = 0; if (isBehind) { isBehind = false; later(); } }, SOON_MS); else isBehind = true; };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, later);
  const ticking = setInterval(() => { if (about && !isOver() && !document.hidden) shown.draw(frame()); }, TICK_MS);
  signal.addEventListener('abort', () => { clearTimeout(timer); clearInterval(ticking); shown.end(); });
  command({ title: 'Stop this run', run: () => about && !isOver() && stop(), signal });

  const asked = query.span !== undefined ? { first: Math.max(0, Number(query.span) - (Number(query.span) % PAGE) || 0), limit: PAGE } : { step: query.step, limit: PAGE };
  const found = await read(asked);
  if (!found) return;
  draw();
  const at = query.span !== undefined ? Number(query.span) : found.found;
  if (Number.isInteger(at) && at < found.count) {
    shown.pick(at);
    open(at);
  }
}
