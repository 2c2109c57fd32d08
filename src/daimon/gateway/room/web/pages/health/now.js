// How things are at this moment: what is kept running, what is on its way to people, what could not be used.

import { h } from '../../js/dom.js';
import { post } from '../../js/api.js';
import { link } from '../../js/router.js';
import { attempt, badge, button, card, code, count, empty, list, sentence, table, ticked, time, toast } from '../../js/parts.js';

const STATES = { up: ['up', 'good'], starting: ['starting', 'info'], down: ['down', 'bad'], locked_out: ['locked out', 'bad'] };
const MAIL = [['queued', 'queued'], ['sending', 'on its way'], ['sent', 'sent'], ['confirmed', 'confirmed'], ['unknown', 'nobody knows'], ['failed', 'failed']];
const TONES = { confirmed: 'good', sent: 'good', unknown: 'warn', failed: 'bad', queued: 'info', sending: 'info' };

export function warnings({ status }) {
  if (!status.warnings.length) return null;
  return h('section', { class: 'warned stack is-tight', 'aria-label': 'Warnings' }, status.warnings.map((each) => h('p', { dir: 'auto' }, ticked(sentence(each)))));
}

export function lines({ status }, read) {
  const columns = [
    { title: 'Channel', cell: (each) => h('span', { class: 'strong nowrap' }, each.name) },
    { title: 'State', tight: true, cell: (each) => badge(...(STATES[each.state] ?? [each.state])) },
    { title: 'Since', tight: true, cell: (each) => time(each.since) },
    { title: 'Why', cell: (each) => h('span', { dir: 'auto' }, each.why) },
    { title: 'Restarts', number: true, cell: (each) => count(each.restarts) },
    { title: 'Next try', tight: true, cell: (each) => each.next_try && time(each.next_try) },
    { title: '', name: 'Actions', tight: true, cell: (each) => ['down', 'locked_out'].includes(each.state) && button('Try now', { onclick: () => attempt(async () => { await post(`/v1/channels/${encodeURIComponent(each.name)}/poke`); toast(`${each.name} is tried again`); await read(); }) }) },
  ];
  const nothing = empty('No channel is set up', 'This page and the terminal reach the agent without one.', link('/settings/channels', 'Add a channel'));
  return card('Channels', { bare: true }, table(columns, status.lines, { caption: 'Channels', empty: nothing }));
}

export function outbox({ figures, unsure, undelivered }) {
  const shown = MAIL.filter(([state]) => figures.mail[state]);
  const counts = shown.length ? h('div', { class: 'row is-wrapping' }, shown.map(([state, text]) => badge(`${count(figures.mail[state])} ${text}`, TONES[state]))) : h('p', { class: 'dim' }, 'Nothing was to go out in these days.');
  const row = (each) => h('li', { class: 'stack is-tight' }, h('div', { class: 'row is-wrapping' }, badge(each.state === 'unknown' ? 'nobody knows' : 'failed', TONES[each.state]), h('span', { dir: 'auto' }, `${each.to.channel} ${each.to.to}`), h('span', { class: 'dim small' }, time(each.created_at)), link(`/runs/${encodeURIComponent(each.turn)}`, 'the run')), h('p', { dir: 'auto' }, each.text), each.note && h('p', { class: 'dim small', dir: 'auto' }, each.note));
  const trouble = [...unsure, ...undelivered];
  return card('Messages to people', {}, counts, trouble.length > 0 && [h('h3', 'In trouble'), list(trouble.map(row))]);
}

export function letters({ letters: all, status }) {
  const row = (each) => h('li', h('details', { data: { of: `${each.at} ${each.source}` } }, h('summary', h('span', { dir: 'auto' }, each.reason), ' ', h('span', { class: 'dim small' }, `${each.source}, `, time(each.at))), code(each.body, { label: 'What came' })));
  return card('Could not be used', { note: status.count.dead_letters ? `${count(status.count.dead_letters)} in all` : '' }, all.length ? list(all.map(row)) : h('p', { class: 'dim' }, 'All that came could be read.'));
}
