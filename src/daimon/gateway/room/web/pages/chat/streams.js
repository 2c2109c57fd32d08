// What is under way and not on disk: the words of a reply as they come, and what running commands print. Words are appended to a text node
// once a frame. A reply that begins anew (offset 0) replaces what was there; when the journal has the step, its words take this one's place.

import { h } from '../../js/dom.js';

const MOST_PRINTED = 20000;

export function streams({ drawn }) {
  const replies = new Map(), printed = new Map();
  let dirty = new Set(), frame = 0;

  function token({ turn, step, offset, text, of }) {
    if (of === 'call') return;
    const key = `${turn}:${step}:${of}`;
    let each = replies.get(key);
    if (!each || offset === 0) {
      for (const [other, old] of replies) if (old.turn === turn && (old.step < step || other === key)) remove(replies, other);
      each = made(turn, step, of);
      replies.set(key, each);
    }
    if (offset < each.length) each.pending = [], each.node.data = (each.node.data + '').slice(0, offset), each.length = offset;  // said again from there
    each.pending.push(text);
    each.length = offset + text.length;
    soon(each);
  }

  function made(turn, step, of) {
    const node = document.createTextNode('');
    const body = h('div', { class: 'is-raw', dir: 'auto' }, node);
    const element = of === 'reasoning' ? h('details', { class: 'thinking', open: true }, h('summary', 'Thinking'), body) : h('div', { class: 'said is-streaming', 'aria-live': 'off' }, body);
    return { turn, step, of, node, element, pending: [], length: 0 };
  }

  function print({ turn, step, text }) {
    const each = paper(turn, step), card = each.element.closest('details');
    if (card && !each.node.length && !each.pending.length) card.open = true;
    each.pending.push(text);
    soon(each);
  }

  // Where the output of a call goes. It stands in the card before anything is printed.
  function paper(turn, step) {
    const key = `${turn}:${step}`;
    if (!printed.has(key)) {
      const node = document.createTextNode('');
      printed.set(key, { turn, step, node, pending: [], element: h('pre', { class: 'printed', dir: 'auto' }, node) });
    }
    return printed.get(key);
  }

  function soon(each) {
    dirty.add(each);
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const now = dirty;
      dirty = new Set();
      for (const one of now) {
        const isNew = !one.element.isConnected;
        one.node.appendData(one.pending.splice(0).join(''));
        if (printed.get(`${one.turn}:${one.step}`) === one && one.node.length > MOST_PRINTED) one.node.deleteData(0, one.node.length - MOST_PRINTED);
        drawn(one, isNew);
      }
    });
  }

  function remove(from, key) { from.get(key)?.element.remove(); from.delete(key); }

  // The journal is this far: what it has is not shown from here.
  function settle(view) {
    const last = Math.max(-1, ...view.items.filter((item) => item.kind === 'reply' || item.kind === 'trouble').map((item) => item.step));
    for (const [key, each] of replies) if (each.turn === view.id && (each.step <= last || view.ended_at)) remove(replies, key);
    const done = new Set(view.items.filter((item) => item.kind === 'call' && item.result).map((item) => item.step));
    for (const [key, each] of printed) if (each.turn === view.id && (done.has(each.step) || view.ended_at)) remove(printed, key);
  }

  const of = (turn) => [...replies.values()].filter((each) => each.turn === turn).sort((a, b) => a.step - b.step || (a.of < b.of ? -1 : 1));
  const printedBy = (turn, step) => paper(turn, step).element;

  // A line that was cut may have missed words: what comes next begins anew or is read from the journal.
  function forget() { for (const key of [...replies.keys()]) remove(replies, key); }

  return { token, print, settle, of, printedBy, forget };
}
