// Two people, or two tabs, changed one thing. What stands now and what was typed here are shown side by side, and the owner chooses: nothing
// that was typed is thrown away unless they say so.

import { h } from '../../js/dom.js';
import { dialog } from '../../js/parts.js';

const said = (value) => (value === null || value === undefined || value === '' ? '—' : typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value));

// `stands` and `mine` are plain values by field. Gives 'mine', 'theirs', or nothing: go on with what was typed.
export function choose({ what, stands, mine, isGone = false }) {
  const names = Object.keys({ ...stands, ...mine }).filter((name) => said(stands?.[name]) !== said(mine[name]));
  const rows = names.map((name) => h('tr', h('th', { scope: 'row' }, name), h('td', h('pre', { dir: 'auto' }, isGone ? '—' : said(stands[name]))), h('td', h('pre', { dir: 'auto' }, said(mine[name])))));
  const differ = names.length > 0;
  const table = h('div', { class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Both versions' }, h('table', { class: 'table both' }, h('thead', h('tr', ['', 'As it is now', 'As you typed it'].map((each) => h('th', { scope: 'col' }, each || h('span', { class: 'unseen' }, 'Field'))))), h('tbody', rows)));
  const told = isGone ? `${what} was taken away since you opened it. Nothing that you typed is lost.` : differ ? `${what} was changed elsewhere since you opened it. Nothing that you typed is lost.` : `${what} was changed elsewhere, to what you typed here, too.`;
  const actions = [{ text: 'Go on editing' }, !isGone && { text: 'Take the version as it is now', value: 'theirs' }, { text: isGone ? 'Make it again with mine' : 'Save mine over it', kind: 'primary', value: 'mine' }];
  return dialog({ title: 'There are two versions', wide: true, body: [h('p', told), differ && table], actions: actions.filter(Boolean) });
}
