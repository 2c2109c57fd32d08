// What was spent: each day as a bar, each of a group as a line, and the limits as meters. Each picture has its numbers beside it.

import { h } from '../../js/dom.js';
import { link } from '../../js/router.js';
import { badge, calendar, card, count, empty, money, table, tabs, time, words } from '../../js/parts.js';
import { bars, meter } from '../../js/parts/chart.js';

const GROUPS = [{ id: 'model', title: 'By model' }, { id: 'job', title: 'By job' }, { id: 'agent', title: 'By agent' }, { id: 'conversation', title: 'By conversation' }, { id: 'day', title: 'By day' }];
const SCOPES = { day: 'Today', month: 'This month' };

export function budgets({ balances }) {
  return card('Budget', {}, balances.map((each) => h('div', { class: 'stack is-tight' }, costOf(each), tokensOf(each), each.waiting > 0 && h('span', badge(`${words(each.waiting, 'run')} ${each.waiting === 1 ? 'waits' : 'wait'} for room`, 'warn')))));
}

function costOf({ account, spent, held }) {
  const { limit } = account, name = SCOPES[account.scope] ?? account.scope, label = h('span', name, account.until && h('span', { class: 'dim small' }, ' · starts again ', time(account.until)));
  const kept = Number(held.cost ?? 0) > 0 ? `, ${money(held.cost)} set aside` : '';
  if (limit.cost === null) return h('div', { class: 'row is-spread' }, label, h('span', { class: 'dim' }, `${money(spent.cost)}${kept}, no limit`));
  const made = meter(Number(spent.cost), Number(limit.cost), { label: name, text: `${money(spent.cost)} of ${money(limit.cost)}${kept}`, held: Number(held.cost ?? 0) });
  made.firstElementChild.firstElementChild.replaceWith(label);
  return made;
}

const tokensOf = ({ account, spent, held }) => account.limit.tokens !== null && meter(spent.tokens, account.limit.tokens, { label: 'Tokens', text: `${count(spent.tokens)} of ${count(account.limit.tokens)}`, held: held.tokens });

export function spending(seen, state) {
  const of = (by) => seen.spent.find((each) => each.by === by);
  const all = of('day').rows, total = all.reduce((sum, each) => sum + Number(each.cost), 0), calls = all.reduce((sum, each) => sum + each.calls, 0);
  if (!calls) return card('Spent', {}, empty('Nothing was spent', 'No call of a model that is paid for by use was made in these days.'));
  const current = of(state.by) ?? of('model');
  const chart = bars(daily(seen, all), { label: 'Spent each day' });
  return card('Spent', { note: `${money(String(total))} in ${words(calls, 'call')}` }, chart, tabs(GROUPS, current.by, state.pick), rows(current), unpriced(all));
}

// Days on which nothing was spent are drawn, too.
function daily(seen, rows) {
  const known = new Map(rows.map((each) => [each.key, each])), made = [];
  for (let at = Date.parse(`${seen.first_day}T00:00Z`); at <= Date.parse(`${seen.last_day}T00:00Z`); at += 86400000) {
    const day = new Date(at).toISOString().slice(0, 10), cost = known.get(day)?.cost ?? '0';
    made.push({ name: calendar(day), value: Number(cost), text: money(cost) });
  }
  return made;
}

function rows({ by, rows: all, others, others_cost: rest }) {
  const most = Math.max(...all.map((each) => Number(each.cost)), Number.MIN_VALUE);
  const name = (key) => (by === 'conversation' ? link(`/?c=${encodeURIComponent(key)}`, h('span', { dir: 'auto' }, key)) : by === 'day' ? calendar(key) : by === 'job' && key !== 'chat' ? link(`/automations/${encodeURIComponent(key)}`, key) : h('span', { dir: 'auto' }, key));
  const columns = [
    { title: GROUPS.find((each) => each.id === by).title.slice(3).replace(/^./, (first) => first.toUpperCase()), cell: (each) => name(each.key) },
    { title: '', name: 'Share', cell: (each) => h('div', { class: 'share', 'aria-hidden': 'true' }, h('i', { vars: { '--w': `${(100 * Number(each.cost)) / most}%` } })) },
    { title: 'Calls', number: true, cell: (each) => count(each.calls) },
    { title: 'Tokens in', number: true, cell: (each) => count(each.input_tokens) },
    { title: 'Cached', number: true, cell: (each) => (each.input_tokens ? `${Math.round((100 * each.cached_tokens) / each.input_tokens)} %` : '') },
    { title: 'Tokens out', number: true, cell: (each) => count(each.output_tokens) },
    { title: 'Cost', number: true, cell: (each) => h('b', money(each.cost)) },
  ];
  return [table(columns, all, { caption: 'Spent' }), others > 0 && h('p', { class: 'dim small' }, `And ${words(others, 'other')} with ${money(rest)} together.`)];
}

function unpriced(all) {
  const n = all.reduce((sum, each) => sum + each.unpriced, 0), assumed = all.reduce((sum, each) => sum + Number(each.assumed), 0);
  return [n > 0 && h('p', { class: 'dim small' }, `Of ${words(n, 'call')} nobody knows the price.`), assumed > 0 && h('p', { class: 'dim small' }, `${money(String(assumed))} of it is assumed: nobody said what those calls took, so they count in full.`)];
}
