// Channels: how people reach the agent, how each is, and adding one.

import { h, put } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { attempt, badge, button, card, dialog, empty, list, menu, time, toast, toggle } from '../../js/parts.js';
import { channelForm, pairing } from './channel_form.js';
import { saying, told } from './told.js';

const SOON_MS = 2000;
const TONES = { up: 'good', starting: 'info', down: 'warn', locked_out: 'bad' };

export default async function section({ again, signal }) {
  const rows = h('div'), place = h('div');
  let timer = 0;
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  // The rows alone, so that a form that is being filled in stays as it is.
  async function refresh() {
    clearTimeout(timer);
    const view = await api.get('/v1/settings/channels');
    const made = view.channels.map((row) => channelRow(row, view.forms.find((each) => each.name === row.name), refresh));
    put(rows, made.length ? list(made) : empty('No channel yet', 'This page is one already. With a channel you reach the agent from a phone, and it reaches you.'));
    if (!signal.aborted && view.channels.some((each) => each.line?.state === 'starting')) timer = setTimeout(() => attempt(refresh), SOON_MS);
    return view;
  }
  const view = await refresh();
  const addable = view.forms.filter((form) => !view.channels.some((row) => row.name === form.name));
  const choose = (form) => put(place, channelForm(form, { ondone: (added) => shownAfter(added, form, again) }));
  return [
    card('Channels', { bare: true }, rows),
    addable.length > 0 && card('Add a channel', {}, h('div', { class: 'settings-form' }, h('div', { class: 'settings-found' }, addable.map((form) => button(form.title, { onclick: () => choose(form) }))), place)),
  ];
}

async function shownAfter(added, form, again) {
  toast(`${form.title} is set up`);
  if (!added.is_paired) await dialog({ title: `Pair your chat in ${form.title}`, body: await pairing(added), actions: [{ text: 'Done', kind: 'primary', autofocus: true }] });
  await again();
}

function channelRow(row, form, again) {
  const result = saying(), at = `/v1/settings/channels/${encodeURIComponent(row.name)}`;
  const state = row.line?.state ?? 'waits for a restart';
  const check = () => result.during('Asking the service …', async () => {
    const found = await api.post(`${at}/check`);
    return told(found.warnings.length ? 'warn' : 'good', `It lets the agent in as ${found.who}.`, ...found.facts, ...found.warnings);
  });
  const pair = async () => dialog({ title: `Pair your chat in ${row.title}`, body: await pairing(), actions: [{ text: 'Done', kind: 'primary', autofocus: true }] }).then(again);
  const poke = () => attempt(async () => { await api.post(`/v1/channels/${encodeURIComponent(row.name)}/poke`); toast('It is being tried now'); }).then(again);
  const change = () => dialog({ title: `Change ${row.title}`, wide: true, body: channelForm(form, { known: row, submit: 'Check and save', ondone: () => toast(`${row.title} is changed`) }), actions: [{ text: 'Close' }] }).then(again);
  const facts = [row.queued && `${row.queued} to go out`, row.unknown && `${row.unknown} of which nobody knows whether they arrived`, ...Object.entries(row.settings).map(([key, value]) => `${key} ${value}`)];
  return h('li', h('div', { class: 'settings-row' },
    h('div', { class: 'grow stack is-tight' }, h('div', { class: 'row is-wrapping' }, h('span', { class: 'strong' }, row.title), badge(state.replace('_', ' '), TONES[state] ?? 'warn'), !row.is_paired && form && badge('not paired', 'warn'), row.line && h('span', { class: 'dim small' }, 'since ', time(row.line.since))),
      facts.some(Boolean) && h('span', { class: 'dim small', dir: 'auto' }, facts.filter(Boolean).join(' · ')),
      row.line?.why && state !== 'up' && h('span', { class: 'small', dir: 'auto' }, row.line.why), row.lacks.map((each) => h('span', { class: 'field-error' }, each))),
    form && h('div', { class: 'settings-actions' }, button('Check', { onclick: check }), state !== 'up' && button('Try now', { onclick: poke }), !row.is_paired && button('Pair', { onclick: pair }), button('Change', { 'aria-label': `Change ${row.title}`, 'aria-haspopup': 'menu', onclick: (event) => menu(event.currentTarget, [{ text: 'Settings and token', run: change }, { text: 'Remove', danger: true, run: () => remove(row, at, again) }]) }))), result);
}

async function remove(row, at, again) {
  let withSecrets = true;
  const secrets = Object.values(row.secrets).filter((each) => each.startsWith('vault:')).map((each) => each.slice(6));
  const body = [h('p', `The agent is not reached by ${row.title} any more. People and conversations stay.`), secrets.length > 0 && toggle(`Take ${secrets.join(' and ')} out of the vault too, if nothing else uses it`, { checked: true, onchange: (on) => { withSecrets = on; } })];
  await dialog({ title: `Remove ${row.title}?`, body, actions: [{ text: 'Cancel' }, { text: 'Remove', kind: 'danger', autofocus: true, run: async () => { const changed = await api.del(at, { with_secrets: withSecrets }); toast([`${row.title} is removed`, ...changed.notes].join('; ')); } }] });
  await again();
}
