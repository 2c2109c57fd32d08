// What people decided: who, when, after how long, and what came of it.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { link } from '../../js/router.js';
import { badge, button, duration, empty, loading, table, time } from '../../js/parts.js';

const YES = ['allow', 'grant', 'send', 'raise', 'yes'], NO = ['deny', 'stop', 'no'];
const tone = (choice) => (YES.includes(choice) ? 'good' : NO.includes(choice) ? 'bad' : undefined);

export async function history(root, { signal, on }) {
  let rows = [], next = '', isMore = false;
  put(root, loading());

  async function read(before) {
    const found = await get('/v1/decisions', { limit: 50, before });
    if (signal.aborted) return;
    rows = before ? [...rows, ...found.decisions] : found.decisions;
    next = found.next;
    draw();
  }

  function draw() {
    const columns = [
      { title: 'Question', cell: (each) => h('div', { class: 'asked-lines' }, h('span', { class: 'asked-past', dir: 'auto' }, each.calls.length ? each.calls.map((call) => call.call).join('; ') : each.text), h('span', { class: 'small dim' }, each.job || each.conversation, ' · ', link(`/runs/${each.turn}`, 'run'))) },
      { title: 'Answer', cell: (each) => h('span', { class: 'asked-lines' }, h('span', badge(each.choice, tone(each.choice)), each.said && h('span', { class: 'small dim', dir: 'auto' }, ` ${each.said}`)), each.grants.map((grant) => h('span', { class: 'small dim', dir: 'auto' }, `granted: ${grant}`))) },
      { title: 'By', cell: (each) => each.by || h('span', { class: 'dim' }, 'nobody in time') },
      { title: 'When', cell: (each) => time(each.answered_at) },
      { title: 'After', number: true, cell: (each) => duration(each.took_s * 1000) },
      { title: 'What came of it', cell: (each) => h('div', { class: 'asked-lines' }, each.calls.map((call) => h('div', { class: 'asked-came' }, badge(call.outcome === 'none' ? 'under way' : call.outcome.replaceAll('_', ' '), call.outcome === 'ok' ? 'good' : call.outcome === 'none' ? undefined : 'bad'), h('span', { class: 'small dim asked-result', dir: 'auto' }, call.result)))) },
    ];
    put(root, h('div', { class: 'card asked-history' }, table(columns, rows, { caption: 'What was decided', empty: empty('Nothing was decided yet', 'Every answer you give is kept here, with what it was about and what came of it.') })),
      next && h('div', { class: 'row' }, button('Show more', { onclick: () => { isMore = true; return read(next); } })));
  }
  on('turn', () => { if (!isMore && root.isConnected && root.querySelector('.asked-past, .empty')) read(''); });
  await read('');
}
