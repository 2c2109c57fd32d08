// Devices: browsers, phones and programs that may come in, what each may do, and those that ask.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { attempt, badge, button, card, confirm, dialog, empty, list, time, toast, toggle } from '../../js/parts.js';

const RIGHTS = [['read', 'Look at everything'], ['chat', 'Speak with the agent, and stop it'], ['approve', 'Answer its questions, give permission'], ['admin', 'Change how it is set up']];
const BY = { client: 'a token, for a program', deputy: 'a token, for a program that speaks as you' };

export default async function section({ again }) {
  const [devices, requests, me] = await Promise.all([api.get('/v1/devices'), api.get('/v1/devices/requests'), api.get('/v1/me')]);
  const add = button('Let a new device in', { onclick: () => linking(again) });
  return [
    requests.length > 0 && card('Asking to come in', { bare: true }, list(requests.map((each) => requestRow(each, again)))),
    card('Browsers and phones', { actions: add, bare: true }, devices.length ? list(devices.map((each) => deviceRow(each, me, again))) : empty('No device is signed in')),
  ];
}

function deviceRow(device, me, again) {
  const at = `/v1/devices/${encodeURIComponent(device.id)}`, isThis = device.id === me.id;
  const end = async () => {
    const text = isThis ? 'It is this browser: you will need a new link to come back.' : 'It has to be let in again.';
    if (await confirm({ title: `Sign out ${device.name}?`, text, yes: 'Sign out', danger: true })) await attempt(() => api.del(at));
    await again();
  };
  return h('li', h('div', { class: 'settings-row' },
    h('div', { class: 'grow stack is-tight' }, h('div', { class: 'row is-wrapping' }, h('span', { class: 'strong', dir: 'auto' }, device.name || 'a device'), isThis && badge('this one', 'accent'), device.rights.map((each) => badge(each, each === 'admin' ? 'warn' : undefined))),
      h('span', { class: 'dim small' }, 'Seen ', time(device.seen_at), ' · let in ', time(device.made_at), ` by ${BY[device.by] ?? `a ${device.by}`} · until `, time(device.expires_at))),
    h('div', { class: 'settings-actions' }, button('Rights', { 'aria-label': `Rights of ${device.name}`, onclick: () => giving(`What ${device.name} may do`, new Set(device.rights), 'Save', (rights) => api.post(`${at}/rights`, { rights })).then(again) }), button('Sign out', { kind: 'danger', 'aria-label': `Sign out ${device.name}`, onclick: end }))));
}

// As the screen of the device shows it.
const shown = (code) => (code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : code);

function requestRow(request, again) {
  const at = `/v1/devices/requests/${encodeURIComponent(request.code)}`;
  return h('li', h('div', { class: 'settings-row' },
    h('div', { class: 'grow stack is-tight' }, h('div', { class: 'row is-wrapping' }, h('span', { class: 'strong mono' }, shown(request.code)), h('span', { dir: 'auto' }, request.name)), h('span', { class: 'dim small' }, `From ${request.address}, `, time(request.made_at), '. Let it in only if its screen shows this code.')),
    h('div', { class: 'settings-actions' }, button('Let in', { kind: 'primary', onclick: () => giving(`Let ${shown(request.code)} in`, new Set(['read', 'chat', 'approve']), 'Let in', (rights) => api.post(at, { rights })).then(again) }), button('Refuse', { onclick: () => attempt(() => api.del(at)).then(again) }))));
}

function giving(title, chosen, yes, run) {
  const body = h('div', { class: 'stack' }, RIGHTS.map(([id, text]) => toggle(text, { checked: chosen.has(id), onchange: (on) => (on ? chosen.add(id) : chosen.delete(id)) })));
  return dialog({ title, body, actions: [{ text: 'Cancel' }, { text: yes, kind: 'primary', run: async () => { await run([...chosen]); toast('Done'); } }] });
}

async function linking(again) {
  const chosen = new Set(['read', 'chat', 'approve']);
  const made = await giving('What the new device may do', chosen, 'Make a link', (rights) => api.post('/v1/links', { rights }).then((link) => dialog({
    title: 'One-time link',
    body: [(link.urls ?? [link.url]).map((url) => h('div', { class: ['settings-code', 'is-long'] }, url)), h('p', { class: 'dim' }, 'Open it on the other device. It works once, and not for long. Who has it comes in.')],
    actions: [{ text: 'Done', kind: 'primary', autofocus: true }],
  })));
  await again();
  return made;
}
