// The form of a webhook. As with automations, it is saved for the version that it was opened with.

import { h } from '../../js/dom.js';
import { get, put } from '../../js/api.js';
import { button, card, field, input, select, textarea, toast } from '../../js/parts.js';
import { link } from '../../js/router.js';
import { choose } from './conflict.js';
import { address } from './words.js';

const SCHEMES = [['github', 'GitHub'], ['slack', 'Slack'], ['stripe', 'Stripe'], ['generic', 'Anything else that can sign']];
const MODES = [['wake', 'Begins a run'], ['collect', 'Is kept for an automation that watches it']];

export function hookEditor({ old, version = '0', onsaved, onwish }) {
  const name = old ? null : input({ maxlength: 50, placeholder: 'ci' });
  const scheme = select(SCHEMES, { value: old?.scheme ?? 'github' }), mode = select(MODES, { value: old?.mode ?? 'wake' });
  const task = textarea({ value: old?.task ?? '', rows: 3, dir: 'auto' });
  const filters = textarea({ value: (old?.filters ?? []).map((each) => `${each.at}=${each.is_in.join(',')}`).join('\n'), rows: 2, spellcheck: 'false', class: 'input mono' });
  const to = input({ value: address(old?.to) }), conversation = input({ value: old?.conversation ?? '' });
  const tolerance = input({ type: 'number', min: 0, value: old?.tolerance_s ?? 300 }), rate = input({ type: 'number', min: 1, value: old?.per_minute ?? 600 }), most = input({ type: 'number', min: 1, value: old?.most_bytes ?? 1048576 });
  const schema = textarea({ value: old && Object.keys(old.schema).length ? JSON.stringify(old.schema, null, 2) : '', rows: 2, spellcheck: 'false', class: 'input mono' });
  const fault = h('p', { class: 'field-error', role: 'alert' });
  const named = name && field('Name', name, { hint: 'Part of its address: small letters, digits, - _ and .' });
  const whose = field('Task', task, { hint: 'What is to be done with a delivery, in your words.' });
  const drawMode = () => { whose.hidden = mode.value === 'collect'; };
  mode.addEventListener('change', drawMode);
  drawMode();

  const id = () => old?.name ?? name.value.trim();
  function values() {
    const [channel, ...place] = to.value.trim().split(':');
    return {
      name: id(), scheme: scheme.value, secret: old?.secret ?? `hook-${id()}`, mode: mode.value, task: task.value.trim(), conversation: conversation.value.trim(), to: channel ? { channel, to: place.join(':') } : null,
      filters: filters.value.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => { const at = line.lastIndexOf('='); return { at: line.slice(0, at).trim(), is_in: line.slice(at + 1).split(',').map((each) => each.trim()) }; }),
      schema: schema.value.trim() ? JSON.parse(schema.value) : {}, most_bytes: Number(most.value), tolerance_s: Number(tolerance.value), per_minute: Number(rate.value), is_paused: old?.is_paused ?? false,
    };
  }
  const typed = () => [name, scheme, mode, task, filters, to, conversation, tolerance, rate, most, schema].map((each) => each?.value).join('\u0000');
  let before = typed(), opened = version;

  async function save(ifVersion = opened) {
    fault.textContent = '';
    named?.fail(id() ? '' : 'It needs a name.');
    if (!id()) return name.focus();
    try {
      const sent = typed();
      const made = await put(`/v1/hooks/${encodeURIComponent(id())}`, values(), { if_version: ifVersion });
      opened = made.version;
      before = sent;  // what was typed meanwhile is not saved yet
      toast(old ? 'Saved' : `${made.hook.name} is made`);
      onsaved(made);
    } catch (error) {
      if (error.code === 'outdated') return both();
      fault.textContent = error instanceof SyntaxError ? `The schema is no JSON: ${error.message}` : error.message;
    }
  }

  async function both() {
    const there = await get(`/v1/room/hooks/${encodeURIComponent(id())}`).catch((error) => { if (error.status === 404) return null; throw error; });
    const chosen = await choose({ what: id(), stands: there && asRead(there.hooked.hook), mine: asRead(values()), isGone: !there });
    if (chosen === 'theirs') onwish(there);
    if (chosen === 'mine') await save(there?.version ?? '0');
  }

  const more = h('details', { class: 'more' }, h('summary', 'Limits, schema and conversation'), h('div', { class: 'stack more-body' }, h('div', { class: 'pair' }, field('Age of a timestamp, in seconds', tolerance, { hint: '0, for anything else: only the body is signed, and each body is taken once.' }), field('Deliveries a minute', rate), field('Bytes of one', most)), field('Conversation', conversation, { hint: 'Empty: hooks/ and its name.' }), field('JSON Schema of the body', schema, { hint: 'What does not fit is refused. Empty: any JSON.' })));
  const form = h('form', { class: 'stack', novalidate: true, onsubmit: (event) => { event.preventDefault(); save(); } },
    named, h('div', { class: 'pair' }, field('Signed as', scheme), field('A delivery', mode)), whose,
    field('Only deliveries with', filters, { hint: 'One a line: /action=opened,reopened or header:X-GitHub-Event=push. All must agree.' }), field('Answers go to', to, { hint: 'CHANNEL:PLACE; empty: to you, where you spoke last.' }), more, fault,
    h('div', { class: 'row' }, button(old ? 'Save' : 'Make it', { kind: 'primary', type: 'submit' }), !old && link('/automations?tab=hooks', 'Cancel')));
  return { element: card(old ? 'How it is set' : 'New webhook', {}, form), isDirty: () => typed() !== before, version: () => opened, conflict: both };
}

const asRead = (hook) => ({ 'Signed as': hook.scheme, 'A delivery': hook.mode, Task: hook.task, Only: hook.filters.map((each) => `${each.at}=${each.is_in.join(',')}`).join('\n'), 'Answers go to': address(hook.to), Conversation: hook.conversation, 'Age of a timestamp': hook.tolerance_s, 'A minute': hook.per_minute, Bytes: hook.most_bytes, Schema: JSON.stringify(hook.schema), Paused: hook.is_paused });
