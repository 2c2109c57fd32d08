// The keyboard: shortcuts (`j`, `g c`, `mod+k`), the palette with every command, and the list of both under `?`.

import { h, put } from './dom.js';
import { dialog } from './parts/float.js';

const shortcuts = new Set(), commands = new Set(), searches = [];
const SEQUENCE_MS = 1200;
let begun = '', begunAt = 0;

export function shortcut(keys, title, run, { signal } = {}) {
  return kept(shortcuts, { keys, title, run, isHere: Boolean(signal) }, signal);
}

export function command({ title, hint = '', run, signal }) {
  return kept(commands, { title, hint, run }, signal);
}

// What the palette offers for any words: look for them somewhere.
export const search = (title, run) => searches.push({ title, run });

function kept(all, each, signal) {
  all.add(each);
  const off = () => all.delete(each);
  signal?.addEventListener('abort', off, { once: true });
  return off;
}

// A key as it is written on the keyboard that is before the person.
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
export const spelled = (key) => key.replace(/^mod\+(.)$/, (_, letter) => (isApple ? `⌘${letter.toUpperCase()}` : `Ctrl ${letter.toUpperCase()}`));

const isTyping = (target) => target.closest?.('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
const isBlocked = () => document.querySelector('dialog[open]');

export function start() {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const withMod = event.metaKey || event.ctrlKey;
    if (event.altKey || (!withMod && isTyping(event.target)) || isBlocked()) return;
    const pressed = withMod ? `mod+${event.key.toLowerCase()}` : event.key;
    const since = event.timeStamp - begunAt < SEQUENCE_MS ? begun : '';
    const found = [...shortcuts].reverse();
    const hit = (since && found.find((each) => each.keys === `${since} ${pressed}`)) || found.find((each) => each.keys === pressed);
    begun = found.some((each) => each.keys.startsWith(`${pressed} `)) ? pressed : '';
    begunAt = event.timeStamp;
    if (!hit) return;
    event.preventDefault();
    hit.run(event);
  });
  shortcut('mod+k', 'Search and commands', palette);
  shortcut('?', 'All shortcuts', help);
}

function help() {
  const all = [...shortcuts], body = [['On this page', all.filter((each) => each.isHere)], ['Everywhere', all.filter((each) => !each.isHere)]]
    .filter(([, found]) => found.length).map(([title, found]) => [h('h3', title), h('dl', { class: 'facts keys' }, rows(found))]);
  return dialog({ title: 'Shortcuts', body, actions: [{ text: 'Close', autofocus: true }] });
}

// Keys that do the same stand in one row, and so do those that only count.
function rows(found) {
  const named = Map.groupBy?.(found, ({ title }) => title.replace(/ \d$/, ' …')) ?? new Map(found.map((each) => [each.title, [each]]));
  const written = ({ keys }) => keys.split(' ').map((each) => h('kbd', spelled(each)));
  return [...named].map(([title, same]) => [h('dt', same.length > 3 ? [written(same[0]), ' – ', written(same.at(-1))] : same.map((each, i) => [i ? ' or ' : '', written(each)])), h('dd', title)]);
}

export function palette() {
  let picked = 0, shown = [];
  const listbox = h('div', { role: 'listbox', id: 'palette-list', 'aria-label': 'Commands' });
  const box = h('input', { type: 'text', placeholder: 'Go to, do, or search …', 'aria-label': 'Search commands', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', autocomplete: 'off', oninput: () => { picked = 0; draw(); }, onkeydown: press });
  const made = h('dialog', { class: 'palette', 'aria-label': 'Search and commands', onclose: () => made.remove(), onclick: (event) => event.target === made && made.close() }, box, listbox);

  function draw() {
    const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...commands, ...[...shortcuts].map((each) => ({ ...each, hint: spelled(each.keys) }))];
    shown = all.filter(({ title, hint }) => wanted.every((word) => `${title} ${hint}`.toLowerCase().includes(word))).slice(0, 40);
    if (wanted.length) shown.push(...searches.map(({ title, run }) => ({ title: `${title} “${box.value.trim()}”`, hint: '', run: () => run(box.value.trim()) })));
    put(listbox, shown.map((each, i) => h('div', { role: 'option', id: `palette-${i}`, 'aria-selected': String(i === picked), onclick: () => run(each) }, h('span', each.title), h('span', { class: 'dim small' }, each.hint))));
    box.setAttribute('aria-activedescendant', shown.length ? `palette-${picked}` : '');
    listbox.children[picked]?.scrollIntoView({ block: 'nearest' });
  }
  function run(each) { made.close(); each?.run(); }
  function press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') { event.preventDefault(); return run(shown[picked]); }
    if (!step || !shown.length) return;
    event.preventDefault();
    picked = (picked + step + shown.length) % shown.length;
    draw();
  }
  document.body.append(made);
  made.showModal();
  draw();
}
