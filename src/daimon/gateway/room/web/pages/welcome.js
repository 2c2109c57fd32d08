// The first run: a model, a channel, a budget, a first automation, then the first words. Each step uses the very routes of the settings, so
// it can be skipped, gone back to and run again, and never wipes anything. The address names the step.

import { h, put } from '../js/dom.js';
import * as api from '../js/api.js';
import { go } from '../js/router.js';
import { button, failure, loading } from '../js/parts.js';
import { automationStep } from './welcome/automation.js';
import { budgetStep } from './welcome/budget.js';
import { channelStep } from './welcome/channel.js';
import { firstWords } from './welcome/first_words.js';
import { modelStep } from './welcome/model.js';

export const title = 'Welcome';

const STEPS = [
  { id: 'model', name: 'A model', make: modelStep, skip: 'Use the built-in one', done: (view) => view.standing.has_model && view.standing.use.join(', ') },
  { id: 'channel', name: 'A channel', make: channelStep, done: (view) => view.standing.channels.join(', ') },
  { id: 'budget', name: 'A budget', make: budgetStep, done: (view) => view.standing.day && `$${view.standing.day} a day` },
  { id: 'automation', name: 'A first automation', make: automationStep, done: (view) => view.automations.join(', ') },
  { id: 'chat', name: 'First words', make: firstWords, done: (view) => view.events > 0 && 'said' },
];

// The forms of the settings come with their style.
let styled = null;
const forms = () => (styled ??= new Promise((done) => document.head.append(h('link', { rel: 'stylesheet', href: new URL('settings.css', import.meta.url), onload: done, onerror: done }))));

export default async function page(root, { query, signal, head }) {
  await forms();
  head({ title: 'Welcome', note: 'Two minutes, and every step can be skipped' });
  root.classList.add('welcome');
  const at = Math.max(0, STEPS.findIndex((each) => each.id === query.step));
  const steps = h('ol', { class: 'welcome-steps', role: 'list', 'aria-label': 'Steps' }), content = h('div', { class: 'welcome-content' }, loading());
  put(root, steps, content);
  const move = (to) => go(to < STEPS.length ? `/welcome?step=${STEPS[to].id}` : '/');

  async function mark() {
    const view = await api.get('/v1/setup');
    if (signal.aborted) return view;
    put(steps, STEPS.map((each, i) => {
      const what = each.done(view);
      return h('li', h('a', { class: ['welcome-step', what && 'is-done'], href: `/welcome?step=${each.id}`, 'aria-current': i === at ? 'step' : undefined }, h('span', { class: 'welcome-number', 'aria-hidden': 'true' }, what ? '✓' : String(i + 1)), h('span', { class: 'stack is-tight' }, h('span', each.name), what && h('span', { class: 'small dim cut', dir: 'auto' }, what))));
    }));
    return view;
  }
  async function show() {
    try {
      const view = await mark();
      // A step that is done goes on by itself only by the button: what it said stays to be read.
      const next = button('Next', { kind: 'primary', hidden: true, onclick: () => move(at + 1) });
      const skip = button(at === STEPS.length - 1 ? 'Go to the chat' : STEPS[at].skip ?? 'Skip', { kind: STEPS[at].skip ? undefined : 'quiet', onclick: () => move(at + 1) });
      const done = async () => { next.hidden = false; skip.hidden = true; await mark(); next.focus(); };
      const made = await STEPS[at].make({ view, done, signal });
      if (STEPS[at].done(view) && at < STEPS.length - 1) { next.hidden = false; skip.hidden = true; }
      const back = at > 0 && button('Back', { kind: 'quiet', onclick: () => move(at - 1) });
      if (!signal.aborted) put(content, made, h('div', { class: 'welcome-foot' }, back, h('span', { class: 'grow' }), skip, next));
    } catch (error) {
      if (!signal.aborted) put(content, failure(error, show));
      if (error.name !== 'ApiError') reportError(error);
    }
  }
  await show();
}
