// Where the owner writes. Enter sends, Shift+Enter begins a line. Files are uploaded when they are picked, pasted or dropped; what is written
// and attached is kept for each conversation in this tab until it is sent. While a turn runs, what is sent is taken in by it.

import { h, icon, put } from '../../js/dom.js';
import { rights, upload } from '../../js/api.js';
import { bytes, iconButton, toast, toggle } from '../../js/parts.js';
import * as icons from '../../js/icons.js';
import { channelName } from './channels.js';
import { isPicture } from './files.js';
import { arrange } from './turn.js';

const MOST_FILES = 10, TALLEST_PX = 240;

export function composer({ send, stop }) {
  let name = '', about = null, isRunning = false, attached = [], onChannel = false, place = {};
  const box = h('textarea', { class: 'write-text', rows: 1, 'aria-label': 'Message', dir: 'auto', oninput: () => { fit(); keep(); }, onkeydown: press, onpaste: paste });
  const previews = h('ul', { class: 'write-files', role: 'list', 'aria-label': 'Files to send' });
  const picker = h('input', { type: 'file', multiple: true, hidden: true, onchange: () => { add(picker.files); picker.value = ''; } });
  const note = h('div', { class: 'write-note small dim', role: 'status' });
  const working = h('span', 'It is working. What you send now is taken in at its next step, or answered right after.');
  const stopping = iconButton(icons.stop, 'Stop (Ctrl .)', { kind: 'danger', hidden: true, onclick: () => stop() });
  const sending = h('button', { class: 'button is-primary is-icon', type: 'submit', 'aria-label': 'Send', title: 'Send (Enter)' }, icon(icons.send));
  const element = h('form', { class: 'write', hidden: true, onsubmit: (event) => { event.preventDefault(); go(); }, ondragover: (event) => { event.preventDefault(); element.classList.add('is-over'); }, ondragleave: () => element.classList.remove('is-over'), ondrop: drop },
    note, h('div', { class: 'write-box' }, previews, box, h('div', { class: 'write-acts' }, iconButton(icons.clip, 'Attach files', { onclick: () => picker.click() }), picker, h('span', { class: 'grow' }), stopping, sending)));

  function open(next, listed) {
    name = next;
    element.hidden = !rights.has('chat');  // before there is a conversation, there is nowhere to write to
    about = listed;
    onChannel = false;
    place = {};
    const draft = read();
    box.value = draft.text ?? '';
    attached = draft.files ?? [];
    drawFiles();
    fit();
    tell();
  }

  function running(now, listed) {
    about = listed ?? about;
    isRunning = now;
    stopping.hidden = !now;
    box.placeholder = now ? 'Say something into what it is doing …' : 'Write a message …';
    sending.title = now ? 'Send into the running turn (Enter)' : 'Send (Enter)';
    tell();
  }

  // What will happen to what is written here, where that is not plain. It is told again with every step of a turn: what stays the same is
  // not touched, or a tick that is being set would be lost.
  function tell() {
    const channel = about?.channel ?? 'local', who = about?.people.join(', '), isOwn = Boolean(about?.is_own);
    const key = [channel, who, isOwn].join('\n');
    if (place.key !== key) place = { key, told: toldOf(channel, who, isOwn) };
    const said = [isRunning && working, place.told].filter(Boolean);
    arrange(note, said);
    note.hidden = !said.length;
  }

  function toldOf(channel, who, isOwn) {
    if (channel === 'local') return null;
    if (channel === 'automation' || channel === 'hook') return h('span', 'The answer is shown here; nobody else gets it.');
    if (isOwn && rights.has('approve')) return toggle(`Send the answer to ${channelName(channel)} too`, { checked: onChannel, onchange: (on) => { onChannel = on; } });
    return h('span', { dir: 'auto' }, `Only you see what you write here and the answer to it. Nothing is sent to ${who || 'them'} on ${channelName(channel)}.`);
  }

  function go() {
    const text = box.value.trim();
    if (!text && !attached.length) return;
    if (attached.some((each) => each.isUploading)) return toast('A file is still being uploaded', { tone: 'warn' });
    const kept = attached.filter((each) => each.blob);
    const [channel, to] = [about?.channel, name.slice(name.indexOf('/') + 1)];
    send({ text, files: kept.map(({ blob, name: called, media_type, size }) => ({ kind: isPicture(media_type) ? 'image' : 'file', blob, name: called, media_type, size })), steer: isRunning, reply_to: onChannel ? { channel, to } : undefined });
    box.value = '';
    attached = [];
    keep();
    drawFiles();
    fit();
    box.focus();
  }

  function press(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) { event.preventDefault(); go(); }
    else if (event.key === '.' && (event.ctrlKey || event.metaKey) && isRunning) { event.preventDefault(); stop(); }
    else if (event.key === 'Escape') box.blur();
  }

  function paste(event) { if (event.clipboardData?.files.length) { event.preventDefault(); add(event.clipboardData.files); } }

  function drop(event) { event.preventDefault(); element.classList.remove('is-over'); add(event.dataTransfer?.files ?? []); }

  function add(files) {
    for (const file of files) {
      if (attached.length >= MOST_FILES) return toast(`At most ${MOST_FILES} files with one message`, { tone: 'warn' });
      bring(file, { name: file.name || 'pasted', media_type: file.type || 'application/octet-stream', size: file.size, isUploading: true, url: isPicture(file.type) ? URL.createObjectURL(file) : '' });
    }
  }

  async function bring(file, each) {
    attached.push(each);
    drawFiles();
    try { each.blob = (await upload(file)).blob; } catch (error) { each.why = error.message; }
    each.isUploading = false;
    keep();
    drawFiles();
  }

  function drawFiles() {
    previews.hidden = !attached.length;
    put(previews, attached.map((each) => h('li', { class: ['write-file', each.why && 'is-bad'] },
      each.url ? h('img', { src: each.url, alt: '' }) : icon(icons.file),
      h('span', { class: 'cut', dir: 'auto' }, each.name), h('span', { class: 'dim small nowrap' }, each.why ? each.why : each.isUploading ? 'Uploading' : bytes(each.size)),
      iconButton(icons.close, `Remove ${each.name}`, { onclick: () => { attached = attached.filter((one) => one !== each); if (each.url) URL.revokeObjectURL(each.url); keep(); drawFiles(); } }))));
  }

  function fit() { box.style.setProperty('height', 'auto'); box.style.setProperty('height', `${Math.min(box.scrollHeight, TALLEST_PX)}px`); }

  function keep() {
    const files = attached.filter((each) => each.blob).map(({ blob, name: called, media_type, size }) => ({ blob, name: called, media_type, size }));
    if (box.value || files.length) sessionStorage.setItem(`chat.draft.${name}`, JSON.stringify({ text: box.value, files }));
    else sessionStorage.removeItem(`chat.draft.${name}`);
  }

  function read() { try { return JSON.parse(sessionStorage.getItem(`chat.draft.${name}`)) ?? {}; } catch { return {}; } }

  function suggest(text) { box.value = text; keep(); go(); }

  return { element, open, running, suggest, focus: () => box.focus({ preventScroll: true }) };
}
