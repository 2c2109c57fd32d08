// A conversation in which nothing was said. What is offered works with the built-in model too.

import { h } from '../../js/dom.js';
import { button } from '../../js/parts.js';

const OFFERED = ['What can you do?', 'What time is it in Tokyo?', 'Remind me in 2 minutes to stretch'];

export function welcome(say) {
  return h('div', { class: 'welcome' },
    h('h2', 'What shall we do?'),
    h('p', { class: 'dim' }, 'Write below, or begin with one of these.'),
    h('div', { class: 'welcome-offers' }, OFFERED.map((text) => button(text, { onclick: () => say(text) }))));
}
