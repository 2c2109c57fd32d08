// The form of an automation, new or known. It is saved for the version that it was opened with; if another one stands by then, both are shown
// and the owner chooses (conflict.js). The form is never redrawn under somebody who types.

import { h } from '../../js/dom.js';
import { ApiError, get, post, put } from '../../js/api.js';
import { badge, button, card, field, input, select, textarea, toast } from '../../js/parts.js';
import { link } from '../../js/router.js';
import { choose } from './conflict.js';
import { preview } from './preview.js';
import { watchFields } from './watch.js';
import { address, scheduleOf, watched } from './words.js';

const CATCH_UP = [['once', 'Run once, for the latest'], ['all', 'Run each of them, in order'], ['skip', 'Run nothing']];
const OVERLAP = [['skip', 'Skip the time'], ['wait', 'Wait for it to end']];
const zones = () => h('datalist', { id: 'zones' }, (Intl.supportedValuesOf?.('timeZone') ?? []).map((value) => h('option', { value })));
const known = (names, first, current) => [['', first], ...[...new Set([...names, ...(current ? [current] : [])])].map((name) => [name, name])];

export function editor({ shown, licence = '', kept, around, signal, onsaved, onwish }) {
  const old = shown?.automation, controls = controlsOf(old, shown, licence, around);
  const { name, schedule, zone, task, channel, place, model, cost, tokens, rights, catchUp, overlap, jitter, watch } = controls;
  let version = shown?.version ?? 0, before = '';
  const named = name && field('Name', name, { hint: 'Small letters, digits and hyphens. It cannot be changed later.' });
  const when = field('When', schedule, { hint: 'In words, such as every weekday at 8, every 3 hours, tomorrow at 9; or as a cron line.' });
  const licensed = field('Licence', rights, { hint: 'What each run may do without asking you, one call a line: send_mail(to=\'bob@x.org\', text=own()). Empty: it asks.' });
  const wherePlace = field('Place there', place, { hint: 'A chat, a room, or an address: as people in it are known.' });
  const drawPlace = () => { wherePlace.hidden = !channel.value; };
  channel.addEventListener('change', drawPlace);
  drawPlace();
  offerPlaces(channel, place);
  const fault = h('p', { class: 'field-error', role: 'alert' });

  const values = () => ({ schedule: schedule.value, task: task.value, timezone: zone.value.trim(), watch: watch.read(), to: channel.value ? { channel: channel.value, to: place.value.trim() } : null, model: model.value, cost: cost.value.trim() || null, tokens: tokens.value ? Number(tokens.value) : null, catch_up: catchUp.value, overlap: overlap.value, jitter_s: Number(jitter.value || 0), is_paused: old?.is_paused ?? false });
  const typed = () => JSON.stringify([values(), rights.value, name?.value]);
  before = typed();

  async function save() {
    fault.textContent = '';
    named?.fail(id() ? '' : 'It needs a name.');
    if (!id()) return name.focus();
    try {
      const plan = rights.value.trim() ? await post('/v1/room/licence', { text: rights.value }) : null;
      licensed.fail('');
      await send({ ...values(), licence: plan }, version);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'outdated') return both();
      (error.message.includes('licence') || error.message.includes('tool(argument') ? licensed : { fail: (text) => { fault.textContent = text; } }).fail(error.message);
    }
  }

  const id = () => old?.id ?? name.value.trim();
  async function send(draft, ifVersion) {
    const sent = typed();
    const made = await put(`/v1/automations/${encodeURIComponent(id())}`, draft, { if_version: String(ifVersion) });
    version = made.version;
    before = sent;  // what was typed meanwhile is not saved yet
    toast(old ? 'Saved' : `${made.automation.id} is set up`);
    for (const each of made.warnings) toast(each, { tone: 'warn' });
    onsaved(made);
  }

  async function both() {
    const there = await get(`/v1/room/automations/${encodeURIComponent(id())}`).catch((error) => { if (error.status === 404) return null; throw error; });
    const stands = there && asRead(there.shown, there.licence), mine = { ...asRead({ automation: { ...values(), id: id(), when: {}, said: schedule.value }, schedule: schedule.value }, rights.value) };
    const chosen = await choose({ what: id(), stands, mine, isGone: !there });
    if (chosen === 'theirs') onwish(there);
    if (chosen !== 'mine') return;
    const plan = rights.value.trim() ? await post('/v1/room/licence', { text: rights.value }) : null;
    await send({ ...values(), licence: plan }, there?.shown.version ?? 0);
  }

  const { times, offers } = preview({ schedule, zone, ownZone: around.timezone, field: when, signal, kept });
  const more = h('details', { class: 'more' }, h('summary', 'Budget, licence and what happens when it is late'), h('div', { class: 'stack more-body' }, h('div', { class: 'pair' }, field('Most it may cost a day', cost, { hint: 'US dollars; empty: as for all.' }), field('Most tokens a day', tokens)), licensed, h('div', { class: 'pair' }, field('After downtime', catchUp), field('While the last run goes on', overlap)), field('Put off by up to so many seconds', jitter, { hint: 'By chance, but always by the same for the same time.' })));
  const form = h('form', { class: 'stack', novalidate: true, onsubmit: (event) => { event.preventDefault(); save(); } },
    named, when, offers, h('div', { class: 'pair' }, field('Time zone', zone, { hint: `Empty: yours, ${around.timezone}.` }), field('Model', model)), zones(),
    field('Task', task, { hint: 'What is to be done each time, in your words. An empty answer sends nothing.' }), h('div', { class: 'stack' }, watch.shown), h('div', { class: 'pair' }, field('Results go', channel), wherePlace), more, fault,
    h('div', { class: 'row' }, button(old ? 'Save' : 'Set it up', { kind: 'primary', type: 'submit' }), !old && link('/automations', 'Cancel')));
  return { element: card(old ? 'How it is set' : 'New automation', {}, form), due: card('Due next', {}, old?.is_paused && badge('paused: these are skipped', 'warn'), times), isDirty: () => typed() !== before, version: () => version, conflict: both };
}

function controlsOf(old, shown, licence, around) {
  return {
    name: old ? null : input({ maxlength: 48, placeholder: 'morning-brief', required: true }),
    schedule: input({ value: shown ? scheduleOf(shown) : '', placeholder: 'every weekday at 8' }),
    zone: input({ value: old?.timezone === around.timezone ? '' : old?.timezone ?? '', list: 'zones' }),
    task: textarea({ value: old?.task ?? '', rows: 4, dir: 'auto', spellcheck: 'true' }),
    channel: select(known(around.channels, 'To you, where you spoke last', old?.to?.channel), { value: old?.to?.channel ?? '' }),
    place: input({ value: old?.to?.to ?? '' }),
    model: select(known(around.models, 'As for all', old?.model), { value: old?.model ?? '' }),
    cost: input({ value: old?.cost ?? '', inputmode: 'decimal' }),
    tokens: input({ type: 'number', min: 1, value: old?.tokens ?? '' }),
    rights: textarea({ value: licence, rows: 3, spellcheck: 'false', class: 'input mono' }),
    catchUp: select(CATCH_UP, { value: old?.catch_up ?? 'once' }),
    overlap: select(OVERLAP, { value: old?.overlap ?? 'skip' }),
    jitter: input({ type: 'number', min: 0, value: old?.jitter_s ?? 0 }),
    watch: watchFields(old?.watch, around),
  };
}

// Chats that are known, for whoever does not know by heart what a channel calls them.
function offerPlaces(channel, place) {
  const offered = h('datalist', { id: 'places' });
  let all = null;
  place.setAttribute('list', offered.id);
  place.addEventListener('focus', async () => {
    all ??= await get('/v1/people').then(({ people }) => people.flatMap((each) => each.contacts), () => []);
    offered.replaceChildren(...all.filter((each) => each.channel === channel.value && each.place).map((each) => h('option', { value: each.place, label: each.name })));
    place.after(offered);
  });
}

// As both versions are told apart.
function asRead(shown, licence) {
  const of = shown.automation;
  return { When: scheduleOf(shown), 'Time zone': of.timezone, Task: of.task.trim(), Watches: watched(of.watch), Results: address(of.to), Model: of.model, 'Cost a day': of.cost ?? '', 'Tokens a day': of.tokens ?? '', Licence: licence.trim(), 'After downtime': of.catch_up, 'While it runs': of.overlap, 'Put off by': of.jitter_s, Paused: of.is_paused };
}
