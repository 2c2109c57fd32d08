// What was done in a turn, drawn: words, tool calls as folded cards, questions with their answers, and what went wrong.

import { h, put, sanitised } from '../../js/dom.js';
import { get, post, rights } from '../../js/api.js';
import { attempt, badge, button, chip, code, count, duration, input, money, ticked, time, toast } from '../../js/parts.js';
import { link } from '../../js/router.js';
import { files } from './files.js';

const TONES = { ok: 'good', failed: 'bad', refused: 'bad', cancelled: undefined, running: 'info', waiting: 'warn', asking: 'warn', unknown: undefined };
const STATES = { ok: 'Done', failed: 'Failed', refused: 'Refused', cancelled: 'Cancelled', running: 'Running', waiting: 'Waiting', asking: 'Asks first', unknown: 'Outcome unknown' };
const MOST_SHOWN = 400000;

export function item(each, context) {
  return { reply, call, question, heard, trouble, gone }[each.kind]?.(each, context) ?? null;
}

function reply(each) {
  if (!each.html && !each.thinking && !each.files.length) return null;
  return h('div', { class: 'said' },
    each.thinking && h('details', { class: 'thinking' }, h('summary', 'Thinking'), h('div', { class: 'is-raw', dir: 'auto' }, each.thinking)),
    each.html && h('div', { class: 'prose' }, sanitised(each.html)),
    each.is_cut && h('p', { class: 'dim small' }, 'The rest is too long to show here; the run has it.'),
    files(each.files));
}

function call(each, { view, replies, streams }) {
  const asked = replies.get(each.asked_by);
  return h('details', { class: 'call', data: { state: each.state, key: `call:${each.step}` } },
    h('summary', { class: 'call-head' },
      h('span', { class: 'call-dot', 'aria-hidden': 'true' }),
      h('code', { class: 'strong nowrap' }, each.tool), h('span', { class: 'cut dim grow', dir: 'auto' }, brief(each.arguments.text)),
      each.state !== 'ok' && badge(STATES[each.state] ?? each.state, TONES[each.state]),
      each.duration_ms > 0 && h('span', { class: 'dim small nowrap' }, duration(each.duration_ms)),
      each.label && chip(each.label)),
    h('div', { class: 'call-body stack' },
      part('Arguments', text(each.arguments, 'Arguments')),
      each.result ? part(each.code ? `Result (${each.code})` : 'Result', [text(each.result, 'Result'), files(each.files)]) : each.state === 'running' && streams.printedBy(view.id, each.step),
      each.is_held && h('p', { class: 'small dim' }, 'The model saw only part of this: it holds words of strangers.'),
      each.touched.length > 0 && part('Touched', h('ul', { class: 'small mono' }, each.touched.map((line) => h('li', { dir: 'auto' }, line)))),
      h('p', { class: 'small dim' }, each.verdict, asked && ` · asked for by ${asked.model}: ${count(asked.input_tokens)} tokens in, ${count(asked.output_tokens)} out${asked.cost === null ? ', cost unknown' : `, ${money(asked.cost)}`}`, ' · ', link(`/runs/${view.id}?step=${each.step}`, 'In the run'))));
}

const part = (title, inside) => h('div', { class: 'stack is-tight' }, h('span', { class: 'small dim' }, title), inside);

const brief = (text) => (text.trim() === '{}' ? '' : text.replace(/\s+/g, ' ').slice(0, 160));

// A text that may have been cut on the server; the rest is read piece by piece when somebody wants it.
export function text(words, label) {
  const box = h('div', code(words.text, { label }));
  if (words.is_cut) {
    const more = button(`Show all ${count(words.chars)} characters`, { kind: 'quiet', onclick: () => attempt(async () => { const whole = await rest(words); put(box, code(whole, { label }), whole.length < words.chars && h('p', { class: 'small dim' }, `${count(words.chars - whole.length)} more characters are in the run.`)); }) });
    box.append(more);
  }
  return box;
}

async function rest(words) {
  let whole = '';
  for (let at = 0; at !== null && whole.length < MOST_SHOWN;) {
    const piece = await get('/v1/conversations/text', { of: words.of, offset: at });
    whole += piece.text;
    at = piece.next;
  }
  return whole;
}

function question(each) {
  const box = h('div', { class: ['question', each.is_open && 'is-open'], data: { key: `question:${each.step}` } });
  const key = crypto.randomUUID();  // pressed twice, it is one answer
  const answer = (choice) => attempt(async () => {
    await post('/v1/events', { type: 'answer', to: each.to, choice, key, source: 'web' });
    toast(`Answered: ${choice}`);
  });
  const free = input({ placeholder: 'Your answer', 'aria-label': 'Your answer', dir: 'auto' });
  const choices = each.options.map((option, i) => button(option[0].toUpperCase() + option.slice(1), { kind: i ? undefined : 'quiet', onclick: () => answer(option) }));
  const form = h('form', { class: 'row', onsubmit: (event) => { event.preventDefault(); if (free.value.trim()) answer(free.value.trim()); } }, free, button('Answer', { kind: 'primary', type: 'submit' }));
  return put(box,
    h('p', { class: 'question-text', dir: 'auto' }, ticked(each.text)),
    each.is_open && rights.has('approve') && (each.options.length ? h('div', { class: 'row is-wrapping' }, choices, each.type === 'authorise' && link('/approvals', 'See what it would do')) : form),
    each.is_open && each.expires_at && h('p', { class: 'small dim' }, 'Without an answer it takes the first choice ', time(each.expires_at)),
    each.answer && h('p', { class: 'small dim', dir: 'auto' }, 'Answered ', h('b', each.answer.choice), each.answer.text && ` (${each.answer.text})`, ` by ${each.answer.by === 'owner' ? 'you' : each.answer.by} `, time(each.answer.at)),
    !each.answer && !each.is_open && h('p', { class: 'small dim' }, 'Not answered.'));
}

function heard(each, { came }) {
  return h('div', { class: 'heard' }, came(each.came), each.ignored && h('p', { class: 'small dim' }, `Without effect: ${each.ignored}`));
}

const trouble = (each) => h('p', { class: 'trouble', dir: 'auto' }, each.text);

function gone(each, { view }) {
  return h('p', { class: 'small dim' }, each.count > 1 ? `${count(each.count)} steps are not shown here. ` : '', each.why, ' ', link(`/runs/${view.id}?step=${each.step}`, 'See the run'));
}
