// What people press and write in.

import { h, icon } from '../dom.js';

let made = 0;
const newId = () => `f${++made}`;

export function button(text, { kind, onclick, key, title, type = 'button', ...rest } = {}) {
  return h('button', { class: ['button', kind && `is-${kind}`], type, title, onclick: onclick && once(onclick), ...rest }, text, key && h('kbd', { 'aria-hidden': 'true' }, key));
}

export function iconButton(path, label, { kind = 'quiet', onclick, ...rest } = {}) {
  return h('button', { class: ['button', 'is-icon', `is-${kind}`], type: 'button', 'aria-label': label, title: label, onclick: onclick && once(onclick), ...rest }, icon(path));
}

// While what a button started is under way, pressing it again does nothing.
function once(run) {
  return async (event) => {
    const pressed = event.currentTarget;
    if (pressed.dataset.busy) return;
    pressed.dataset.busy = '1';
    try { await run(event); } finally { delete pressed.dataset.busy; }
  };
}

export function field(label, control, { hint, error } = {}) {
  control.id ||= newId();
  const told = [hint && h('span', { class: 'field-hint', id: `${control.id}-hint` }, hint), h('span', { class: 'field-error', id: `${control.id}-error`, role: 'alert' }, error ?? '')];
  control.setAttribute('aria-describedby', told.filter(Boolean).map((each) => each.id).join(' '));
  if (error) control.setAttribute('aria-invalid', 'true');
  const made = h('div', { class: 'field' }, h('label', { for: control.id }, label), control, told);
  made.fail = (message) => {
    told[1].textContent = message ?? '';
    control.toggleAttribute('aria-invalid', Boolean(message));
    if (message) control.setAttribute('aria-invalid', 'true');
  };
  return made;
}

export const input = (props = {}) => h('input', { class: 'input', type: 'text', autocomplete: 'off', spellcheck: 'false', ...props });
export const textarea = (props = {}) => h('textarea', { class: 'input', ...props });

// Options: texts, or [value, text].
export function select(options, { value, ...props } = {}) {
  const made = h('select', { class: 'input', ...props }, options.map((each) => {
    const [of, text] = Array.isArray(each) ? each : [each, each];
    return h('option', { value: of, selected: of === value }, text);
  }));
  return made;
}

export function toggle(label, { checked = false, onchange, ...rest } = {}) {
  return h('label', { class: 'toggle' }, h('input', { type: 'checkbox', checked, onchange: onchange && ((event) => onchange(event.target.checked)), ...rest }), h('span', label));
}
