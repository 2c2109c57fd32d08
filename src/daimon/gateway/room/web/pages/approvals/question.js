// One question: what would happen, where to, with which data from where, what it costs, and what each answer does.

import { h } from '../../js/dom.js';
import { rights } from '../../js/api.js';
import { link } from '../../js/router.js';
import { badge, button, chip, code, diff, input, money, ticked, time } from '../../js/parts.js';

const TYPES = { authorise: 'Permission', choose: 'Choice', context: 'Question', plan: 'Plan', outcome: 'What happened?', money: 'Money', undo: 'Second thoughts' };
const SHOWN = {
  owner: ['owner', 'you wrote that'], store: ['service', 'from a store of yours'], named: ['owner', 'from what you named'], plan: ['owner', 'as planned before'],
  grant: ['owner', 'as you granted'], own: ['agent', 'the agent’s own words'], untrusted: ['stranger', 'not shown to be yours'], unknown: ['stranger', 'not shown to be yours'],
};
const LONG = 200;

// The first sentence of a question says what it is about, the others how to answer.
function parted(text) {
  const [, first, rest] = /^([^\n]+?[.?!])\s+(\S[^]*)$/.exec(text) ?? [null, text, ''];
  return first.length < LONG ? [first, rest] : [text.split('\n')[0], ''];
}

// What it is about, in few words.
export function summary(each) {
  if (!each.calls.length) return { what: parted(each.text)[0], where: TYPES[each.type] };
  const to = [...new Set(each.calls.flatMap((call) => call.arguments.filter((one) => ['destination', 'target'].includes(one.role)).map((one) => one.value)))];
  const tools = [...new Set(each.calls.map((call) => call.tool))].join(', ');
  return { what: each.calls.length > 1 ? `${tools} (${each.calls.length} calls)` : tools, where: to.join(', ').slice(0, LONG) };
}

// `choose(choice)` answers; of several calls, only those that are ticked are allowed.
export function pane(each, answer) {
  const ticks = each.calls.map((call) => h('input', { type: 'checkbox', checked: true, 'aria-label': `Call ${call.n}: ${call.tool}` }));
  const amount = each.type === 'money' && each.choices.some((choice) => choice.choice === 'raise') && input({ placeholder: 'as much as it needs', inputmode: 'decimal', 'aria-label': 'How much more' });
  const free = input({ placeholder: 'Your answer', 'aria-label': 'Your answer', dir: 'auto' });

  function choose(choice) {
    const only = each.calls.filter((_, i) => ticks[i].checked).map((call) => call.n);
    if (['yes', 'grant'].includes(choice.tone) && each.calls.length > 1) {
      if (!only.length) return answer('deny');
      if (only.length < each.calls.length) {
        const [verb, ...rest] = choice.choice.split(' ');
        return answer([verb, ...only, ...rest].join(' '));
      }
    }
    return answer(choice.choice, choice.choice === 'raise' && amount ? amount.value.trim() : '');
  }

  const many = each.calls.length > 1, isSame = each.calls.every((call) => call.reason === each.calls[0].reason);
  const isShort = !each.calls.length && (each.type === 'money' || (each.text.length < LONG && !each.text.includes('\n')));
  const [first, rest] = isShort ? parted(each.text) : [];
  const heading = h('h2', { class: 'asked-title', tabindex: '-1', dir: 'auto' }, each.type === 'authorise' ? (many ? `May I do these ${each.calls.length} things?` : `May I use ${each.calls[0]?.tool ?? 'this'}?`) : each.type === 'undo' ? 'It goes out unless you stop it' : isShort ? ticked(first) : TYPES[each.type]);
  const turn = each.to.split(':')[0];
  const element = h('article', { class: 'stack is-wide' },
    h('header', { class: 'stack is-tight' },
      h('div', { class: 'row is-wrapping' }, badge(TYPES[each.type] ?? each.type, each.type === 'authorise' ? 'warn' : 'info'), each.job && badge(each.job), h('span', { class: 'dim small' }, `${each.agent} in `, link(`/?c=${encodeURIComponent(each.conversation)}`, each.conversation), ' asked ', time(each.asked_at))),
      heading,
      h('p', { class: 'dim' }, each.principal === 'owner' ? 'Because you said: ' : `Because ${each.principal} said: `, h('q', { dir: 'auto' }, each.began), ' ', link(`/runs/${turn}`, 'See the run'))),
    !each.calls.length && (rest || !isShort) && h('p', { class: 'asked-text', dir: 'auto' }, ticked(isShort ? rest : each.text)),
    each.calls.map((call, i) => wanted(call, many && ticks[i], many && isSame)),
    many && isSame && why(each.calls[0]),
    facts(each),
    !rights.has('approve') ? h('p', { class: 'dim' }, 'This device may look, and not answer. Answer where you may.') : each.is_free
      ? h('form', { class: 'row', onsubmit: (event) => { event.preventDefault(); if (free.value.trim()) answer(free.value.trim()); } }, free, button('Answer', { kind: 'primary', type: 'submit' }))
      : choices(each, choose, amount),
    each.calls.length > 0 && h('details', h('summary', { class: 'dim small' }, 'As it was asked'), code(each.text, { label: 'The question' })));
  return { element, choices: rights.has('approve') ? each.choices : [], choose };
}

function choices(each, choose, amount) {
  const keyOf = (choice, i) => (choice.tone === 'yes' ? 'a' : choice.tone === 'no' ? 'd' : String(i + 1));
  const made = (choice, i) => button(choice.title, { kind: choice.tone === 'yes' ? 'primary' : choice.tone === 'no' ? 'danger' : undefined, key: keyOf(choice, i), title: choice.note || undefined, onclick: () => choose(choice) });
  const all = each.choices.map((choice, i) => ({ choice, made: made(choice, i) }));
  const granted = all.filter(({ choice }) => choice.tone === 'grant');
  return h('div', { class: 'asked-choices', role: 'group', 'aria-label': 'Answers' },
    h('div', { class: 'row is-wrapping' }, all.filter(({ choice }) => choice.tone !== 'grant').sort((a, b) => (b.choice.tone === 'yes') - (a.choice.tone === 'yes')).map((one) => one.made), amount),
    granted.length > 0 && h('div', { class: 'stack is-tight' }, h('div', { class: 'row is-wrapping' }, granted.map((one) => one.made)), h('p', { class: 'dim small', dir: 'auto' }, granted[0].choice.note)));
}

function facts(each) {
  const safe = each.choices[0]?.title;
  return h('dl', { class: 'facts' },
    h('dt', 'The agent has read'), h('dd', h('span', { class: 'chips' }, each.label.origins.map((origin) => chip({ origins: [origin], readers: each.label.readers })))),
    h('dt', 'Spent so far'), h('dd', each.spent === null ? 'nobody knows' : money(each.spent)),
    each.expires_at && [h('dt', 'Until'), h('dd', time(each.expires_at), safe ? `, then “${safe}”` : '')]);
}

function wanted(call, tick, isToldBelow) {
  const head = h('span', { class: 'row is-wrapping' }, tick, h('span', { class: 'mono strong' }, call.tool), call.can.map((can) => badge(can, ['reads private', 'reads outside'].includes(can) ? undefined : 'warn')), h('span', { class: 'dim' }, call.does));
  return h('section', { class: 'asked-call', 'aria-label': `Call ${call.n}: ${call.tool}` },
    tick ? h('label', { class: 'asked-tick' }, head) : head,
    call.arguments.length > 0 && h('table', { class: 'table asked-arguments' }, h('thead', { class: 'unseen' }, h('tr', h('th', { scope: 'col' }, 'Argument'), h('th', { scope: 'col' }, 'Value'), h('th', { scope: 'col' }, 'Where it comes from'))), h('tbody', call.arguments.map((one) => argument(one, call)))),
    call.diff && diff(call.diff, { label: `What ${call.tool} changes` }),
    call.diff_note && h('p', { class: 'dim small', dir: 'auto' }, call.diff_note),
    !isToldBelow && why(call));
}

function why(call) {
  return call.reason && h('details', { class: 'asked-why', open: true }, h('summary', 'Why it asks'), h('p', { dir: 'auto' }, call.reason), call.rules.length > 0 && h('p', { class: 'small dim' }, 'Rules: ', call.rules.map((rule) => [h('code', rule), ' ']), `· version ${call.version}`));
}

function argument(one, call) {
  const isShownBelow = call.diff && ['content', 'edits', 'patch'].includes(one.name);
  const value = isShownBelow ? h('span', { class: 'dim' }, 'see the changes below') : one.value.length > LONG || one.value.includes('\n') ? code(one.is_cut ? `${one.value}\n… ${one.size} characters in all` : one.value, { label: one.name }) : h('span', { dir: 'auto', class: one.role === 'destination' ? 'strong' : undefined }, one.value || h('span', { class: 'dim' }, 'nothing'));
  return h('tr', { class: one.role && `is-${one.role}` }, h('th', { scope: 'row' }, h('span', one.name), one.role && one.role !== one.name && h('span', { class: 'dim small' }, ` ${one.role}`)), h('td', value), h('td', h('span', { class: 'chips' }, one.origins.map((origin) => from(origin, one.origins.length > 1)))));
}

function from(origin, isNamed) {
  const [author, words] = SHOWN[origin.shown] ?? SHOWN.unknown;
  const said = [isNamed && origin.value, words].filter(Boolean).join(': ');
  return h('span', { class: ['chip', `is-${author}`], title: origin.note || words }, h('span', { dir: 'auto' }, origin.note && author === 'stranger' ? `${said} (${origin.note})` : said));
}

