// The frame around every page: navigation, head, the state of the line, what waits for the owner, and the way back in after a session ended.

import { h, icon, put } from './dom.js';
import { get, post, rights, session } from './api.js';
import * as icons from './icons.js';
import * as keys from './keys.js';
import * as live from './live.js';
import { inTurn } from './order.js';
import { pages } from './pages.js';
import { attempt, button, dialog, field, input, menu } from './parts.js';
import { go } from './router.js';

const THEMES = [['', 'As the system'], ['light', 'Light'], ['dark', 'Dark'], ['contrast', 'High contrast']];
const LOST = {
  offline: 'The gateway does not answer. What you see may be old; it is read again as soon as the line is back.',
  crowded: 'This browser has too many pages of the control room open, so this one hears nothing new. Close some of the others: it then goes on by itself.',
};
const counts = {};

export function build() {
  const items = pages.filter((page) => page.icon).map((page) => {
    const counted = page.count && h('span', { class: 'nav-count', hidden: true });
    const item = h('a', { class: 'nav-item', href: page.path, data: { small: page.small } }, icon(page.icon), h('span', page.title), counted);
    if (counted) counts[page.count] = counted;
    keys.shortcut(`g ${page.keys}`, `Go to ${page.title.toLowerCase()}`, () => go(page.path));
    return { page, item };
  });
  const more = h('button', { class: 'nav-item', type: 'button', data: { small: 'only' }, onclick: (event) => menu(event.currentTarget, [...pages.filter((page) => page.small === 'no').map((page) => ({ text: page.title, run: () => go(page.path) })), { text: 'Search', run: keys.palette }, { text: 'Theme', run: pickTheme }, { text: 'Sign out', run: leave }]) }, icon(icons.more), h('span', 'More'));
  const dot = h('span', { class: 'line-state', data: { state: live.state } }), said = h('span', { role: 'status' }, saying(live.state));
  const notice = h('div', { class: 'notice', hidden: true, role: 'status' }), lacking = h('div', { class: 'notice is-calm', hidden: true }, 'This device may look here, and change nothing.');
  const foot = h('div', { class: 'nav-foot' },
    h('button', { class: 'nav-item', type: 'button', onclick: keys.palette }, icon(icons.search), h('span', 'Search'), h('span', { class: 'nav-keys' }, keys.spelled('mod+k'))),
    h('button', { class: 'nav-item', type: 'button', onclick: pickTheme }, icon(icons.theme), h('span', 'Theme')),
    h('span', { class: 'nav-item small' }, dot, said));
  const nav = h('nav', { class: 'nav', 'aria-label': 'Pages' }, h('a', { class: 'nav-brand', href: '/' }, mark(), h('span', 'Daimon')), items.map(({ item }) => item), more, foot);
  const title = h('h1', 'Daimon'), note = h('span', { class: 'head-note' }), actions = h('div', { class: 'head-actions' });
  const content = h('main', { class: 'content', id: 'content', tabindex: '-1' });
  document.body.replaceChildren(h('a', { class: 'skip', href: '#content' }, 'Skip to the page'),
    h('div', { class: 'room' }, nav, h('div', { class: 'main' }, h('header', { class: 'head' }, title, note, actions), h('div', notice, lacking), content)),
    h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' }));

  live.on('state', (state) => {
    dot.dataset.state = state;
    put(said, saying(state));
    if (state === 'connecting') return;  // between two tries nothing is better yet
    notice.hidden = !LOST[state] || isAsking;
    put(notice, LOST[state] ?? '');
    if (state === 'online') for (const again of document.querySelectorAll('.failure[data-again] button')) again.click();
  });
  keys.search('Search memory for', (words) => go(`/memory?q=${encodeURIComponent(words)}`));
  keys.search('Search runs for', (words) => go(`/runs?text=${encodeURIComponent(words)}`));
  keys.command({ title: 'Change the theme', run: pickTheme });
  keys.command({ title: 'Sign out of this browser', run: () => attempt(leave) });

  function head(change) {
    if (change.title !== undefined) { put(title, change.title); document.title = `${change.title} · Daimon`; }
    if (change.note !== undefined) put(note, change.note ?? '');
    if (change.actions !== undefined) put(actions, lacking.hidden ? change.actions ?? [] : []);
  }
  return {
    head,
    open(page, root) {
      const here = page.of ?? page.path;
      for (const { page: each, item } of items) each.path === here ? item.setAttribute('aria-current', 'page') : item.removeAttribute('aria-current');
      more.toggleAttribute('data-here', items.some(({ page: each }) => each.path === here && each.small === 'no'));
      lacking.hidden = !page.needs || rights.has(page.needs);
      head({ title: page.title, note: '', actions: [] });
      put(content, root);
      content.scrollTop = 0;
      if (document.activeElement === document.body || nav.contains(document.activeElement)) content.focus({ preventScroll: true });
    },
  };
}

// How much waits for the owner; read again when something happened, at most twice a second.
export function watchCounts() {
  let timer = 0;
  const read = inTurn(async () => {
    try { show(await get('/v1/room/counts')); } catch { /* the line says so already */ }
  });
  const later = () => { timer ||= setTimeout(() => { timer = 0; read(); }, 500); };
  for (const kind of ['change', 'turn', 'refresh']) live.on(kind, later);
  return read();
}

function show(found) {
  for (const [name, badge] of Object.entries(counts)) {
    badge.hidden = !found[name];
    put(badge, found[name] > 99 ? '99+' : String(found[name]), h('span', { class: 'unseen' }, ' waiting'));
  }
}

async function leave() {
  await post('/v1/leave');
  location.reload();
}

const saying = (state) => ({ online: 'Connected', offline: 'Not connected', connecting: 'Connecting', crowded: 'Too many tabs' })[state];

function mark() {
  return icon('M12 3c5 4 5 14 0 18|M12 3c-5 4-5 14 0 18|M4.500 9h15|M4.500 15h15');
}

function pickTheme() {
  const now = localStorage.getItem('theme') ?? '';
  const pick = (theme) => { localStorage.setItem('theme', theme); applyTheme(); };
  const choices = THEMES.map(([id, name]) => h('label', { class: 'toggle' }, h('input', { type: 'radio', name: 'theme', checked: id === now, onchange: () => pick(id) }), name));
  return dialog({ title: 'Theme', body: h('div', { class: 'stack', role: 'radiogroup', 'aria-label': 'Theme' }, choices), actions: [{ text: 'Done', kind: 'primary', autofocus: true }] });
}

export function applyTheme() {
  const theme = localStorage.getItem('theme');
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

// The session ended under the page. It stays as it is until the owner is back.
let isAsking = false;
session.addEventListener('ended', async () => {
  if (isAsking) return;
  isAsking = true;
  live.disconnect();
  document.querySelector('.notice')?.setAttribute('hidden', '');  // the gateway does answer: it says that this browser is out
  const secret = input({ placeholder: 'http://…/enter#…', 'aria-label': 'One-time link' });
  await dialog({
    title: 'Sign in again',
    body: [h('p', 'This browser is signed out. Run ', h('code', 'daimon open --print'), ' on the machine and paste the link here. What you have on this page stays.'), field('One-time link', secret)],
    actions: [{ text: 'Open the sign-in page', run: () => { location.assign('/enter'); } }, { text: 'Sign in', kind: 'primary', run: () => post('/v1/enter', { secret: secret.value.split('#').at(-1).trim() }) }],
  });
  isAsking = false;
  live.connect();
});
