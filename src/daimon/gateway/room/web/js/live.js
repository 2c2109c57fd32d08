// One WebSocket for the tab: what changed, in order, and what is under way. It comes back by itself with the cursor of the last change that
// it saw, so nothing is missed and nothing comes twice; the first time with the one that was there before any page was read. Whoever was
// away too long is told to read everything again (`refresh`).

import { get } from './api.js';

const FIRST_MS = 250, MOST_MS = 8000, ASK_MS = 20000, ANSWER_MS = 10000, CROWDED = 4429;
const listeners = new Map();
let socket = null, cursor = null, wasReady = false, pause = FIRST_MS, retry = 0, asking = 0, waiting = 0, counter = 0;
export let state = 'connecting';

export function on(kind, listener, signal) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
  const off = () => listeners.get(kind).delete(listener);
  signal?.addEventListener('abort', off, { once: true });
  return off;
}

function tell(kind, value) {
  for (const listener of [...(listeners.get(kind) ?? [])]) {
    try { listener(value); } catch (failure) { reportError(failure); }
  }
}

function become(next) {
  if (state === next) return;
  state = next;
  tell('state', state);
}

export function connect(from) {
  clearTimeout(retry);
  cursor ??= from ?? null;
  if (socket) return;
  become('connecting');
  const opened = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/socket`);
  socket = opened;
  opened.onopen = () => opened.send(JSON.stringify({ kind: 'begin', brief: true, ...(cursor === null ? {} : { after: cursor }) }));
  opened.onmessage = ({ data }) => heard(JSON.parse(data));
  opened.onclose = ({ code }) => { if (socket === opened) lost(code === CROWDED ? 'crowded' : 'offline'); };
}

export function disconnect() {
  const old = socket;
  socket = null;
  clearInterval(asking);
  clearTimeout(retry);
  old?.close();
  become('offline');
}

function heard(frame) {
  switch (frame.kind) {
    case 'ready': return ready(frame);
    case 'change': cursor = frame.cursor; return tell('change', frame);
    case 'live': return frame.update.kind === 'gap' ? tell('refresh') : tell(frame.update.kind, frame.update);
    case 'pong': return clearTimeout(waiting);
    case 'error': cursor = null; return tell('refresh');  // the place where we were is not there any more
  }
}

function ready(frame) {
  const wasAway = wasReady;
  wasReady = true;
  cursor = frame.cursor;
  pause = FIRST_MS;
  become('online');
  clearInterval(asking);
  asking = setInterval(ask, ASK_MS);
  if (frame.skipped || wasAway) tell('refresh');
}

// A line that died without a word (a laptop that slept) is found out by asking.
function ask() {
  const asked = socket;
  asked?.send(JSON.stringify({ kind: 'ping', re: ++counter }));
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (socket === asked) { asked?.close(); lost('offline'); } }, ANSWER_MS);
}

function lost(why) {
  socket = null;
  clearInterval(asking);
  clearTimeout(waiting);
  become(why);
  retry = setTimeout(again, pause * (0.75 + Math.random() / 2));
  pause = Math.min(pause * 2, MOST_MS);
}

async function again() {
  try {
    await get('/v1/room/counts');  // says so where the session has ended, which a WebSocket cannot
  } catch (failure) {
    if (failure.status === 401) return;
  }
  connect();
}

addEventListener('online', () => { pause = FIRST_MS; connect(); });
document.addEventListener('visibilitychange', () => { if (!document.hidden && !socket) { pause = FIRST_MS; connect(); } });
