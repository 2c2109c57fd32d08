// The address is the state. A page is a module that fills a root and is told, by an aborted signal, when it is left.

import { h, put } from './dom.js';
import { ApiError } from './api.js';
import { find } from './pages.js';
import * as live from './live.js';
import { failure, loading } from './parts.js';

let leaving = null, frame = null;
export let current = null;

export function start(shell) {
  frame = shell;
  addEventListener('popstate', () => show());
  document.addEventListener('click', (event) => {
    const a = event.target.closest?.('a[href]');
    const isPlain = a && event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) && !event.defaultPrevented;
    if (!isPlain || a.target || a.hasAttribute('download') || a.origin !== location.origin || !find(a.pathname)) return;
    event.preventDefault();
    go(a.pathname + a.search + a.hash);
  });
  return show();
}

export function go(path, { replace = false } = {}) {
  if (path === location.pathname + location.search + location.hash && !replace) return show();
  history[replace ? 'replaceState' : 'pushState'](null, '', path);
  return show();
}

export function link(path, ...children) {
  return h('a', { href: path }, ...children);
}

// Changes what stands after the ? without opening the page anew.
export function setQuery(values, { push = false } = {}) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || value === null || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  history[push ? 'pushState' : 'replaceState'](null, '', url);
}

async function show() {
  leaving?.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const found = find(location.pathname) ?? { page: { module: 'nowhere', title: 'Not here', path: '' }, params: {} };
  current = found.page;
  const root = h('div', { class: 'page' }, loading());
  frame.open(found.page, root);
  const query = Object.fromEntries(new URLSearchParams(location.search));
  const context = { params: found.params, query, signal, on: (kind, listener) => live.on(kind, listener, signal), head: (head) => signal.aborted || frame.head(head) };
  try {
    const [module] = await Promise.all([import(`../pages/${found.page.module}.js`), style(found.page.module)]);
    if (signal.aborted) return;
    await module.default(root, context);
  } catch (error) {
    if (signal.aborted) return;
    const isUnread = error instanceof TypeError && /import|module/i.test(error.message);
    if (isUnread && live.state !== 'online') return put(root, failure(new ApiError(0, 'offline', 'The gateway does not answer. Is it running?'), () => location.reload()));
    if (isUnread && !sessionStorage.getItem('reloaded')) {
      sessionStorage.setItem('reloaded', '1');  // a newer version is served now
      location.reload();
      return;
    }
    put(root, failure(error, show));
    if (error.name !== 'ApiError') reportError(error);
    return;
  }
  sessionStorage.removeItem('reloaded');
}

const styles = new Map();

function style(module) {
  if (!styles.has(module)) {
    styles.set(module, new Promise((done) => {
      const sheet = h('link', { rel: 'stylesheet', href: new URL(`../pages/${module}.css`, import.meta.url), onload: done, onerror: done });
      document.head.append(sheet);
    }));
  }
  return styles.get(module);
}
