// Messages on their way to the gateway. Each has a key, made once: however often it is sent, it is one message. It is kept in this tab until
// the gateway says that it is on disk, and tried again when the line is back, so a reconnect neither doubles nor loses one.

import { post } from '../../js/api.js';
import * as live from '../../js/live.js';

const KEPT = 'chat.outbox', AGAIN_MS = 2000;

export function outbox({ signal, changed }) {
  const waiting = read();
  let timer = 0;
  live.on('state', (state) => state === 'online' && flush(), signal);
  signal.addEventListener('abort', () => clearTimeout(timer));
  queueMicrotask(flush);

  function send(event, show) {
    const message = { key: crypto.randomUUID(), event, show, state: 'sending', at: new Date().toISOString() };
    waiting.push(message);
    keep();
    deliver(message);
    return message;
  }

  async function deliver(message) {
    if (message.isUnderWay || message.state === 'taken') return;
    Object.assign(message, { isUnderWay: true, state: 'sending', why: '' });
    changed(message);
    try {
      await post('/v1/events', { ...message.event, key: message.key, source: 'web' });
      message.state = 'taken';
    } catch (error) {
      const mayPass = error.status === 0 || error.status === 401 || error.status >= 500;
      Object.assign(message, mayPass ? { state: 'sending', why: error.message } : { state: 'failed', why: error.message });
      if (mayPass && !signal.aborted) timer ||= setTimeout(() => { timer = 0; flush(); }, AGAIN_MS);
    } finally {
      message.isUnderWay = false;
    }
    keep();
    changed(message);
  }

  function flush() { for (const message of waiting) if (message.state === 'sending') deliver(message); }

  // The journal shows it: it need not be shown twice, also where the answer to it is still on its way.
  function seen(keys) {
    for (const message of [...waiting]) if (keys.has(message.key)) drop(message);
  }

  function drop(message) {
    const at = waiting.indexOf(message);
    if (at >= 0) waiting.splice(at, 1);
    keep();
  }

  function keep() {
    const kept = waiting.filter((each) => each.state !== 'taken').map(({ key, event, show, state, at, why }) => ({ key, event, show, state, at, why }));
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  }

  function read() { try { return JSON.parse(sessionStorage.getItem(KEPT)) ?? []; } catch { return []; } }

  return { send, retry: deliver, drop, seen, of: (conversation) => waiting.filter((each) => each.event.conversation === conversation) };
}
