// What floats above the page: dialogs, toasts, menus.

import { h, put } from '../dom.js';
import { button } from './form.js';

// Resolves with what its action gives; with undefined where it was closed. Actions: {text, kind, run}; `run` may throw: then it stays open.
export function dialog({ title, body, actions = [], wide = false, onopen }) {
  return new Promise((resolve) => {
    let result;
    const fault = h('p', { class: 'field-error', role: 'alert' });
    const close = (value) => { result = value; made.close(); };
    const press = (action) => async () => {
      fault.textContent = '';
      try { close(action.run ? await action.run() : action.value); } catch (error) { fault.textContent = error.message; }
    };
    const heading = h('h2', { class: 'dialog-head', id: `d${Date.now()}` }, title);
    const buttons = actions.map((each) => button(each.text, { kind: each.kind, onclick: press(each), autofocus: each.autofocus }));
    const made = h('dialog', { class: wide && 'is-wide', 'aria-labelledby': heading.id, onclose: () => { made.remove(); resolve(result); } }, heading, h('div', { class: 'dialog-body' }, body, fault), h('div', { class: 'dialog-actions' }, buttons));
    // Enter in a field does what the main button says; in a longer text it is a new line, and Ctrl or ⌘ comes with it.
    const main = buttons[actions.findIndex((each) => each.kind === 'primary')];
    made.addEventListener('keydown', (event) => {
      const isField = event.target.matches?.('input:not([type=checkbox], [type=radio])'), isLong = event.target.matches?.('textarea');
      if (event.key !== 'Enter' || event.isComposing || event.defaultPrevented || !main || !(isField || (isLong && (event.ctrlKey || event.metaKey)))) return;
      event.preventDefault();
      main.click();
    });
    document.body.append(made);
    made.showModal();
    onopen?.(made, close);
  });
}

export async function confirm({ title, text, yes = 'Go on', no = 'Cancel', danger = false, body }) {
  const told = [text && h('p', text), body];
  return Boolean(await dialog({ title, body: told, actions: [{ text: no, value: false }, { text: yes, kind: danger ? 'danger' : 'primary', value: true, autofocus: true }] }));
}

const SHOWN_MS = 6000;

export function toast(text, { tone = 'good', undo, action } = {}) {
  const box = document.querySelector('.toasts');
  const offered = undo ? { text: 'Undo', run: undo } : action;
  const made = h('div', { class: ['toast', `is-${tone}`] }, h('span', { class: 'grow' }, text), offered && button(offered.text, { kind: 'quiet', onclick: async () => { made.remove(); await attempt(offered.run); } }));
  box.append(made);
  let timer = setTimeout(() => made.remove(), SHOWN_MS);
  made.addEventListener('pointerenter', () => clearTimeout(timer));
  made.addEventListener('pointerleave', () => { timer = setTimeout(() => made.remove(), SHOWN_MS); });
}

// Runs it; what fails is told. Gives what it gives, or undefined.
export async function attempt(run) {
  try { return await run(); } catch (error) {
    if (error.status !== 401) toast(error.message, { tone: 'bad' });
    if (error.name !== 'ApiError') reportError(error);
    return undefined;
  }
}

// Opens at a button. Items: {text, run, danger}.
export function menu(at, items) {
  const made = h('div', { class: 'menu', popover: 'auto', role: 'menu' });
  put(made, items.map((each) => h('button', { type: 'button', role: 'menuitem', class: each.danger && 'is-danger', onclick: () => { made.hidePopover(); attempt(each.run); } }, each.text)));
  made.addEventListener('toggle', (event) => { if (event.newState === 'closed') { made.remove(); at.focus(); } });
  made.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...made.children];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  document.body.append(made);
  made.showPopover();
  const box = at.getBoundingClientRect(), own = made.getBoundingClientRect();
  made.style.setProperty('left', `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`);
  made.style.setProperty('top', `${box.bottom + own.height + 8 > innerHeight ? Math.max(8, box.top - own.height - 4) : box.bottom + 4}px`);
  made.firstElementChild?.focus();
}
