// Numbers, times and money as people read them.

import { h } from '../dom.js';

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' }), brief = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const date = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' });
const STEPS = [[60, 'second', 1], [3600, 'minute', 60], [86400, 'hour', 3600], [7 * 86400, 'day', 86400]];

// Says it anew every half minute, as long as it is on the page. `how`: 'brief' where there is little room.
export function time(iso, how = 'usual') {
  if (!iso) return h('span', { class: 'dim' }, 'never');
  const at = new Date(iso);
  return h('time', { datetime: iso, title: absolute.format(at), class: 'nowrap', data: { live: how } }, moment(at, how));
}

export function moment(at, how = 'usual') {
  const away = (at - Date.now()) / 1000;
  if (Math.abs(away) < 10) return 'now';
  const step = STEPS.find(([most]) => Math.abs(away) < most);
  return step ? (how === 'brief' ? brief : relative).format(Math.round(away / step[2]), step[1]) : (Math.abs(away) < 300 * 86400 ? day : absolute).format(at);
}

setInterval(() => { for (const each of document.querySelectorAll('time[data-live]')) each.textContent = moment(new Date(each.dateTime), each.dataset.live); }, 30000);

export { clock };

// A day of the calendar, such as 2026-11-16: the same day wherever it is read.
export const calendar = (day_) => date.format(new Date(`${day_}T00:00Z`));

export function duration(ms) {
  if (ms === null || ms === undefined) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3600000) return `${Math.floor(ms / 60000)} min ${Math.round(ms / 1000) % 60} s`;
  if (ms < 172800000) return `${Math.floor(ms / 3600000)} h ${Math.round(ms / 60000) % 60} min`;
  return `${Math.round(ms / 86400000)} days`;
}

// Money comes as text, so that no digit is lost; small sums keep the digits that say something.
export function money(text) {
  if (text === null || text === undefined || text === '') return '';
  const value = Number(text);
  if (value === 0) return '$0.00';
  return `$${Math.abs(value) >= 0.1 ? value.toFixed(2) : Number(value.toPrecision(2)).toString()}`;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat('en');
export const count = (n) => (n === null || n === undefined ? '' : Math.abs(n) < 10000 ? plain.format(n) : compact.format(n));

export function bytes(n) {
  if (n === null || n === undefined) return '';
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (n < 1000 || unit === 'GB') return `${unit === 'B' ? n : n.toFixed(n < 10 ? 1 : 0)} ${unit}`;
    n /= 1000;
  }
}

export const words = (n, one, many) => `${count(n)} ${n === 1 ? one : many ?? `${one}s`}`;
