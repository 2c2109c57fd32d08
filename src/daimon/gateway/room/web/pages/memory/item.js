// One item with its receipt: the words, whose they are, where they stand in the journal, what it replaced and what replaced it.

import { h } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { badge, button, card, chips, count, iconButton, menu, time } from '../../js/parts.js';
import { link } from '../../js/router.js';
import * as icons from '../../js/icons.js';
import { bringBack, edit, forget, onPage, takeOff } from './edit.js';
import { standing } from './items.js';
import { forgetSource } from './sources.js';

const KEPT = ['note', 'fact', 'value'];

export async function panel(context, overview) {
  const { state, open } = context;
  const at = `/v1/memory/items/${encodeURIComponent(state.item)}`;
  const [account, history] = await Promise.all([get(at), get('/v1/memory/history', { about: state.item }).catch(() => [])]);
  const close = iconButton(icons.close, 'Close the item', { onclick: () => open({ item: '' }) });
  if (!account.item) return card('Deleted for good', { actions: [close] }, h('p', { class: 'dim' }, 'Its words are gone.'), origin(context, account.origin));
  const { item } = account;
  const isOnPage = overview.page.notes.some((each) => each.id === item.id);
  return card(h('span', { class: 'row' }, badge(item.kind), standing(item) ?? badge('holds', 'good')), { actions: [...actions(context, item, isOnPage), close] },
    h('div', { class: 'item-whole', dir: 'auto' }, item.text || '(no words)'),
    h('dl', { class: 'facts' }, facts(context, item)),
    origin(context, account.origin),
    versions(context, 'It replaced', account.replaced), versions(context, 'Replaced by', account.replaced_by),
    history.length > 1 && h('details', h('summary', `History: ${count(history.length)}`), versions(context, '', history)));
}

function facts(context, item) {
  const rows = [
    item.subject && ['About', [context.here({ tab: 'things', thing: item.subject, q: '' }, { dir: 'auto', class: 'linked' }, item.subject), item.about && h('bdi', { class: 'dim' }, ` · ${item.about}`)]],
    ['Kept', time(item.at)],
    item.ended_at && ['Ended', time(item.ended_at)],
    ['Whose words', chips(item.label.origins.map((each) => ({ origins: [each], readers: item.label.readers })))],
    item.confidence < 1 && ['Confidence', `${Math.round(100 * item.confidence)}%`],
    ['Used', item.uses ? [`${item.uses === 1 ? 'once' : `${count(item.uses)} times`}, last `, time(item.used_at)] : 'never yet'],
    item.conversation && ['Conversation', link(`/?c=${encodeURIComponent(item.conversation)}`, h('bdi', item.conversation))],
    ['Id', h('span', { class: 'mono small' }, item.id)],
  ];
  return rows.filter(Boolean).map(([name, value]) => [h('dt', name), h('dd', value)]);
}

function origin(context, from) {
  if (!from) return h('p', { class: 'dim small' }, 'The journal does not know where it came from: it was brought by an import.');
  const what = { event: 'A message', step: 'A step of a run', amendment: 'A change by hand' }[from.what];
  const step = from.what === 'step' ? `?step=${from.ref.split(':').at(-1)}` : '';
  return h('div', { class: 'receipt' },
    h('div', { class: 'row is-wrapping small' }, h('span', { class: 'strong' }, 'Where it comes from'), h('span', { class: 'dim' }, what, from.speaker && [' by ', h('bdi', from.speaker)]), time(from.at), from.turn && link(`/runs/${encodeURIComponent(from.turn)}${step}`, 'Open the run')),
    from.erased ? h('p', { class: 'dim', dir: 'auto' }, `The words are gone: ${from.erased}`) : from.text && h('blockquote', { dir: 'auto' }, from.text),
    from.asked && h('p', { class: 'small dim', dir: 'auto' }, `Asked: ${from.asked.slice(0, 300)}`));
}

function versions(context, title, all) {
  if (!all.length) return null;
  return h('div', { class: 'stack is-tight' }, title && h('h3', title), h('ul', { class: 'versions', role: 'list' }, all.map((each) => h('li', context.here({ item: each.id }, { dir: 'auto' }, each.text.slice(0, 300)), h('span', { class: 'row small dim' }, standing(each) ?? badge('holds', 'good'), time(each.at))))));
}

function actions(context, item, isOnPage) {
  const holds = !item.ended_at, isWorded = item.kind === 'note' || item.kind === 'fact';
  const named = item.label.origins.map((each) => each.source);
  const more = [
    holds && item.kind === 'note' && (isOnPage ? { text: 'Take off the notebook', run: () => takeOff(context, item) } : { text: 'Put into the notebook', run: () => onPage(context, item) }),
    holds && KEPT.includes(item.kind) && { text: 'Forget', danger: true, run: () => forget(context, item) },
    { text: 'Delete where it came from, for good', danger: true, run: () => forgetSource(context, item.source) },
    ...named.map((source) => ({ text: `Delete all from ${source}`, danger: true, run: () => forgetSource(context, source) })),
  ].filter(Boolean);
  return [
    holds && isWorded && button('Edit', { onclick: () => edit(context, item) }),
    !holds && KEPT.includes(item.kind) && button('Bring back', { onclick: () => bringBack(context, item) }),
    button('More', { kind: 'quiet', 'aria-haspopup': 'menu', onclick: (event) => menu(event.currentTarget, more) }),
  ].filter(Boolean);
}
