// One conversation: turns page by page, the newest below. Older ones are read as one scrolls up and the place where one reads stays; at the
// end the view follows what comes. A turn is read again when something happened in it. Turns that are off the screen are not laid out
// (content-visibility), and the oldest are let go when there are many and one is at the end.

import { h, put } from '../../js/dom.js';
import { get, post } from '../../js/api.js';
import { shortcut } from '../../js/keys.js';
import { attempt, button, failure, loading } from '../../js/parts.js';
import { composer } from './composer.js';
import { outbox } from './outbox.js';
import { streams } from './streams.js';
import { arrange, came, turnElement } from './turn.js';
import { onItsWay } from './pending.js';
import { welcome } from './welcome.js';

const PAGE = 30, NEAR_PX = 1200, AT_END_PX = 80, MOST_KEPT = 240, LEAST_KEPT = 90;

export function thread({ on, signal, listed, sent }) {
  let name = '', turns = new Map(), next = '', waiting = [], isAtEnd = true, isOlder = false, isLoaded = false, isMissed = false, opened = 0;
  const busy = new Map();
  const flow = streams({ drawn: (each, isNew) => { if (isNew) turns.get(each.turn)?.flow(); } });
  const mail = outbox({ signal, changed: (message) => { drawEnd(); if (message.state === 'taken') { sent(); head(); } } });
  const write = composer({ send, stop });
  const said = h('div', { class: 'unseen', role: 'status' });
  const older = h('div', { class: 'thread-older' });
  const column = h('div', { class: 'thread-turns' }), end = h('div', { class: 'thread-end' });
  const inner = h('div', { class: 'thread-inner' }, older, column, end);
  const scroller = h('section', { class: 'thread-scroll', tabindex: '0', 'aria-label': 'Conversation', onscroll: scrolled }, inner);
  const jump = button('Newest', { class: 'button thread-jump', onclick: () => { isAtEnd = true; stick(); } });
  const element = h('div', { class: 'thread' }, scroller, h('div', { class: 'thread-over' }, jump), write.element, said);
  jump.hidden = true;
  const sizes = new ResizeObserver(stick);
  sizes.observe(inner);
  sizes.observe(scroller);
  signal.addEventListener('abort', () => sizes.disconnect());
  shortcut('mod+.', 'Stop what runs', stop, { signal });

  on('change', (news) => { if (news.conversation === name) news.turn ? again(news.turn) : head(); });
  on('turn', (news) => { if (news.conversation.name === name) again(news.turn); });
  on('spoken', (news) => { if (news.conversation.name === name) again(news.key.split(':')[0]); });
  on('token', (news) => { if (news.conversation.name === name) flow.token(news); });
  on('printed', (news) => { if (news.conversation.name === name) flow.print(news); });
  on('refresh', () => { flow.forget(); head(PAGE); });

  async function open(chosen) {
    const mine = ++opened;
    name = chosen;
    turns = new Map();
    waiting = [];
    isLoaded = isMissed = false;
    write.open(name, listed(name));
    write.running(false, listed(name));
    put(column, loading());
    put(older);
    drawEnd();
    try {
      const page = await get('/v1/conversations/entries', { name, limit: PAGE });
      if (mine !== opened || signal.aborted) return;
      isLoaded = isAtEnd = true;
      put(column);
      take(page);
      next = page.next;
      stick();
      scrolled();
      if (isMissed) head(PAGE);
    } catch (error) {
      if (mine === opened) put(column, failure(error, () => open(chosen)));
    }
  }

  // The newest turns and what waits for one. If more came than were asked for, the rest between is read too.
  const head = once('head', async (limit = 5) => {
    if (isUnread()) return;
    const asked = name, page = await get('/v1/conversations/entries', { name, limit });
    if (asked !== name) return;
    const isGap = turns.size > 0 && page.turns.length > 0 && !page.turns.some((view) => turns.has(view.id)) && page.next;
    if (isGap) { await open(name); return; }
    take(page);
    if (!next && turns.size <= page.turns.length) next = page.next;
  });

  const again = (id) => once(id, async () => {
    if (isUnread()) return;
    const asked = name, view = await get('/v1/conversations/turn', { id });
    if (asked !== name || view.conversation !== name) return;
    take({ turns: [view], waiting });
  })();

  // What happens while the first turns are being read may be missing in them: then they are read once more.
  function isUnread() {
    if (!isLoaded) isMissed = true;
    return !isLoaded;
  }

  // Runs one at a time; what is asked meanwhile runs once more afterwards.
  function once(key, run) {
    return async (...args) => {
      if (busy.has(key)) { busy.set(key, args); return; }
      busy.set(key, null);
      try { await run(...args); } catch (error) { if (error.name !== 'ApiError') reportError(error); } finally {
        const more = busy.get(key);
        busy.delete(key);
        if (more && !signal.aborted) queueMicrotask(() => once(key, run)(...more));
      }
    };
  }

  function take(page) {
    waiting = page.waiting;
    for (const view of page.turns) {
      if (!turns.has(view.id)) turns.set(view.id, turnElement({ streams: flow, retry }));
      const turn = turns.get(view.id), before = turn.view;
      turn.draw(view);
      if (before && !before.ended_at && view.ended_at) announce(view);
    }
    mail.seen(new Set([...page.turns.flatMap(taken), ...waiting].map((each) => each.key)));
    trim();
    arrange(column, ordered().map(([, turn]) => turn.element));
    drawEnd();
    write.running(Boolean(runs()), listed(name));
    stick();
  }

  // What came in and has a turn.
  const taken = (view) => [view.came, ...view.items.filter((each) => each.kind === 'heard').map((each) => each.came)];
  const ordered = () => [...turns].sort(([a], [b]) => (a < b ? -1 : 1));
  const runs = () => ordered().reverse().find(([, turn]) => turn.view.state === 'running')?.[1].view;

  function drawEnd() {
    const here = mail.of(name);
    const shown = new Set(ordered().flatMap(([, turn]) => taken(turn.view)).map((each) => each.event));
    arrange(end, [...waiting.filter((each) => !shown.has(each.event)).map((each) => h('div', { class: 'turn is-waiting' }, came(each, true), h('p', { class: 'small dim end' }, 'Waits for its turn'))), ...here.map((message) => onItsWay(message, mail, drawEnd))]);
    if (isLoaded && !turns.size && !waiting.length && !here.length) put(end, welcome((text) => write.suggest(text)));
    stick();
  }

  function trim() {
    if (!isAtEnd || turns.size <= MOST_KEPT) return;
    for (const [id] of ordered().slice(0, turns.size - LEAST_KEPT)) turns.delete(id);
    next = ordered()[0][0];
  }

  async function readOlder() {
    if (!next || isOlder || !isLoaded) return;
    isOlder = true;
    const asked = name;
    put(older, h('p', { class: 'dim small', role: 'status' }, 'Reading what came before'));
    try {
      const page = await get('/v1/conversations/entries', { name, limit: PAGE, before: next });
      if (asked !== name) return;
      const first = column.firstElementChild, before = first?.getBoundingClientRect().top ?? 0;
      next = page.next;
      isAtEnd = false;
      take({ turns: page.turns, waiting });
      put(older);
      if (first) scroller.scrollTop += first.getBoundingClientRect().top - before;
    } catch (error) {
      put(older, failure(error, readOlder));
    } finally {
      isOlder = false;
    }
    requestAnimationFrame(scrolled);
  }

  function scrolled() {
    isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_END_PX;
    jump.hidden = isAtEnd;
    if (scroller.scrollTop < NEAR_PX) readOlder();
  }

  function stick() { if (isAtEnd) scroller.scrollTop = scroller.scrollHeight; }

  function send({ text, files, steer, reply_to }) {
    const parts = files.map(({ kind, blob, name: called, media_type, size }) => (kind === 'image' ? { kind, blob, media_type, description: called } : { kind, blob, name: called, media_type, size }));
    mail.send({ type: 'message', text, parts, conversation: name, ...(steer ? { steer } : {}), ...(reply_to ? { reply_to } : {}) }, { text, files });
    isAtEnd = true;
    drawEnd();
  }

  function retry(view) {
    send({ text: view.came.words.text, files: view.came.files.filter((each) => each.kind !== 'audio').map((each) => ({ ...each, size: each.size ?? 0 })), steer: false });
  }

  function stop() {
    const running = runs();
    return running ? attempt(() => post(`/v1/turns/${running.id}/stop`)) : undefined;
  }

  function announce(view) {
    const last = view.items.filter((each) => each.kind === 'reply' && each.text).at(-1);
    put(said, last ? `Answered: ${last.text.slice(0, 300)}` : 'Done.');
  }

  return { element, open, focus: write.focus };
}
