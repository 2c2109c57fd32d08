// One turn of a conversation: what came in, what was done, what was said, and what it took. Drawn again whenever it changed; what stays the
// same keeps its element, so an open card stays open and a half-written answer stays written.

import { h, sanitised } from '../../js/dom.js';
import { post, rights } from '../../js/api.js';
import { attempt, badge, chip, copyText, count, button, duration, money, time } from '../../js/parts.js';
import { link } from '../../js/router.js';
import { channelIcon, channelName } from './channels.js';
import { files } from './files.js';
import { item, text } from './items.js';

const ENDINGS = { stopped: 'Stopped', interrupted: 'Interrupted by a newer message', limit: 'Stopped at a limit', failed: 'Failed', silent: 'Nothing to say' };
const KINDS = { heartbeat: 'Automation', timer: 'Reminder', webhook: 'Webhook', agent: 'Another agent', outcome: 'Finished', stop: 'Stop', erased: 'Erased' };

export function turnElement({ streams, retry }) {
  const kept = new Map();
  const body = h('div', { class: 'turn-items' });
  const element = h('article', { class: 'turn' });
  let view = null;

  function draw(next) {
    view = next;
    element.dataset.turn = view.id;
    element.dataset.state = view.state;
    element.setAttribute('aria-label', `${view.came.is_owner ? 'You' : view.came.who}: ${view.came.words.text.slice(0, 60)}`);
    streams.settle(view);
    const replies = new Map(view.items.filter((each) => each.kind === 'reply').map((each) => [each.step, each]));
    const context = { view, replies, streams, came };
    const parts = view.items.filter((each, i) => !isAsked(each, view.items[i + 1])).map((each) => once(`${each.kind}:${each.step}`, each, () => item(each, context)));
    arrange(body, [...parts, ...posted(), ...flowing()].filter(Boolean));
    arrange(element, [once('came', view.came, () => came(view.came, true)), body, once('foot', foots(), foot)]);
  }

  function once(key, value, make) {
    const sign = JSON.stringify(value), old = kept.get(key);
    if (old?.sign === sign) return old.node;
    const node = make();
    if (old?.node?.open && node) node.open = true;
    kept.set(key, { sign, node });
    return node;
  }

  // Streams stand after what is on disk; what a command prints stands in its card.
  function flowing() {
    const flows = streams.of(view.id).map((each) => each.element);
    const isQuiet = view.state === 'running' && !flows.length;
    return isQuiet ? [...flows, once('working', view.state, () => h('div', { class: 'working', role: 'status' }, h('span', { class: 'running', 'aria-hidden': 'true' }), h('span', 'Working')))] : flows;
  }

  function flow() { if (view) draw(view); }

  function posted() {
    return view.posted.filter((each) => each.html || each.files.length || ['failed', 'unknown'].includes(each.state)).map((each, i) => once(`posted:${i}`, each, () => h('div', { class: 'said' },
      each.html && h('div', { class: 'prose' }, h('p', { class: 'small dim' }, `To ${channelName(each.to.channel)}`), sanitised(each.html)), files(each.files),
      each.state === 'failed' && h('p', { class: 'trouble' }, `Not delivered to ${channelName(each.to.channel)}: ${each.note || 'no reason was given'}`),
      each.state === 'unknown' && h('p', { class: 'trouble' }, `It may not have reached ${channelName(each.to.channel)}: ${each.note}`))));
  }

  function foots() {
    const reply = view.posted.find((each) => each.is_reply);
    return [view.state, view.ending, view.reason, view.model, view.model_calls, view.input_tokens, view.output_tokens, view.cost, view.ended_at, reply?.state, reply?.to];
  }

  function foot() {
    const isOver = view.ended_at !== null, reply = view.posted.find((each) => each.is_reply);
    const last = view.items.filter((each) => each.kind === 'reply' && each.text).at(-1);
    const facts = [
      view.model, view.model_calls > 1 && `${view.model_calls} model calls`,
      view.input_tokens + view.output_tokens > 0 && `${count(view.input_tokens)} in, ${count(view.output_tokens)} out`,
      view.cost === null ? 'cost unknown' : Number(view.cost) > 0 && money(view.cost),
      isOver && duration(new Date(view.ended_at) - new Date(view.created_at)),
      reply && reply.to.channel !== 'local' && `${channelName(reply.to.channel)}: ${reply.state}`,
    ].filter(Boolean);
    return h('footer', { class: 'turn-foot small dim' },
      view.state === 'parked' && badge('Waits for you', 'warn'),
      view.state === 'parked' && !view.items.some((each) => each.kind === 'question' && each.is_open) && link('/approvals', 'See what waits'),
      view.ending && ENDINGS[view.ending] && h('span', { class: view.ending === 'failed' || view.ending === 'limit' ? 'bad' : '' }, ENDINGS[view.ending] + (view.reason && view.ending !== 'stopped' ? `: ${view.reason}` : '')),
      h('span', { class: 'turn-facts' }, facts.join(' · ')),
      h('span', { class: 'turn-acts' },
        !isOver && rights.has('chat') && button('Stop', { kind: 'quiet', onclick: () => attempt(() => post(`/v1/turns/${view.id}/stop`)) }),
        last && copyText('Copy', () => last.text),
        last && button('Why?', { kind: 'quiet', title: 'What this answer was made of', onclick: async () => (await import('./why.js')).why(view) }),
        isOver && rights.has('chat') && view.came.kind === 'message' && view.came.is_owner && !view.came.words.is_cut && button('Retry', { kind: 'quiet', title: 'Say the same again', onclick: () => retry(view) }),
        h('a', { class: 'button is-quiet', href: `/runs/${view.id}` }, 'Run')));
  }

  return { element, draw, flow, get view() { return view; } };
}

// A limit that was met is told by the question about it.
const isAsked = (each, next) => each.kind === 'trouble' && next?.kind === 'question' && next.text.startsWith(each.text);

// What somebody said, or what happened by itself.
export function came(each, isFirst = false) {
  const words = each.words.is_cut || each.kind === 'webhook' || (each.kind === 'heartbeat' && each.words.chars > 400) ? text(each.words, 'What came in') : h('div', { class: 'is-raw', dir: 'auto' }, each.words.text);
  const isSpeech = ['message', 'answer'].includes(each.kind);
  if (each.is_owner && isSpeech) return h('div', { class: 'came is-mine' }, h('div', { class: 'bubble' }, each.words.text && words, files(each.files)), h('div', { class: 'came-note small dim' }, !isFirst && 'Said meanwhile · ', !['web', 'chat', 'inject'].includes(each.source) && `${channelName(each.source)} · `, time(each.at)));
  if (isSpeech) return h('div', { class: 'came' }, h('div', { class: 'came-note small' }, h('b', { dir: 'auto' }, each.who), ' ', h('span', { class: 'dim' }, `${channelName(each.source)} · `, time(each.at)), ' ', chip(each.label)), h('div', { class: 'bubble is-theirs' }, words, files(each.files)));
  return h('div', { class: 'came is-event' }, h('div', { class: 'came-note small dim' }, channelIcon({ heartbeat: 'automation', timer: 'automation', webhook: 'hook' }[each.kind] ?? 'local'), `${each.kind === 'timer' && !each.words.text ? 'Went on by itself' : KINDS[each.kind] ?? each.kind} · `, time(each.at), ' ', chip(each.label)), words, files(each.files));
}

// Puts these in this order, touching only what is elsewhere.
export function arrange(parent, wanted) {
  let at = parent.firstChild;
  for (const node of wanted) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
}
