// Budgets: what models may cost, and did.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { card, money, words } from '../../js/parts.js';
import { meter } from '../../js/parts/chart.js';
import { link } from '../../js/router.js';
import { budgetForm } from './budget_form.js';

const NAMES = { day: 'Today', month: 'This month' };

export default async function section({ again }) {
  const view = await api.get('/v1/settings/budget');
  const bars = view.balances.filter((each) => NAMES[each.account.scope]).map((each) => {
    const limit = each.account.limit?.cost, spent = Number(each.spent.cost), held = Number(each.held.cost);
    const text = `${money(each.spent.cost)}${limit === null || limit === undefined ? ', no limit' : ` of ${money(limit)}`}${each.waiting ? `, ${words(each.waiting, 'turn')} waiting` : ''}`;
    return meter(spent, Number(limit ?? 0), { label: NAMES[each.account.scope], text, held, tone: limit === null || limit === undefined ? 'none' : undefined });
  });
  return [
    card('Spent', { actions: link('/health', 'Costs in detail') }, h('div', { class: 'stack' }, bars)),
    card('Limits', { note: 'A call happens only if its worst case fits into each. Empty: no limit.' }, budgetForm(view, { ondone: again })),
  ];
}
