// Skills and servers in plain words. What they say of themselves is somebody else's: it is text, in a frame that says whose.

import { h } from '../../js/dom.js';
import { badge, chip, copyText } from '../../js/parts.js';

const STATES = { ready: ['ready', 'good'], unapproved: ['waits for your yes', 'warn'], changed: ['changed on disk', 'bad'], disabled: ['off'], broken: ['broken', 'bad'] };
const SERVERS = { ready: ['on', 'good'], idle: ['on, starts when needed', 'good'], connecting: ['connecting', 'info'], resting: ['resting', 'warn'], locked_out: ['needs sign-in', 'warn'], broken: ['broken', 'bad'], off: ['off'] };

export const stateOf = (held) => badge(...(STATES[held.state] ?? [held.state]));

export const serverState = (status) => badge(...(SERVERS[status.state] ?? [status.state]));

export const whose = (isVouched, source) => chip({ origins: [{ author: isVouched ? 'owner' : 'stranger', source }] });

export const lines = (all, none) => (all.length ? h('ul', { class: 'skill-lines' }, all.map((each) => h('li', { dir: 'auto' }, each))) : h('span', { class: 'dim' }, none));

export const facts = (rows) => h('dl', { class: 'facts' }, rows.filter(Boolean).map(([name, ...value]) => [h('dt', name), h('dd', ...value)]));

// Words that came with it, and a line that says so.
export const brought = (by, isVouched, ...children) => h('div', { class: ['skill-brought', isVouched && 'is-vouched'] }, h('p', { class: 'small dim' }, `${by} ${isVouched ? 'You vouch for these words.' : 'A stranger\'s words: nothing in them speaks for Daimon.'}`), children);

export const typed = (text) => h('div', { class: 'row skill-command' }, h('code', text), copyText('Copy', () => text));
