// What came of something, beside the button that did it: in words, with a colour at the edge.

import { h, put } from '../../js/dom.js';
import { sentence } from '../../js/parts.js';

export function told(tone, ...lines) {
  return h('div', { class: ['settings-told', `is-${tone}`] }, lines.flat().filter(Boolean).map((line) => (typeof line === 'string' ? h('span', { dir: 'auto' }, line) : line)));
}

// A place for it. `during(words, run)` says what is under way, then what failed; what `run` gives is shown.
export function saying() {
  const place = h('div', { role: 'status', 'aria-live': 'polite' });
  place.say = (...children) => put(place, ...children);
  place.during = async (words, run) => {
    place.say(told('info', words));
    try {
      const made = await run();
      place.say(made ?? null);
      return true;
    } catch (error) {
      place.say(told('bad', sentence(error.message)));
      if (error.name !== 'ApiError') reportError(error);
      return false;
    }
  };
  return place;
}

// After a change: what waits for a restart, and what else happened.
export function consequences(changed) {
  const waiting = changed.restart.length ? [`What changed in ${changed.restart.join(', ')} waits for the next start.`] : [];
  return [...changed.notes, ...waiting];
}
