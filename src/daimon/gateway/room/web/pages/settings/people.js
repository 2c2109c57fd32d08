// People: who is known, what they may do, who knocked, and codes that pair a chat.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { attempt, button, card, confirm, dialog, empty, field, input, list, select, time, toast } from '../../js/parts.js';
import { pairing } from './channel_form.js';

const RANKS = [['owner', 'Owner: this is me'], ['trusted', 'Trusted: may have it work; what reaches out is asked of me'], ['guest', 'Guest: may talk to it']];

export default async function section({ again }) {
  const { people, knocks } = await api.get('/v1/people');
  const invite = button('Invite somebody', { onclick: () => inviting(again) });
  const mine = button('Pair a chat of mine', { onclick: async () => { await dialog({ title: 'Pair a chat of yours', body: await pairing(), actions: [{ text: 'Done', kind: 'primary', autofocus: true }] }); await again(); } });
  return [
    card('Who is known', { actions: [mine, invite], bare: true }, people.length ? list(people.map((each) => personRow(each, again))) : empty('Nobody is known yet', 'Pair a chat of yours, or invite somebody with a code.')),
    card('Strangers who knocked', { note: 'They got no answer, and nothing of theirs was read.', bare: true }, knocks.length ? list(knocks.map((each) => knockRow(each, again))) : empty('Nobody knocked')),
  ];
}

function personRow({ person, contacts }, again) {
  const at = `/v1/people/${encodeURIComponent(person.id)}`, isOwner = person.id === 'owner';
  const rank = select(['trusted', 'guest'], { value: person.rank, 'aria-label': `What ${person.name || person.id} may do`, onchange: (event) => attempt(async () => { await api.post(`${at}/rank`, { rank: event.target.value }); toast('Changed'); }).then(again) });
  const chats = contacts.map((each) => h('span', { class: 'row small dim' }, h('span', { dir: 'auto' }, `${each.channel} · ${each.name || each.sender}`), each.last_at && h('span', 'last ', time(each.last_at)), button('Remove chat', { kind: 'quiet', 'aria-label': `Remove the chat ${each.channel} ${each.name || each.sender}`, onclick: () => removeChat(person, each, contacts, again) })));
  return h('li', h('div', { class: 'settings-row' },
    h('div', { class: 'grow stack is-tight' }, h('span', { class: 'strong', dir: 'auto' }, isOwner ? 'You' : person.name || person.id), chats.length ? chats : h('span', { class: 'small dim' }, 'no chat yet')),
    !isOwner && h('div', { class: 'settings-actions' }, h('div', rank), button('Remove', { kind: 'danger', onclick: () => remove(person, again) }))));
}

async function remove(person, again) {
  const yes = await confirm({ title: `Make ${person.name || person.id} a stranger?`, text: 'Nothing of theirs is answered or read any more. What was said stays on record.', yes: 'Remove', danger: true });
  if (yes) await attempt(() => api.del(`/v1/people/${encodeURIComponent(person.id)}`));
  await again();
}

async function removeChat(person, contact, contacts, again) {
  const isLast = person.id === 'owner' && contacts.length === 1;
  const text = isLast ? 'It is the last chat of yours: questions and results then wait on this page and at the terminal until you pair one again.' : 'The agent does not answer there any more.';
  if (await confirm({ title: `Remove ${contact.channel} ${contact.name || contact.sender}?`, text, yes: 'Remove', danger: true })) await attempt(() => api.del(`/v1/people/${encodeURIComponent(person.id)}`, { channel: contact.channel, sender: contact.sender }));
  await again();
}

function knockRow(knock, again) {
  return h('li', h('div', { class: 'settings-row' },
    h('div', { class: 'grow stack is-tight' }, h('span', { class: 'strong', dir: 'auto' }, knock.name || knock.sender), h('span', { class: 'small dim', dir: 'auto' }, `${knock.channel} · ${knock.sender} · ${knock.times === 1 ? 'once' : `${knock.times} times`}, last `, time(knock.last_at))),
    button('Let in', { onclick: () => letIn(knock, again) })));
}

async function letIn(knock, again) {
  const name = input({ value: knock.name }), rank = select(RANKS, { value: 'guest' });
  const run = () => api.post('/v1/people/contacts', { channel: knock.channel, sender: knock.sender, name: name.value.trim(), rank: rank.value });
  await dialog({ title: 'Let in', body: [h('p', { class: 'dim', dir: 'auto' }, `${knock.channel} · ${knock.sender}`), field('Name', name), field('Rank', rank)], actions: [{ text: 'Cancel' }, { text: 'Let in', kind: 'primary', run }] });
  await again();
}

async function inviting(again) {
  const name = input(), rank = select(RANKS.slice(1), { value: 'guest' });
  const made = await dialog({ title: 'Invite somebody', body: [field('Name', name, { hint: 'As you call them.' }), field('Rank', rank)], actions: [{ text: 'Cancel' }, { text: 'Make a code', kind: 'primary', run: () => api.post('/v1/people/invitations', { name: name.value.trim(), rank: rank.value }) }] });
  if (made) await dialog({ title: 'The code', body: [h('div', { class: 'settings-code' }, `${made.code.slice(0, 4)}-${made.code.slice(4)}`), h('p', { class: 'dim' }, 'They send it to the agent in a chat of their own, not in a group. It works once, and for ten minutes.')], actions: [{ text: 'Done', kind: 'primary', autofocus: true }] });
  await again();
}
