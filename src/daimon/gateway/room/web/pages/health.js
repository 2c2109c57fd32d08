// Costs and health: what was spent and on what, how well it works, how things are now, and what is promised as figures of the journal.
// `?days` says how far back. All of it is one request; it is read again as things happen, at most every five seconds.

import { h, putAgain } from '../js/dom.js';
import { get } from '../js/api.js';
import { inTurn } from '../js/order.js';
import { setQuery } from '../js/router.js';
import { calendar, select } from '../js/parts.js';
import { budgets, spending } from './health/money.js';
import { efficiency, people, speed, tools } from './health/work.js';
import { letters, lines, outbox, warnings } from './health/now.js';
import { promises } from './health/promises.js';

const DAYS = [['1', 'Today'], ['7', '7 days'], ['30', '30 days'], ['90', '90 days']];
const SOON_MS = 5000, AGAIN_MS = 30000, SETTLED_MS = 2000;

export default async function page(root, { query, signal, on, head }) {
  let days = DAYS.some(([value]) => value === query.days) ? query.days : '7', by = query.by ?? 'model', timer = 0, settling = 0;
  const picked = select(DAYS, { value: days, 'aria-label': 'How far back', onchange: () => { days = picked.value; setQuery({ days: days === '7' ? '' : days }); read(); } });
  const state = { get by() { return by; }, pick(next) { by = next; setQuery({ by: next === 'model' ? '' : next }); draw(); } };
  let seen = await get('/v1/health', { days });
  if (signal.aborted) return;
  head({ actions: [picked] });

  function draw() {
    head({ note: seen.first_day === seen.last_day ? calendar(seen.last_day) : `${calendar(seen.first_day)} to ${calendar(seen.last_day)}` });
    const focused = document.activeElement?.closest?.('[role="tab"]')?.textContent;
    putAgain(root, warnings(seen), promises(seen), h('div', { class: 'columns' }, budgets(seen), speed(seen)), spending(seen, state), h('div', { class: 'columns' }, efficiency(seen), people(seen)), tools(seen), lines(seen, read), h('div', { class: 'columns' }, outbox(seen), letters(seen)));
    if (focused) [...root.querySelectorAll('[role="tab"]')].find((each) => each.getAttribute('aria-selected') === 'true')?.focus();
  }

  const read = inTurn(async () => {
    try { seen = await get('/v1/health', { days }); } catch { return; }
    if (signal.aborted) return;
    draw();
    settle();
  });

  // What is just starting will soon be up or down.
  function settle() {
    clearTimeout(settling);
    if (seen.status.lines.some((each) => each.state === 'starting')) settling = setTimeout(read, SETTLED_MS);
  }

  const soon = () => { timer ||= setTimeout(() => { timer = 0; read(); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, soon);
  const again = setInterval(read, AGAIN_MS);
  signal.addEventListener('abort', () => { clearInterval(again); clearTimeout(timer); clearTimeout(settling); }, { once: true });
  draw();
  settle();
}
