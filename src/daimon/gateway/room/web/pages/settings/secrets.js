// Secrets: names, where each may go, who may use it. Values go in and are never shown again, here or anywhere.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { attempt, badge, button, card, confirm, dialog, empty, field, input, list, menu, textarea, time, toast } from '../../js/parts.js';
import { told } from './told.js';

const SOURCES = { file: 'a file of the home', passphrase: 'your head', keyring: 'the keyring of your session', systemd: 'a credential of systemd' };
const split = (text) => text.split(/[\s,]+/).filter(Boolean);

export default async function section({ again }) {
  const view = await api.get('/v1/settings/secrets');
  if (view.locked) return card('Secrets', {}, told('bad', 'The vault is locked.', view.locked));
  const add = button('Add a secret', { kind: 'primary', onclick: () => adding(again) });
  const rows = view.secrets.map((each) => secretRow(each, again));
  return card('Secrets', { actions: add, note: `The key of the vault is in ${SOURCES[view.source] ?? view.source}.`, bare: true }, rows.length ? list(rows) : empty('No secret yet', 'Keys of models and channels come here by themselves. Add one for tools that agents run.'));
}

function secretRow(secret, again) {
  const at = `/v1/settings/secrets/${encodeURIComponent(secret.name)}`;
  const users = [...secret.models.map((each) => `model ${each}`), ...secret.channels.map((each) => `channel ${each}`), ...secret.agents.map((each) => (each === '*' ? 'boxes of every agent' : `boxes of ${each}`))];
  const uses = secret.uses.map((use) => h('li', { class: 'small dim' }, `${use.by}${use.host ? ` to ${use.host}` : ''}, ${use.count} times, last `, time(use.last)));
  return h('li', h('div', { class: 'settings-row' },
    h('div', { class: 'grow stack is-tight' },
      h('div', { class: 'row is-wrapping' }, h('span', { class: 'strong' }, secret.name), secret.service && h('span', { class: 'dim', dir: 'auto' }, secret.service), !users.length && badge('nobody uses it')),
      h('span', { class: 'dim small' }, secret.hosts.length ? `May go to ${secret.hosts.join(', ')}` : 'May go nowhere', users.length > 0 && ` · for ${users.join(', ')}`, secret.agents.length > 0 && ` as ${secret.variable}`, ' · value of ', time(secret.rotated_at ?? secret.created_at)),
      uses.length > 0 && h('details', h('summary', { class: 'small dim' }, 'Who used it'), h('ul', { role: 'list' }, uses))),
    button('Change', { 'aria-label': `Change ${secret.name}`, 'aria-haspopup': 'menu', onclick: (event) => menu(event.currentTarget, [{ text: 'New value', run: () => replacing(secret, at, again) }, { text: 'Who may use it', run: () => reaching(secret, at, again) }, { text: 'Remove', danger: true, run: () => remove(secret, users, at, again) }]) })));
}

const valueBox = () => textarea({ rows: 2, autocomplete: 'off', spellcheck: 'false', 'aria-label': 'Value', placeholder: 'Paste it here; it is not shown again' });

function reach(secret = {}) {
  const service = input({ value: secret.service ?? '' }), hosts = input({ value: (secret.hosts ?? []).join(', '), placeholder: 'api.example.org, *.example.org' });
  const agents = input({ value: (secret.agents ?? []).join(', '), placeholder: 'daimon' }), variable = input({ value: secret.variable ?? '', placeholder: 'Made from the name' });
  const fields = [field('What it is for', service), field('May go to', hosts, { hint: 'Hosts, and nowhere else. Left out: nowhere.' }), field('Agents whose boxes may use it', agents, { hint: 'They hold a stand-in; the value goes only to the hosts above. * for all.' }), field('Variable in boxes', variable)];
  return { fields, value: () => ({ service: service.value.trim(), hosts: split(hosts.value), agents: split(agents.value), variable: variable.value.trim() }) };
}

async function adding(again) {
  const name = input(), value = valueBox(), scope = reach();
  const run = async () => { await api.post('/v1/settings/secrets', { name: name.value.trim(), value: value.value, ...scope.value() }); value.value = ''; toast(`${name.value.trim()} is in the vault`); };
  await dialog({ title: 'Add a secret', body: h('div', { class: 'settings-form' }, field('Name', name, { hint: 'Letters, digits, - _ and .' }), field('Value', value), scope.fields), actions: [{ text: 'Cancel' }, { text: 'Add', kind: 'primary', run }] });
  value.value = '';
  await again();
}

async function replacing(secret, at, again) {
  const value = valueBox();
  const run = async () => { await api.post(`${at}/value`, { value: value.value }); value.value = ''; toast(`${secret.name} has a new value`); };
  await dialog({ title: `New value of ${secret.name}`, body: [field('Value', value), h('p', { class: 'dim small' }, 'It counts from the next use on. The old one is still kept out of texts.')], actions: [{ text: 'Cancel' }, { text: 'Replace', kind: 'primary', run }] });
  value.value = '';
  await again();
}

async function reaching(secret, at, again) {
  const scope = reach(secret);
  await dialog({ title: `Who may use ${secret.name}`, body: h('div', { class: 'settings-form' }, scope.fields), actions: [{ text: 'Cancel' }, { text: 'Save', kind: 'primary', run: async () => { await api.put(`${at}/reach`, scope.value()); toast('Changed'); } }] });
  await again();
}

async function remove(secret, users, at, again) {
  const text = users.length ? `${users.join(', ')} will be without it.` : 'Nobody uses it.';
  if (await confirm({ title: `Remove ${secret.name} for good?`, text, yes: 'Remove', danger: true })) await attempt(async () => { await api.del(at); toast(`${secret.name} is removed`); });
  await again();
}
