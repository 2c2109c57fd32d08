// Code, values and differences, as text.

import { h } from '../dom.js';
import { button } from './form.js';
import { toast } from './float.js';

const FOLD_LINES = 24, MOST = 200000;

export function code(text, { folded = false, label = 'Code' } = {}) {
  const shown = text.length > MOST ? `${text.slice(0, MOST)}\n… (${text.length - MOST} more characters)` : text;
  const made = h('div', { class: 'code', tabindex: '0', role: 'region', 'aria-label': label }, h('pre', { dir: 'auto' }, shown));
  const lines = shown.split('\n').length;
  return folded && lines > FOLD_LINES ? h('details', h('summary', `${lines} lines`), made) : made;
}

export const json = (value, props) => code(JSON.stringify(value, null, 2), props);

const KINDS = [['+++', 'is-file'], ['---', 'is-file'], ['diff ', 'is-file'], ['@@', 'is-at'], ['+', 'is-in'], ['-', 'is-out']];
const MOST_LINES = 4000;

export function diff(text, { label = 'Changes' } = {}) {
  const lines = text.split('\n'), shown = lines.slice(0, MOST_LINES);
  const rows = shown.map((line) => h('div', { class: KINDS.find(([start]) => line.startsWith(start))?.[1] }, line));
  if (lines.length > MOST_LINES) rows.push(h('div', { class: 'is-at' }, `… ${lines.length - MOST_LINES} more lines`));
  return h('div', { class: 'diff', tabindex: '0', role: 'region', 'aria-label': label }, rows);
}

export function copyText(name, get) {
  return button(name, { kind: 'quiet', onclick: async () => { await navigator.clipboard.writeText(await get()); toast('Copied'); } });
}
