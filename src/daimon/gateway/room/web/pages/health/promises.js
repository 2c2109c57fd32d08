// What Daimon promises, as figures of the journal: each says how it stands, and of how many. What the journal does not hold is not claimed.

import { h } from '../../js/dom.js';
import { card, count, money, words } from '../../js/parts.js';

export function promises({ figures, balances }) {
  const all = [lost(figures), delivered(figures), acts(figures), budget(balances), idle(figures), forged(figures)].filter(Boolean);
  return card('What is promised', { note: 'counted from the journal' }, h('ul', { class: 'promises', role: 'list' }, all));
}

function promise(value, name, note, tone) {
  return h('li', { class: ['promise', `is-${tone}`] }, h('b', value), h('span', { class: 'strong' }, name), h('span', { class: 'dim small' }, note));
}

function lost({ taken }) {
  const open = taken.open + taken.waiting, late = taken.late ? `, ${count(taken.late)} came late` : '';
  return promise(count(taken.lost), 'lost', `${count(taken.accepted)} taken in: ${count(taken.ended)} ended, ${count(open)} open${late}`, taken.lost ? 'bad' : 'good');
}

function delivered({ mail }) {
  const out = (mail.sent ?? 0) + (mail.confirmed ?? 0), unknown = mail.unknown ?? 0, failed = mail.failed ?? 0;
  return promise(count(out), out === 1 ? 'message delivered' : 'messages delivered', `${count(mail.confirmed ?? 0)} confirmed, ${count(unknown)} nobody knows of, ${count(failed)} failed`, failed ? 'bad' : unknown ? 'warn' : 'good');
}

function acts({ judged }) {
  const all = judged.allowed + judged.asked + judged.denied + judged.invalid;
  return promise(count(judged.asked + judged.denied), 'not done on its own', `of ${words(all, 'call')}: you were asked of ${count(judged.asked)}, ${count(judged.denied)} denied by policy`, 'good');
}

function budget(balances) {
  const today = balances.find((each) => each.account.scope === 'day');
  if (!today || today.account.limit.cost === null) return null;
  const { spent, held, account } = today, over = Number(spent.cost) + Number(held.cost ?? 0) > Number(account.limit.cost);
  return promise(over ? 'over' : 'within', 'the budget of the day', `${money(spent.cost)} of ${money(account.limit.cost)}`, over ? 'bad' : 'good');
}

function idle({ idle_calls: calls, ticks }) {
  return promise(count(calls), 'calls for nothing', `${words(ticks.unchanged ?? 0, 'look')} found nothing new and woke no model`, calls ? 'bad' : 'good');
}

function forged({ deliveries }) {
  const all = Object.values(deliveries).reduce((sum, each) => sum + each, 0);
  return all ? promise(count(deliveries.refused ?? 0), 'deliveries refused', `of ${count(all)} that came to webhooks`, 'good') : null;
}
