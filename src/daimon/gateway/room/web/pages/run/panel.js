// One stretch in full: facts, the decision with its explanation, texts with their labels, and the prompt message by message.

import { h } from '../../js/dom.js';
import * as icons from '../../js/icons.js';
import { badge, bytes, chip, code, copyText, count, duration, iconButton, money } from '../../js/parts.js';

const SHOWN = { owner: 'owner', store: 'service', named: 'owner', plan: 'owner', grant: 'owner', own: 'agent', untrusted: 'stranger', unknown: 'stranger' };
const VERDICTS = { allow: ['Allowed', 'good'], ask: ['Needs your word', 'warn'], deny: ['Denied', 'bad'], invalid: ['Not valid', 'bad'] };
const TIERS = { L1: 'L1: always before the model', L2: 'L2: before it in whatever form there is room for', L3: 'L3: recalled from memory', L4: 'L4: in the journal' };
const FOLD = 400;

export function panel(detail, { path, onclose }) {
  const { span, facts, pieces, gate, messages, note } = detail;
  const took = span.end_ms === null ? 'goes on' : span.end_ms > span.start_ms ? duration(span.end_ms - span.start_ms) : 'a moment';
  return h('div', { class: 'stack is-wide' },
    h('header', { class: 'stack is-tight' },
      h('div', { class: 'row is-spread' }, h('span', { class: 'row' }, badge(span.kind), h('span', { class: 'dim small' }, `${took}, after ${duration(span.start_ms)}`)), h('span', { class: 'row' }, copyText('Copy as JSON', () => JSON.stringify(detail, null, 2)), iconButton(icons.close, 'Close the details', { onclick: onclose }))),
      h('h2', { class: 'run-title', dir: 'auto' }, span.title),
      span.note && h('p', { class: 'dim', dir: 'auto' }, span.note),
      span.label && h('div', { class: 'chips' }, span.label.origins.map((origin) => chip({ origins: [origin], readers: span.label.readers })))),
    span.usage && span.usage.input_tokens + span.usage.output_tokens > 0 && usage(span.usage),
    gate && decision(gate),
    facts.length > 0 && h('dl', { class: 'facts run-known' }, facts.map((fact) => [h('dt', fact.name), h('dd', { dir: 'auto' }, fact.value)])),
    pieces.map((piece, i) => text(piece, `${path}/pieces/${i}`)),
    messages.length > 0 && prompt(messages, note, (i) => `${path}/pieces/${pieces.length + i}`),
    messages.length === 0 && note && h('p', { class: 'dim' }, note));
}

function usage(used) {
  const fresh = Math.max(0, used.input_tokens - used.cached_tokens), whole = Math.max(1, used.input_tokens + used.output_tokens);
  const part = (name, n) => n > 0 && h('i', { class: `is-${name}`, vars: { '--w': `${(100 * n) / whole}%` } });
  return h('div', { class: 'stack is-tight' },
    h('div', { class: 'run-tokens', role: 'img', 'aria-label': `${fresh} fresh and ${used.cached_tokens} cached tokens in, ${used.output_tokens} out` }, part('cached', used.cached_tokens), part('fresh', fresh), part('out', used.output_tokens)),
    h('div', { class: 'row is-wrapping small dim' }, h('span', { class: 'run-key is-cached' }, `${count(used.cached_tokens)} cached`), h('span', { class: 'run-key is-fresh' }, `${count(fresh)} fresh`), h('span', { class: 'run-key is-out' }, `${count(used.output_tokens)} out`), h('span', used.cost === null ? 'price unknown' : money(used.cost))));
}

function decision(gate) {
  const [verdict, tone] = VERDICTS[gate.verdict];
  return h('section', { class: 'stack', 'aria-label': 'Decision' },
    h('h3', 'Decision ', badge(verdict, tone)),
    gate.reason && h('p', { dir: 'auto' }, gate.reason),
    h('dl', { class: 'facts' }, gate.by && gate.verdict === 'allow' && [h('dt', 'Allowed by'), h('dd', h('code', gate.by))], gate.code && [h('dt', 'Code'), h('dd', h('code', gate.code))], gate.rules.length > 0 && [h('dt', 'Rules'), h('dd', gate.rules.map((rule) => [h('code', rule), ' ']))], gate.version && [h('dt', 'Version'), h('dd', h('code', gate.version))]),
    gate.provenance.length > 0 && h('table', { class: 'table run-provenance' }, h('thead', h('tr', h('th', { scope: 'col' }, 'Argument'), h('th', { scope: 'col' }, 'Value'), h('th', { scope: 'col' }, 'Comes from'))), h('tbody', gate.provenance.map((each) => h('tr', h('td', each.argument, h('span', { class: 'dim small' }, ` ${each.role}`)), h('td', { dir: 'auto' }, each.value), h('td', h('span', { class: ['chip', `is-${SHOWN[each.shown] ?? 'stranger'}`], title: each.note }, h('span', { dir: 'auto' }, each.shown)), each.note && h('div', { class: 'small dim', dir: 'auto' }, each.note)))))));
}

function text(piece, href) {
  return h('section', { class: 'stack is-tight', 'aria-label': piece.title },
    h('div', { class: 'row is-wrapping' }, h('h3', piece.title), piece.label && chip(piece.label), piece.is_cut && h('a', { href, download: '' }, `All of it (${bytes(piece.size)})`)),
    piece.text ? code(piece.is_cut ? `${piece.text}\n…` : piece.text, { label: piece.title }) : h('p', { class: 'dim' }, 'Nothing'));
}

function prompt(messages, note, href) {
  const tokens = messages.reduce((sum, each) => sum + each.tokens, 0);
  return h('section', { class: 'stack', 'aria-label': 'Prompt' },
    h('h3', `Prompt: ${messages.length} messages, about ${count(tokens)} tokens`), note && h('p', { class: 'dim small' }, note),
    h('ol', { role: 'list', class: 'run-prompt' }, messages.map((each, i) => h('li',
      h('details', { open: each.piece.size <= FOLD && messages.length < 40 },
        h('summary', h('span', { class: 'row is-wrapping' }, h('span', { class: ['run-tier', `is-${each.tier}`], title: TIERS[each.tier] }, each.tier), h('b', each.sort), each.form !== 'whole' && badge(each.form, 'warn'), chip(each.piece.label), h('span', { class: 'dim small' }, `${each.role}, ${count(each.tokens)} tokens`))),
        h('p', { class: 'small dim', dir: 'auto' }, each.why, each.source && ` (${each.source})`),
        code(each.piece.is_cut ? `${each.piece.text}\n…` : each.piece.text, { label: `Message ${i + 1}` }),
        each.piece.is_cut && h('a', { href: href(i), download: '' }, `All of it (${bytes(each.piece.size)})`))))));
}
