// The API of the gateway. What fails is an ApiError with the server's own words. Whoever is signed out is asked to sign in, and the page
// stays as it is: nothing that was typed is lost.

import { released } from './press.js';

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { name: 'ApiError', status, code });
  }
}

export const session = new EventTarget();

// What this device may do: read, chat, approve, admin.
export const rights = new Set();

export const get = (path, query) => call('GET', path, { query });
export const post = (path, body = {}, query) => call('POST', path, { body, query });
export const put = (path, body = {}, query) => call('PUT', path, { body, query });
export const del = (path, query) => call('DELETE', path, { query });

export function upload(file) {
  return send('POST', '/v1/blobs', file, 'application/octet-stream');
}

function call(method, path, { query, body }) {
  const asked = query ? search(query) : '';
  return send(method, path + asked, body === undefined ? undefined : JSON.stringify(body), 'application/json');
}

export function search(query) {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== '') asked.append(name, each);
    }
  }
  return asked.size ? `?${asked}` : '';
}

// A read that nobody answers ends: others wait for it. One that was cut off in the middle was not answered either.
const READ_MS = 120000;

async function send(method, url, body, type) {
  const headers = { 'X-Daimon': '1', ...(body === undefined ? {} : { 'Content-Type': type }) };
  const signal = method === 'GET' ? AbortSignal.timeout(READ_MS) : undefined;
  let response, answer;
  try {
    response = await fetch(url, { method, headers, body, signal, credentials: 'same-origin', cache: 'no-store' });
    answer = response.headers.get('content-type')?.includes('json') ? await response.json() : await response.text();
  } catch {
    throw new ApiError(0, 'offline', 'The gateway does not answer. Is it running?');
  }
  await released();
  if (response.ok) return answer;
  const { code = 'failed', message = `The gateway answered ${response.status}.` } = answer?.error ?? {};
  if (response.status === 401) session.dispatchEvent(new Event('ended'));
  throw new ApiError(response.status, code, message);
}
