// Files that came in or went out. Pictures and sounds are shown here; a page that an agent made only in a frame that may do nothing; every
// other file is a download. All come from the gateway, under their hash.

import { h, icon } from '../../js/dom.js';
import { search } from '../../js/api.js';
import { bytes } from '../../js/parts.js';
import * as icons from '../../js/icons.js';

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export const isPicture = (type) => PICTURES.has(type);
const fileUrl = (file, more = {}) => `/v1/files/${encodeURIComponent(file.blob)}${search({ as: file.media_type, name: file.name, ...more })}`;

export function files(all) {
  return all.length ? h('div', { class: 'files' }, all.map(shown)) : null;
}

function shown(file) {
  if (isPicture(file.media_type)) return h('a', { class: 'file-picture', href: fileUrl(file), target: '_blank', rel: 'noopener' }, h('img', { src: fileUrl(file), alt: file.name || 'picture', loading: 'lazy' }));
  if (file.kind === 'audio') return h('audio', { controls: true, preload: 'none', src: fileUrl(file), 'aria-label': file.name });
  return h('div', { class: 'file' }, download(file), file.media_type.split(';')[0] === 'text/html' && preview(file));
}

function download(file) {
  return h('a', { class: 'file-link', href: fileUrl(file), download: file.name || 'file' }, icon(icons.file), h('span', { class: 'cut', dir: 'auto' }, file.name || 'file'), h('span', { class: 'dim small nowrap' }, bytes(file.size)));
}

// Made when it is opened: what nobody looks at is not loaded.
function preview(file) {
  const box = h('div');
  const open = (event) => { if (event.target.open && !box.firstChild) box.append(h('iframe', { class: 'file-frame', sandbox: '', title: `Preview of ${file.name}`, src: fileUrl(file, { as: 'text/html', view: 'frame' }), referrerpolicy: 'no-referrer' })); };
  return h('details', { class: 'file-preview', ontoggle: open }, h('summary', 'Preview'), box);
}
