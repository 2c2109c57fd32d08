// Roles and policies: the rules in force in their own words, the owner's files with a check before each save, agents, and a call to try.

import { h, put } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { setQuery } from '../../js/router.js';
import { attempt, badge, button, card, code, dialog, empty, field, input, list, table, tabs, toast, toggle } from '../../js/parts.js';
import { trying } from './policy_try.js';
import { editing } from './policy_edit.js';
import { saying, told } from './told.js';

export default async function section({ again, query }) {
  const view = await api.get('/v1/settings/policies');
  const box = h('div', { class: 'stack is-wide' }), bar = h('div');
  const all = [{ id: 'rules', title: 'Rules', count: view.rules.length }, { id: 'files', title: 'Your files', count: view.files.length }, { id: 'agents', title: 'Agents', count: view.agents.length }, { id: 'try', title: 'Try a call' }];
  const draw = { rules: () => rules(view), files: () => files(view, again), agents: () => agents(view, again), try: () => trying(view) };
  const pick = (id) => {
    query.tab = id;
    setQuery({ tab: id === 'rules' ? null : id });
    put(bar, tabs(all, id, (next) => { pick(next); bar.querySelector('[aria-selected="true"]').focus(); }));
    put(box, draw[id]());
  };
  pick(draw[query.tab] ? query.tab : 'rules');
  return [view.warnings.map((each) => told('warn', ...each.split('\n'))), bar, box];
}

// A rule that permits to ask is one that asks.
function effectOf({ effect, text }) {
  if (effect === 'forbid') return badge('forbids', 'bad');
  return /action == Action::"ask"/.test(text) ? badge('asks', 'warn') : badge('permits', 'good');
}

export function ruleRow(rule) {
  return h('details', { class: 'settings-rule' }, h('summary', effectOf(rule), h('span', { class: 'grow', dir: 'auto' }, rule.says || h('span', { class: 'mono' }, rule.id)), h('span', { class: 'dim small' }, rule.is_own ? rule.place : 'comes with Daimon')), code(rule.text, { label: `Rule ${rule.id}` }));
}

function rules(view) {
  const result = saying();
  const test = () => result.during('Running the tests …', async () => {
    const rows = await api.post('/v1/settings/policies/cases');
    const failed = rows.filter((each) => !each.is_met);
    return told(failed.length ? 'bad' : 'good', `${rows.length - failed.length} of ${rows.length} cases are as expected.`, ...failed.slice(0, 20).map((each) => `${each.place}, ${each.name}: expected ${each.expect}, found ${each.found}`));
  });
  const never = view.never.length ? `Besides, these never run: ${view.never.join(', ')}.` : '';
  return [
    card('In force', { note: `Version ${view.version}. What no rule permits is denied; one that forbids outweighs all that permit.`, actions: button('Run the tests', { onclick: test }), bare: true }, list(view.rules.map((rule) => h('li', ruleRow(rule))))),
    result,
    h('p', { class: 'dim small' }, `Below all rules is a floor that no rule and no switch lifts: commands that would destroy the machine never run. ${never}`),
  ];
}

function files(view, again) {
  const add = button('New file', { kind: 'primary', onclick: () => editing({ name: 'mine.cedar', text: '', version: '' }, true).then(again) });
  const rows = view.files.map((file) => h('li', h('div', { class: 'settings-row' }, h('div', { class: 'grow stack is-tight' }, h('span', { class: 'strong mono' }, file.name), h('span', { class: 'dim small' }, `${file.text.split('\n').length} lines`)), button('Edit', { 'aria-label': `Edit ${file.name}`, onclick: () => editing(file, false).then(again) }))));
  return card('Your policy files', { actions: add, note: view.directory, bare: true }, rows.length ? list(rows) : empty('No file of yours', 'Only the rules that come with Daimon are in force. A file of yours can permit more, or forbid for good.'));
}

function agents(view, again) {
  const mark = (is) => (is ? 'yes' : '–');
  const columns = [
    { title: 'Agent', cell: (each) => h('span', { class: 'strong nowrap', dir: 'auto' }, each.id) },
    { title: 'Role', cell: (each) => h('span', { class: 'nowrap' }, each.role) },
    { title: 'Tools', number: true, cell: (each) => each.tools },
    { title: 'Reads private', cell: (each) => mark(each.private) },
    { title: 'Reads strangers', cell: (each) => mark(each.outside) },
    { title: 'Acts', cell: (each) => mark(each.acts) },
    { title: '', cell: (each) => (each.is_held_back ? badge('asks before each act', 'warn') : null) },
    { title: '', tight: true, cell: (each) => button('Change', { 'aria-label': `Change ${each.id}`, onclick: () => changing(each, view, again) }) },
  ];
  return [card('Agents', { bare: true }, table(columns, view.agents, { caption: 'Agents' })), h('p', { class: 'dim small' }, 'To read what is private, to read what strangers wrote, and to act: an agent with all three is asked before each act, unless you say that it may hold all.')];
}

async function changing(agent, view, again) {
  const role = input({ value: agent.role }), tools = input({ value: agent.patterns.join(' ') }), description = input({ value: agent.description });
  let all = agent.may_hold_all;
  const body = h('div', { class: 'settings-form' }, field('Role', role, { hint: 'What the rules call it: assistant works, reader asks first; or a name of your own.' }), field('Tools', tools, { hint: `Names with * and ?, apart by blanks. It holds ${agent.tools} now.` }), field('What it is for', description), toggle('May read private things, read strangers and act, without each act being asked', { checked: all, onchange: (on) => { all = on; } }));
  const run = async () => { await api.put(`/v1/settings/agents/${encodeURIComponent(agent.id)}`, { role: role.value.trim(), tools: tools.value.split(/[\s,]+/).filter(Boolean), may_hold_all: all, description: description.value.trim(), version: view.settings_version }); toast(`${agent.id} is changed`); };
  await attempt(() => dialog({ title: `Change ${agent.id}`, body, actions: [{ text: 'Cancel' }, { text: 'Save', kind: 'primary', run }] }));
  await again();
}
