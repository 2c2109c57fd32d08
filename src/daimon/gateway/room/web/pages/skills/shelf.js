// All skills of the home: how each is, whose words it has, what it needs, how it has served.

import { h } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { button, card, count, empty, table, words } from '../../js/parts.js';
import { install } from './install.js';
import { stateOf, typed, whose } from './words.js';

export async function read() {
  const [all, uses] = await Promise.all([get('/v1/skills'), get('/v1/lessons/uses')]);
  return { all, uses: Object.fromEntries(uses.map((each) => [each.skill, each])) };
}

export const used = (service) => (service?.uses ? `${words(service.uses, 'turn')}, ${count(service.good)} went well` : 'not used yet');

export function draw({ all, uses }, { mayChange }) {
  const columns = [
    { title: 'Name', cell: ({ skill }) => h('bdi', { class: 'nowrap' }, skill.name) },
    { title: 'What it says it is for', cell: ({ skill }) => h('span', { class: 'skill-about dim', dir: 'auto' }, skill.description.slice(0, 300)) },
    { title: 'State', tight: true, cell: stateOf },
    { title: 'Words of', tight: true, cell: (held) => whose(held.is_vouched, `skill:${held.skill.name}`) },
    { title: 'Needs', cell: ({ asks }) => h('span', { class: 'small dim', dir: 'auto' }, asks.join('; ') || 'needs nothing') },
    { title: 'Used', tight: true, cell: ({ skill }) => h('span', { class: 'small dim' }, used(uses[skill.name])) },
  ];
  const begin = h('div', { class: 'stack' }, mayChange && h('div', button('Install a skill', { kind: 'primary', onclick: () => install() })), typed('daimon skills install SOURCE'));
  const nothing = empty('No skill is installed', 'A skill is a directory with a SKILL.md: steps that the agent follows, and scripts that run in a box. You see what it needs before anything of it is used.', begin);
  return card('', { bare: true }, h('div', { class: 'skill-rows' }, table(columns, all, { href: ({ skill }) => `/skills/${encodeURIComponent(skill.name)}`, empty: nothing, caption: 'Skills' })));
}
