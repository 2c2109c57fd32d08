// Bars and meters. Beside each picture stands what it says, for those who do not see it.

import { h } from '../dom.js';

// Points: {name, value, text}.
export function bars(points, { label }) {
  const most = Math.max(...points.map((each) => each.value), Number.MIN_VALUE);
  const all = points.map((each) => h('div', { title: `${each.name}: ${each.text}` }, h('i', { vars: { '--h': `${(100 * each.value) / most}%` } })));
  const said = `${label}: ${points.map((each) => `${each.name} ${each.text}`).join(', ')}`;
  return h('div', h('div', { class: 'bars-most', 'aria-hidden': 'true' }, points.find((each) => each.value === most)?.text), h('div', { class: 'bars', role: 'img', 'aria-label': said }, all), points.length > 1 && h('div', { class: 'bars-axis', 'aria-hidden': 'true' }, h('span', points[0].name), h('span', points.at(-1).name)));
}

export function meter(value, most, { label, text, tone, held = 0 } = {}) {
  const share = (n) => `${most > 0 ? Math.min(100, (100 * n) / most) : 0}%`;
  const how = tone ?? (value >= most ? 'bad' : value >= 0.8 * most ? 'warn' : '');
  return h('div', { class: ['meter', how && `is-${how}`] }, h('div', { class: 'row is-spread' }, h('span', label), h('span', { class: 'dim' }, text)), h('div', { class: 'meter-bar', role: 'meter', 'aria-label': label, 'aria-valuenow': value, 'aria-valuemin': 0, 'aria-valuemax': most }, h('i', { vars: { '--w': share(value) } }), held > 0 && h('i', { class: 'is-held', vars: { '--w': share(held) } })));
}
