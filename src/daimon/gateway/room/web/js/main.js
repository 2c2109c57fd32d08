// Where the room begins.

import { scriptUrl } from './dom.js';
import { ApiError, get, rights } from './api.js';
import * as keys from './keys.js';
import * as live from './live.js';
import * as router from './router.js';
import { applyTheme, build, watchCounts } from './shell.js';

applyTheme();
keys.start();
try {
  const { is_fresh, rights: given, cursor } = await get('/v1/room/counts');
  for (const right of given) rights.add(right);
  const frame = build();
  live.connect(cursor);
  if (is_fresh && location.pathname === '/' && !sessionStorage.getItem('welcomed')) {
    sessionStorage.setItem('welcomed', '1');
    history.replaceState(null, '', '/welcome');
  }
  await router.start(frame);
  watchCounts();
} catch (failure) {
  if (failure instanceof ApiError && failure.status === 401) location.replace(`/enter?to=${encodeURIComponent(location.pathname + location.search)}`);
  else throw failure;
}
navigator.serviceWorker?.register(scriptUrl('/sw.js')).catch(() => { /* the room works without it */ });
