// Automations in words: what became of a time, what is watched, when something is due on the clock of its zone.

import { h } from '../../js/dom.js';
import { link } from '../../js/router.js';
import { badge } from '../../js/parts.js';

const TICKS = { ran: ['ran', 'good'], unchanged: ['nothing new', ''], skipped: ['skipped', 'warn'], missed: ['missed', 'warn'], failed: ['look failed', 'bad'] };
const ENDINGS = { answered: ['answered', 'good'], silent: ['said nothing', ''], stopped: ['stopped', 'warn'], interrupted: ['interrupted', 'warn'], limit: ['reached a limit', 'bad'], failed: ['failed', 'bad'] };
const STATES = { queued: ['queued', 'info'], running: ['running', 'info'], parked: ['waiting', 'warn'] };

export const KINDS = [['', 'Nothing: run each time'], ['feed', 'Feeds'], ['page', 'A web page'], ['files', 'Files'], ['refs', 'A git repository'], ['output', 'What a command prints'], ['hook', 'What a webhook collects'], ['mailbox', 'A mail folder']];

export function outcome(ticked) {
  if (!ticked) return h('span', { class: 'dim' }, 'never yet');
  const [text, tone] = TICKS[ticked.tick.outcome] ?? [ticked.tick.outcome, ''];
  return ran(ticked.run) ?? badge(text, tone);
}

// How the run of a tick or delivery ended, leading to it.
export function ran(run) {
  if (!run) return null;
  const [text, tone] = (run.ending ? ENDINGS[run.ending] : STATES[run.state]) ?? [run.state, ''];
  return link(`/runs/${encodeURIComponent(run.turn)}`, badge(text, tone));
}

export function watched(watch) {
  switch (watch?.kind) {
    case 'feed': return `${watch.urls.length === 1 ? 'the feed' : 'the feeds'} ${watch.urls.join(', ')}`;
    case 'page': return `the page ${watch.url}${watch.selector ? `, only ${watch.selector}` : ''}`;
    case 'mailbox': return `mail in ${watch.folder}`;
    case 'files': return `files ${watch.globs.join(', ')}`;
    case 'refs': return `${watch.refs.join(', ') || 'branches and tags'} of ${watch.repository}`;
    case 'output': return `what ${watch.command} prints`;
    case 'hook': return `what the webhook ${watch.hook} collects`;
    default: return '';
  }
}

const SHOWN = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZone: 'UTC' };
const soon = new Intl.DateTimeFormat(undefined, SHOWN), later = new Intl.DateTimeFormat(undefined, { ...SHOWN, year: 'numeric' });

// As the clock of its zone shows it, whatever zone the browser is in.
export function onItsClock(iso) {
  const offset = /(Z|[+-]\d\d:\d\d)$/.exec(iso)?.[0] ?? 'Z';
  const wall = iso.startsWith(String(new Date().getFullYear())) ? soon : later;
  return { text: wall.format(new Date(`${iso.slice(0, 19)}Z`)), offset: offset === 'Z' ? 'UTC' : `UTC${offset}` };
}

// The words to begin an edit with: those of the owner, unless they count from the day on which they were said.
export function scheduleOf({ automation, schedule }) {
  const plain = schedule.replace(/ \([^()]*\)$/, '');
  return automation.when.kind === 'once' ? plain : automation.said || plain;
}

export const address = (to) => (to ? `${to.channel}:${to.to}` : '');
