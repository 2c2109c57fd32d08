// How well it works: how fast, how sparing with tokens, which tools succeed, how often people were needed.

import { h } from '../../js/dom.js';
import { badge, bytes, card, count, duration, empty, figure, table, words } from '../../js/parts.js';

const figures = (...all) => h('div', { class: 'figures' }, all);
const percent = (part, whole) => (whole > 0 ? `${Math.round((100 * part) / whole)} %` : '—');
const spread = ({ n, p50_ms: half, p95_ms: most }, name) => [figure(n ? duration(half) : '—', `${name}, median`, words(n, 'time')), figure(n ? duration(most) : '—', `${name}, 95th percentile`)];

export function speed({ figures: seen, status }) {
  return card('Speed', {}, figures(...spread(seen.answers, 'Answer to a message'), ...spread(seen.prompts.took, 'Call of a model'), figure(count(status.depth.running), 'running now'), figure(count(status.depth.waiting), 'in the queue')), h('p', { class: 'dim small' }, 'An answer takes from the moment that a message is on disk. Runs that asked you something are left out: you had your time.'));
}

export function efficiency({ figures: seen, spent }) {
  const days = spent.find((each) => each.by === 'day').rows, sum = (name) => days.reduce((total, each) => total + each[name], 0);
  const fresh = sum('input_tokens'), out = sum('output_tokens'), answered = seen.endings.answered ?? 0, { prompts } = seen;
  return card('Tokens and context', {}, figures(
    figure(percent(sum('cached_tokens'), fresh), 'of the input came from a cache'),
    figure(answered && fresh + out ? count(Math.round((fresh + out) / answered)) : '—', 'tokens for each answer'),
    figure(percent(prompts.new_bytes, prompts.bytes), 'of what models were shown was new', prompts.bytes ? `of ${bytes(prompts.bytes)}` : ''),
    figure(count(prompts.calls), 'replies of models', prompts.failed ? `${count(prompts.failed)} more calls failed` : ''),
    figure(count(seen.checkpoints), 'times files were kept before a change', 'those by hand are not counted')));
}

export function people({ figures: { interventions: seen } }) {
  const answers = seen.allowed + seen.denied + seen.answered;
  return card('You were needed', {}, figures(
    figure(count(seen.questions), 'questions to people'), figure(count(seen.allowed), 'times yes'), figure(count(seen.denied), 'times no'), figure(count(seen.answered), 'other answers'),
    figure(count(seen.lapsed), 'nobody answered in time'), figure(count(seen.stops), 'runs stopped by hand'),
    figure(answers ? duration(seen.took.p50_ms) : '—', 'to an answer, median', answers ? `95 % within ${duration(seen.took.p95_ms)}` : '')));
}

export function tools({ figures: { tools: all } }) {
  const columns = [
    { title: 'Tool', cell: (each) => (each.tool ? h('code', { class: 'nowrap' }, each.tool) : h('span', { class: 'dim' }, 'forgotten')) },
    { title: 'Calls', number: true, cell: (each) => count(each.calls) },
    { title: 'Went well', number: true, cell: (each) => percent(each.calls - each.failed - each.refused, each.calls - each.refused) },
    { title: 'Failed', number: true, cell: (each) => (each.failed ? h('span', { class: 'bad' }, count(each.failed)) : '0') },
    { title: 'Refused', number: true, cell: (each) => count(each.refused) },
    { title: 'Half within', number: true, cell: (each) => duration(each.took.p50_ms) },
    { title: '95th percentile', number: true, cell: (each) => duration(each.took.p95_ms) },
    { title: 'What failed', cell: (each) => h('span', { class: 'row is-wrapping' }, Object.entries(each.codes).map(([code, n]) => badge(`${code} ${count(n)}`, 'bad'))) },
  ];
  return card('Tools', { bare: true }, table(columns, all, { caption: 'Tools', empty: empty('No tool was used', 'Calls of tools in these days stand here, with how often they failed and how long they took.') }));
}
