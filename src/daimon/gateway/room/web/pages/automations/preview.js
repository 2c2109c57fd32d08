// The next ten times of a schedule, as it is typed. What is not understood is told in the server's words, and what it suggests can be taken
// with one press. An answer that comes after a newer question is dropped. Words that are kept as they were mean the times that are set (`kept`):
// an interval counts from where it began, not from now.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { button } from '../../js/parts.js';
import { onItsClock } from './words.js';

const PAUSE_MS = 250;

export function preview({ schedule, zone, ownZone, field, signal, kept }) {
  const box = h('div', { class: 'stack is-tight', 'aria-live': 'polite' }), offers = h('div', { class: 'row is-wrapping offers' });
  const before = [schedule.value, zone.value].join('\n');
  let timer = 0, asked = 0;

  function look() {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  }

  async function ask() {
    const mine = ++asked;
    if (!schedule.value.trim()) return show(mine, () => { field.fail(''); put(offers); put(box, h('p', { class: 'dim' }, 'Say when, and the next ten times stand here.')); });
    if (kept && before === [schedule.value, zone.value].join('\n')) return show(mine, () => { field.fail(''); put(offers); put(box, listed(kept)); });
    try {
      const { times, fault } = await get('/v1/room/preview', { schedule: schedule.value, timezone: zone.value });
      show(mine, () => { field.fail(fault); put(offers, suggested(fault)); put(box, fault ? h('p', { class: 'dim' }, 'No time is understood yet.') : listed(times)); });
    } catch (error) {
      show(mine, () => field.fail(error.message));
    }
  }

  const show = (mine, draw) => { if (mine === asked && !signal.aborted) draw(); };

  function listed(times) {
    const rows = times.map((iso) => {
      const { text, offset } = onItsClock(iso);
      return h('li', h('span', h('time', { datetime: iso }, text), ' ', h('span', { class: 'dim small' }, offset)));
    });
    const note = times.length ? `On the clock of ${zone.value || ownZone}.` : 'It is never due again.';
    return [h('p', { class: 'dim small' }, note), h('ol', { class: 'times-list' }, rows)];
  }

  function suggested(message) {
    const found = [...(/Try (.*)$|for example (.*)$/.exec(message)?.[0] ?? '').matchAll(/'([^']{2,80})'/g)].map((each) => each[1]);
    return found.map((text) => button(text, { title: `Use “${text}”`, onclick: () => { schedule.value = text; schedule.dispatchEvent(new Event('input', { bubbles: true })); schedule.focus(); } }));
  }

  schedule.addEventListener('input', look);
  zone.addEventListener('input', look);
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  ask();
  return { times: box, offers };
}
