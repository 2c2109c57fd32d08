// Programs and connectors that others wrote, in three tabs: skills (skills/shelf.js; a name in the address opens one, skills/one.js), lessons
// (skills/lessons.js) and servers (skills/servers.js). Each part reads what there is and draws it. It is read again as things happen, and
// drawn again only where something is different: nothing that is unfolded or in focus goes for nothing.

import { h, put } from '../js/dom.js';
import { get, rights } from '../js/api.js';
import { command, shortcut } from '../js/keys.js';
import { go } from '../js/router.js';
import { button, failure, loading, tabs } from '../js/parts.js';
import { connect } from './skills/connect.js';
import { install } from './skills/install.js';
import * as lessons from './skills/lessons.js';
import * as one from './skills/one.js';
import * as server from './skills/server.js';
import * as servers from './skills/servers.js';
import * as shelf from './skills/shelf.js';

const AGAIN_MS = 30000, SOON_MS = 900;
const addressOf = (tab) => (tab ? `/skills?tab=${tab}` : '/skills');

function partOf({ params, query }) {
  if (params.name) return one;
  if (query.tab === 'servers') return query.server ? server : servers;
  return query.tab === 'lessons' ? lessons : shelf;
}

export default async function page(root, context) {
  const { params, query, signal, on, head } = context, part = partOf(context), mayChange = rights.has('admin');
  const tab = params.name ? '' : ['lessons', 'servers'].includes(query.tab) ? query.tab : '';
  const bar = h('div'), body = h('div', { class: 'stack is-wide' }, loading());
  let drawn = '', later = 0, turn = 0;
  const own = { ...context, mayChange, again: () => read(true) };

  if (part === shelf && mayChange) {
    head({ actions: [button('Install a skill', { kind: 'primary', key: 'N', onclick: () => install() })] });
    shortcut('n', 'Install a skill', () => install(), { signal });
  }
  if (part === servers && mayChange) {
    head({ actions: [button('Connect a server', { kind: 'primary', key: 'N', onclick: () => connect() })] });
    shortcut('n', 'Connect a server', () => connect(), { signal });
  }
  for (const [id, title] of [['', 'Skills'], ['lessons', 'Lessons'], ['servers', 'Servers']]) command({ title: `Skills: ${title.toLowerCase()}`, run: () => go(addressOf(id)), signal });

  function drawBar(waiting) {
    const hadFocus = bar.contains(document.activeElement);
    put(bar, tabs([{ id: '', title: 'Skills' }, { id: 'lessons', title: 'Lessons', count: waiting.lessons }, { id: 'servers', title: 'Servers', count: waiting.tools }], tab, (id) => go(addressOf(id))));
    if (hadFocus) bar.querySelector('[aria-selected="true"]')?.focus();
  }

  async function read(isMeant = false) {
    const mine = ++turn;
    try {
      const [seen, waiting] = await Promise.all([part.read(own), counted()]);
      const now = JSON.stringify([seen, waiting]);
      if (signal.aborted || mine !== turn || (now === drawn && !isMeant)) return;
      if (!isMeant && document.querySelector('dialog[open]')) return;
      drawn = now;
      drawBar(waiting);
      put(body, part.draw(seen, own));
    } catch (error) {
      if (signal.aborted || mine !== turn || (drawn && !isMeant && error.status === 0)) return;  // the line says so already
      drawn = '';
      put(body, failure(error, () => read(true)));
      if (error.name !== 'ApiError') reportError(error);
    }
  }

  const soon = () => { later ||= setTimeout(() => { later = 0; read(); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, soon);
  const again = setInterval(read, AGAIN_MS);
  signal.addEventListener('abort', () => { clearInterval(again); clearTimeout(later); }, { once: true });
  put(root, bar, body);
  drawBar({});
  await read();
}

// What waits for the owner's word.
async function counted() {
  const [open, connected] = await Promise.all([get('/v1/lessons'), get('/v1/servers')]);
  return { lessons: open.length, tools: connected.servers.reduce((sum, each) => sum + each.waiting.length, 0) };
}
