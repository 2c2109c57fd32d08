// What is looked at: marks, boxes, tables, tabs, and what stands where there is nothing or something failed.

import { h } from '../dom.js';
import { go } from '../router.js';
import { button } from './form.js';

export const badge = (text, tone) => h('span', { class: ['badge', tone && `is-${tone}`] }, text);

const WORST = ['stranger', 'limited', 'agent', 'service', 'owner'];

// Whose words something is: the least trusted of its origins gives the colour, all of them stand in the title.
export function chip(label) {
  const origins = label?.origins?.length ? label.origins : [{ author: 'stranger', source: 'unknown' }];
  const worst = WORST.find((author) => origins.some((each) => each.author === author)) ?? 'stranger';
  const shown = origins.find((each) => each.author === worst) ?? origins[0];
  const all = origins.map((each) => `${each.author} by ${each.source}`).join(', ');
  const readers = label?.readers ? `; for ${label.readers.length ? label.readers.join(', ') : 'anybody'}` : '';
  const more = origins.length > 1 ? ` +${origins.length - 1}` : '';
  return h('span', { class: ['chip', `is-${worst}`], title: `From ${all}${readers}` }, h('span', { dir: 'auto' }, `${worst === 'owner' ? 'you' : worst} · ${shown.source}${more}`));
}

export const chips = (labels) => h('span', { class: 'chips' }, labels.map(chip));

export function card(title, { actions, note, bare, level = 'h2' } = {}, ...children) {
  const head = title && h('div', { class: 'card-head' }, h(level, title), note && h('span', { class: 'card-note' }, note), actions && h('div', { class: 'card-actions' }, actions));
  return h('section', { class: 'card', 'aria-label': typeof title === 'string' ? title : undefined }, head, h('div', { class: ['card-body', bare && 'is-bare'] }, ...children));
}

// Columns: {title, cell(row), number, tight}. `href(row)`: where a row leads; its first cell is then a link for the keyboard.
export function table(columns, rows, { href, onrow, empty: nothing, caption } = {}) {
  if (!rows.length && nothing) return nothing;
  const kind = (column) => [column.number && 'is-number', column.tight && 'is-tight'].filter(Boolean).join(' ') || undefined;
  const opened = (row) => (href ? () => go(href(row)) : onrow && (() => onrow(row)));
  const body = rows.map((row) => {
    const open = opened(row);
    const cells = columns.map((column, i) => {
      const inside = column.cell(row);
      return h('td', { class: kind(column) }, i === 0 && href ? h('a', { href: href(row), class: 'strong' }, inside) : inside);
    });
    return h('tr', { class: open && 'is-link', onclick: open && ((event) => event.target.closest('a, button, input, select, label, summary') || open()) }, cells);
  });
  const heads = columns.map((column) => h('th', { class: kind(column), scope: 'col' }, column.title || h('span', { class: 'unseen' }, column.name ?? 'Actions')));
  return h('div', { class: 'table-box', tabindex: '0', role: 'region', 'aria-label': caption ?? 'Table' }, h('table', { class: 'table' }, caption && h('caption', { class: 'unseen' }, caption), h('thead', h('tr', heads)), h('tbody', body)));
}

export const list = (items, props = {}) => h('ul', { class: 'list', role: 'list', ...props }, items);

export function tabs(all, current, onpick) {
  const made = h('div', { class: 'tabs', role: 'tablist' }, all.map(({ id, title, count }) => h('button', {
    class: 'tab', role: 'tab', type: 'button', 'aria-selected': String(id === current), tabindex: id === current ? '0' : '-1',
    onclick: () => onpick(id),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = all[(all.findIndex((each) => each.id === id) + step + all.length) % all.length];
      onpick(next.id);
    },
  }, title, count ? h('span', { class: 'tab-count' }, ` ${count}`) : '')));
  return made;
}

export function empty(title, text, action) {
  return h('div', { class: 'empty' }, h('h2', title), text && h('p', text), action);
}

// What could not be shown, and why. Where the line was down, the shell tries again by itself; what is missing, a right or the thing itself,
// is no fault of the page, and trying again does not help.
export function failure(error, retry) {
  if (error?.status === 403) return empty('Not for this device', ticked(sentence(error.message)));
  if (error?.status === 404) return empty('It is not there', ticked(sentence(error.message)));
  const text = error?.name === 'ApiError' ? ticked(sentence(error.message)) : `Something went wrong here: ${error?.message ?? error}`;
  return h('div', { class: 'failure', role: 'alert', data: error?.status === 0 ? { again: 'online' } : {} }, h('span', { class: 'grow' }, text), retry && button('Try again', { onclick: retry }));
}

// Words with `commands` in them.
export const ticked = (text) => text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h('code', part) : part));

// Messages of the gateway begin small; alone on a page they are sentences.
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.') : '');

export const loading = () => h('div', { class: 'loading', role: 'status', 'aria-label': 'Loading' }, h('i'), h('i'), h('i'));
export const figure = (value, name, note) => h('div', { class: 'figure' }, h('b', value), h('span', name), note && h('span', note));
export const crumbs = (...parts) => h('nav', { class: 'row small', 'aria-label': 'Where this is' }, parts.flatMap((each, i) => (i ? [h('span', { class: 'dim', 'aria-hidden': 'true' }, '/'), each] : [each])));
