// Chat: conversations of all channels on the left, one of them on the right. The address says which one (`?c=`); the list and the thread
// stay when another is picked. On a phone it is one of both: without `?c` the list, with it the thread.

import { put } from '../js/dom.js';
import { setQuery } from '../js/router.js';
import { iconButton } from '../js/parts.js';
import { shortcut, command } from '../js/keys.js';
import * as icons from '../js/icons.js';
import { conversationList } from './chat/list.js';
import { thread } from './chat/thread.js';
import { channelNames } from './chat/channels.js';

export const title = 'Chat';
const isSmall = () => matchMedia('(max-width: 720px)').matches;

export default async function page(root, { query, signal, on, head }) {
  root.classList.add('is-full', 'chat');
  let current = query.c ?? '';
  const list = conversationList({ on, signal, pick, search: query.q ?? '' });
  const talk = thread({ on, signal, listed: (name) => list.find(name), sent: () => list.refresh() });
  put(root, list.element, talk.element);
  on('state', () => show());

  const fresh = () => pick(`chat-${Date.now().toString(36)}`);
  shortcut('n', 'New conversation', fresh, { signal });
  shortcut('/', 'Search conversations', () => list.focus(), { signal });
  shortcut('r', 'Write a message', () => talk.focus(), { signal });
  shortcut('j', 'Next conversation', () => pick(list.beside(current, 1)), { signal });
  shortcut('k', 'Previous conversation', () => pick(list.beside(current, -1)), { signal });
  command({ title: 'New conversation', hint: 'n', run: fresh, signal });

  await list.refresh();
  if (signal.aborted) return;
  if (!current && !isSmall()) current = list.newest() ?? 'main';
  if (current) await pick(current, { push: false });
  else show();

  async function pick(name, { push = true } = {}) {
    if (!name) return;
    if (name !== current || new URLSearchParams(location.search).get('c') !== name) setQuery({ c: name }, { push: push && current !== '' || isSmall() && push });
    current = name;
    list.pick(name);
    show();
    await talk.open(name);
    show();
    if (!isSmall()) talk.focus();
  }

  function leave() {
    current = '';
    setQuery({ c: '' }, { push: true });
    list.pick('');
    show();
  }

  function show() {
    if (signal.aborted) return;
    root.classList.toggle('is-reading', Boolean(current));
    const found = list.find(current);
    const where = found && found.channel !== 'local' ? channelNames[found.channel] ?? found.channel : '';
    const named = found?.title || (current && current !== 'main' ? 'New conversation' : 'Chat');
    head({
      title: current ? named : 'Chat',
      note: [where, ...(found?.people ?? [])].filter(Boolean).join(' · '),
      actions: [current && isSmall() && iconButton(icons.back, 'All conversations', { onclick: leave }), iconButton(icons.plus, 'New conversation (n)', { onclick: fresh })].filter(Boolean),
    });
  }
  list.changed = show;
}
