// Lets the room be installed, and says something useful where the gateway does not answer. It keeps nothing of the owner's.

const OFFLINE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><meta name="viewport" content="width=device-width"><title>Daimon</title>
<body><h1>The gateway does not answer</h1><p>Start it with <code>daimon up</code>, or look at <code>daimon service status</code>. This page opens by itself when it is back.</p></body></html>`;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  event.respondWith(fetch(event.request).catch(() => new Response(OFFLINE, { headers: { 'content-type': 'text/html' } })));
});
