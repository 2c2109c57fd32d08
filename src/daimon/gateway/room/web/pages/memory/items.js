// Items as a list, page by page, and the results of a search with why each was found.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { attempt, badge, button, chip, count, empty, select, time, words } from '../../js/parts.js';

const KINDS = { facts: ['fact'], notes: ['note'], everything: [] };
const STANDINGS = { superseded: ['replaced', ''], disputed: ['disputed', 'warn'], forgotten: ['forgotten', ''], rewound: ['rewound', ''] };
const BY = { words: 'its words', context: 'words before it', meaning: 'its meaning', speaker: 'who said it', time: 'its time', graph: 'relations', neighbour: 'what stands beside it', recent: 'being recent', used: 'being used before' };

export async function browsed(context) {
  const { state, open } = context;
  const asked = { kind: KINDS[state.tab], standing: state.standing || (state.tab === 'everything' ? 'any' : 'holds'), source: state.source };
  const first = await get('/v1/room/memory/items', asked);
  const narrowed = state.source && h('span', { class: 'row' }, 'from ', h('bdi', { class: 'mono' }, state.source), button('All sources', { kind: 'quiet', onclick: () => open({ source: '' }) }));
  const which = select([['holds', 'What holds'], ['over', 'What is over'], ['any', 'Both']], { value: asked.standing, 'aria-label': 'Which', onchange: (event) => open({ standing: event.target.value }) });
  const none = empty(state.standing === 'over' ? 'Nothing is over' : 'Nothing here yet', 'What the agent is told to keep, or you add yourself, stands here with its source.');
  return h('section', { class: 'card', 'aria-label': 'Items' }, h('div', { class: 'card-head' }, h('h2', words(first.total, 'item')), narrowed, h('div', { class: 'card-actions' }, which)), first.rows.length ? paged(context, first, asked) : none);
}

function paged(context, first, asked) {
  const all = h('ul', { class: 'list items', role: 'list' }), more = h('div', { class: 'items-more' });
  const grow = (part) => {
    all.append(...part.rows.map((row) => item(context, row)));
    put(more, part.next && button(`Show more of ${count(first.total)}`, { onclick: () => attempt(async () => { grow(await get('/v1/room/memory/items', { ...asked, after: part.next })); all.classList.add('is-grown'); }) }));
    more.hidden = !part.next;
  };
  grow(first);
  return h('div', all, more);
}

export async function found(context) {
  const { q } = context.state;
  const answer = await get('/v1/room/memory/search', { text: q });
  const head = h('div', { class: 'card-head' }, h('h2', words(answer.rows.length, 'match', 'matches')), h('span', { class: 'card-note', dir: 'auto' }, `by ${answer.how}`));
  const none = empty('Nothing found', 'Try other words. What is over is not searched: look under a tab, at "What is over".');
  return h('section', { class: 'card', 'aria-label': 'What was found', role: 'region', 'aria-live': 'polite' }, head, answer.rows.length ? h('ul', { class: 'list items', role: 'list' }, answer.rows.map((row) => item(context, row))) : none);
}

export function item(context, { item: each, is_cut: isCut, why = [] }) {
  const about = [each.subject, each.about].filter(Boolean).join(' · ');
  return h('li', { class: each.ended_at && 'is-over', 'aria-current': each.id === context.state.item ? 'true' : undefined },
    context.here({ item: each.id }, { class: 'item-text', dir: 'auto' }, isCut ? `${each.text} …` : each.text || '(no words)'),
    h('div', { class: 'row is-wrapping small dim item-about' }, badge(each.kind), standing(each), about && h('bdi', about), chip(each.label), time(each.at), each.uses > 0 && `used ${each.uses === 1 ? 'once' : `${count(each.uses)} times`}`),
    why.length > 0 && h('div', { class: 'small dim' }, `Found by ${why.map(reason).join(', ')}`));
}

export function standing(each) {
  const [said, tone] = STANDINGS[each.standing] ?? [];
  return said && badge(said, tone);
}

const reason = ({ by, rank, note }) => `${BY[by] ?? by}${rank ? ` (place ${rank})` : ''}${note ? `: ${note}` : ''}`;
