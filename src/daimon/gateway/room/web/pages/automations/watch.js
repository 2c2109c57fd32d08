// What an automation looks at first. Each kind has fields of its own; what was typed for one kind stays while others are looked at.

import { h, put } from '../../js/dom.js';
import { field, input, select, textarea } from '../../js/parts.js';
import { KINDS } from './words.js';

const lines = (text) => text.split('\n').map((each) => each.trim()).filter(Boolean);

// Of each kind: its controls from a watch, and a watch from its controls.
const MADE = {
  feed(old) {
    const urls = textarea({ value: (old?.urls ?? []).join('\n'), rows: 3, spellcheck: 'false' }), most = input({ type: 'number', min: 1, value: old?.most ?? 50 });
    return { shown: [field('Addresses of the feeds', urls, { hint: 'One a line, in full: RSS, Atom or JSON Feed.' }), field('New items at once', most, { hint: 'What is more waits for the next time.' })], read: () => ({ kind: 'feed', urls: lines(urls.value), most: Number(most.value) }) };
  },
  page(old) {
    const url = input({ type: 'url', value: old?.url ?? '' }), selector = input({ value: old?.selector ?? '', class: 'input mono' });
    return { shown: [field('Address of the page', url), field('Only this part', selector, { hint: 'A CSS selector such as .price; empty: the readable text.' })], read: () => ({ kind: 'page', url: url.value.trim(), selector: selector.value.trim() }) };
  },
  files(old) {
    const globs = textarea({ value: (old?.globs ?? []).join('\n'), rows: 3, spellcheck: 'false', class: 'input mono' });
    return { shown: [field('Files', globs, { hint: 'Patterns, one a line, relative to the workspace: *.csv, reports/**/*.pdf.' })], read: () => ({ kind: 'files', globs: lines(globs.value) }) };
  },
  refs(old) {
    const repository = input({ value: old?.repository ?? '', class: 'input mono' }), refs = input({ value: (old?.refs ?? []).join(' '), class: 'input mono' });
    return { shown: [field('Repository', repository, { hint: 'An address, or a directory.' }), field('Branches and tags', refs, { hint: 'Such as main v*; empty: all of them.' })], read: () => ({ kind: 'refs', repository: repository.value.trim(), refs: refs.value.split(/[\s,]+/).filter(Boolean) }) };
  },
  output(old) {
    const command = textarea({ value: old?.command ?? '', rows: 2, spellcheck: 'false', class: 'input mono' });
    return { shown: [field('Command', command, { hint: 'Run in the box, without a network, for up to two minutes. Leave out what always differs, such as the time.' })], read: () => ({ kind: 'output', command: command.value.trim() }) };
  },
  hook(old, around) {
    const known = [...new Set([...around.hooks, ...(old?.hook ? [old.hook] : [])])];
    const hook = known.length ? select(known, { value: old?.hook }) : input({ value: '' }), most = input({ type: 'number', min: 1, value: old?.most ?? 100 });
    return { shown: [field('Webhook', hook, { hint: known.length ? 'One that keeps what comes.' : 'None keeps what comes yet: make one under Webhooks, and let it collect.' }), field('Deliveries at once', most)], read: () => ({ kind: 'hook', hook: hook.value.trim(), most: Number(most.value) }) };
  },
  mailbox(old) {
    const folder = input({ value: old?.folder ?? 'INBOX' });
    return { shown: [field('Folder', folder, { hint: 'Of the account of the mail channel.' })], read: () => ({ kind: 'mailbox', folder: folder.value.trim() }) };
  },
};

export function watchFields(old, around) {
  const kind = select(KINDS, { value: old?.kind ?? '' }), box = h('div', { class: 'stack slot' });
  const made = new Map();
  const now = () => {
    if (kind.value && !made.has(kind.value)) made.set(kind.value, MADE[kind.value](old?.kind === kind.value ? old : null, around));
    return made.get(kind.value);
  };
  const draw = () => put(box, now()?.shown ?? []);
  kind.addEventListener('change', draw);
  draw();
  const hint = 'With something to watch, a model is woken by a change only, and gets only the change.';
  return { shown: [field('Look first at', kind, { hint }), box], read: () => now()?.read() ?? null };
}
