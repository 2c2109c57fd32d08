// A message that the journal does not show yet: on its way, or refused.

import { h } from '../../js/dom.js';
import { button } from '../../js/parts.js';
import { files } from './files.js';

export function onItsWay(message, mail, changed) {
  const { text, files: attached } = message.show;
  const state = message.state === 'failed' ? [h('span', { class: 'bad' }, `Not sent: ${message.why} `), button('Try again', { kind: 'quiet', onclick: () => mail.retry(message) }), button('Discard', { kind: 'quiet', onclick: () => { mail.drop(message); changed(); } })] : message.state === 'taken' ? 'Sent' : message.why ? 'Not sent yet; it goes out when the gateway answers' : 'Sending';
  return h('div', { class: 'turn is-pending', data: { state: message.state } }, h('div', { class: 'came is-mine' }, h('div', { class: 'bubble' }, text && h('div', { class: 'is-raw', dir: 'auto' }, text), files(attached)), h('div', { class: 'came-note small dim', role: 'status' }, state)));
}
