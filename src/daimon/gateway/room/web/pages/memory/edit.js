// What is changed by hand. Nothing is written over: other words take the place of the old ones, which become history, and each deed can be
// taken back from its toast without touching what else was kept meanwhile.

import { h } from '../../js/dom.js';
import { del, post, put } from '../../js/api.js';
import { attempt, chip, dialog, field, input, textarea, toast, toggle } from '../../js/parts.js';

const room = '/v1/room/memory';
const MOST = 4000;
const at = (base, id) => `${base}/${encodeURIComponent(id)}`;

async function done(context, text, item, undo) {
  await context.open({ item: item?.id ?? '' });
  await context.refresh();
  toast(text, { undo: undo && (async () => { const back = await undo(); await context.open({ item: back?.id ?? context.state.item }); await context.refresh(); toast('Taken back'); }) });
}

export function add(context, onPage = context.state.tab === 'notebook') {
  const text = textarea({ dir: 'auto', maxlength: MOST, spellcheck: 'true' }), stands = toggle('Put it into the notebook: it stands in every prompt', { checked: onPage });
  return attempt(async () => {
    const made = await dialog({ title: 'Add a note', body: h('div', { class: 'stack' }, field('Note', text), stands), onopen: () => text.focus(), actions: [{ text: 'Cancel' }, { text: 'Keep it', kind: 'primary', run: () => post('/v1/memory/items', { text: text.value, on_page: stands.querySelector('input').checked }) }] });
    if (made) await done(context, 'Kept', made, async () => { await del(at('/v1/memory/items', made.id)); return { id: '' }; });
  });
}

export function learn(context, subject = context.state.thing) {
  const who = input({ dir: 'auto', value: subject, maxlength: 200, placeholder: 'owner, Anna, the garden' }), about = input({ dir: 'auto', maxlength: 200, placeholder: 'home, birthday' }), text = textarea({ dir: 'auto', maxlength: MOST, spellcheck: 'true' });
  const body = h('div', { class: 'stack' }, field('About whom or what', who), field('Which thing of it', about, { hint: 'If you say so, this takes the place of what held of it.' }), field('Fact', text));
  return attempt(async () => {
    const made = await dialog({ title: 'Learn a fact', body, onopen: () => (subject ? about : who).focus(), actions: [{ text: 'Cancel' }, { text: 'Learn it', kind: 'primary', run: () => post('/v1/memory/facts', { subject: who.value, statement: text.value, about: about.value }) }] });
    if (made) await done(context, 'Learnt', made, async () => { await del(at('/v1/memory/items', made.id)); return { id: '' }; });
  });
}

export function edit(context, item) {
  const text = textarea({ dir: 'auto', maxlength: MOST, spellcheck: 'true', rows: 6 });
  text.value = item.text;
  const body = h('div', { class: 'stack' }, field(item.kind === 'fact' ? 'Fact' : 'Note', text, { hint: 'What there was becomes history. The new words count as yours.' }), h('div', { class: 'row small dim' }, 'Until now: ', chip(item.label)));
  return attempt(async () => {
    const made = await dialog({ title: `Edit the ${item.kind}`, wide: true, body, onopen: () => text.focus(), actions: [{ text: 'Cancel' }, { text: 'Replace it', kind: 'primary', run: () => put(at(`${room}/items`, item.id), { text: text.value }) }] });
    if (made) await done(context, 'Replaced', made, () => put(at(`${room}/items`, made.id), { text: item.text }));
  });
}

export function forget(context, item) {
  return attempt(async () => {
    await del(at('/v1/memory/items', item.id));
    await done(context, 'Forgotten', item, () => bring(item));
  });
}

export function bringBack(context, item) {
  return attempt(async () => {
    const made = await bring(item);
    await done(context, 'It holds again', made, () => del(at('/v1/memory/items', made.id)));
  });
}

const bring = (item) => post(at(`${room}/back`, item.id));

export function onPage(context, item) {
  return attempt(async () => {
    const made = await put(at(`${room}/items`, item.id), { text: item.text, on_page: true });
    await done(context, 'It stands in the notebook', made, () => del(at('/v1/memory/page', made.id)));
  });
}

export function takeOff(context, item) {
  return attempt(async () => {
    const made = await del(at('/v1/memory/page', item.id));
    await done(context, 'Off the notebook; it goes on as a note', context.state.item ? made : null, () => put(at(`${room}/items`, made.id), { text: made.text, on_page: true }));
  });
}
