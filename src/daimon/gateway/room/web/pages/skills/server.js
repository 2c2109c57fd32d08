// One server: its tools, what each may do, and what is new or different since the owner agreed. A yes goes with the hash of what stands here,
// so nobody agrees to what came after they looked.

import { h } from '../../js/dom.js';
import { del, get, post } from '../../js/api.js';
import { go, link } from '../../js/router.js';
import { attempt, badge, button, card, code, crumbs, dialog, diff, duration, empty, time, toast, toggle, words } from '../../js/parts.js';
import { brought, facts, lines, serverState, typed, whose } from './words.js';
import { waits } from './servers.js';

const STATES = { offered: ['offered', 'good'], new: ['new', 'info'], changed: ['changed', 'warn'], gone: ['gone'] };
const pathOf = (name) => `/v1/servers/${encodeURIComponent(name)}`;

export const read = ({ query }) => get(pathOf(query.server));

export function draw(account, context) {
  const { status, tools } = account, isWaiting = (each) => each.state === 'new' || each.state === 'changed';
  const waiting = tools.filter(isWaiting), others = tools.filter((each) => !isWaiting(each));
  const isThere = !['off', 'broken'].includes(status.state);
  context.head({ title: status.name, note: 'server', actions: isThere && context.mayChange ? [button('Ask it what it has', { onclick: () => ask(status.name, context) })] : [] });
  return [
    crumbs(link('/skills?tab=servers', 'Servers'), h('bdi', status.name)),
    card('How it is', {},
      h('div', { class: 'row is-wrapping' }, serverState(status), waits(status), whose(status.is_vouched, `mcp:${status.name}`)),
      (status.why || status.notes.length > 0) && brought('What was noted; what the server said or printed may be part of it.', false, lines([status.why, ...status.notes].filter(Boolean), '')),
      facts([
        ['Where', h('span', { class: 'mono small', dir: 'ltr' }, status.where)],
        status.since && ['Connected', time(status.since), status.version && h('span', { class: 'dim' }, `, protocol ${status.version}`)],
      ]),
      commands(status, context)),
    waiting.length > 0 && card('Waits for your yes', { note: 'not offered until then', actions: waiting.length > 1 && context.mayChange && [button(`Approve all ${waiting.length}`, { onclick: () => approve(status.name, waiting, context) })] }, waiting.map((each) => tool(each, status, context))),
    (others.length > 0 || !waiting.length) && offered(others, status, context),
  ];
}

function commands(status, context) {
  const { name } = status, isOff = status.state === 'off';
  return h('div', { class: 'stack is-tight' }, status.state === 'locked_out' && [h('h3', 'To sign in'), status.scopes.length > 0 && h('p', { class: 'small' }, 'It wants these rights: ', h('span', { class: 'mono', dir: 'ltr' }, status.scopes.join(' '))), typed(`daimon mcp login ${name}`)],
    context.mayChange && h('div', { class: 'row is-wrapping' }, button(isOff ? 'Switch on' : 'Switch off', { onclick: () => change(name, isOff, context) }), button('Remove', { kind: 'danger', onclick: () => remove(name) })));
}

async function change(name, isOn, context) {
  if (await attempt(() => post(`${pathOf(name)}/state`, { is_on: isOn }))) toast(`${name} is ${isOn ? 'on' : 'off'}`);
  await context.again();
}

async function remove(name) {
  let forgets = false;
  const body = [h('p', 'Its tools are gone, with what you agreed to and its tokens.'), toggle('Delete for good all that came from it: in memory and journal, files, reminders, automations', { onchange: (on) => { forgets = on; } })];
  const gone = await dialog({ title: `Remove ${name}?`, body, actions: [{ text: 'Cancel' }, { text: 'Remove', kind: 'danger', autofocus: true, run: () => del(pathOf(name)) }] });
  if (!gone) return;
  if (forgets) await attempt(() => del('/v1/memory/source', { name: `mcp:${name}` }).catch((error) => { if (error.status !== 404) throw error; }));
  toast(`${name} is removed`);
  await go('/skills?tab=servers');
}

function offered(all, status, context) {
  if (!all.length) return card('Tools', { bare: true }, empty('No tool is offered', 'A tool is offered when its server was asked and you agreed to it.'));
  return card('Tools', { note: words(all.length, 'tool') }, all.map((each) => tool(each, status, context)));
}

function tool(each, status, context) {
  const isWaiting = each.state === 'new' || each.state === 'changed';
  const said = each.text && (each.state === 'changed' ? diff(each.text, { label: `What is different in ${each.tool}` }) : code(each.text, { label: `What the server says of ${each.tool}` }));
  const shown = said && brought(each.state === 'changed' ? 'What is different from what you agreed to.' : 'The server says:', status.is_vouched, said);
  return h('section', { class: 'skill-tool', 'aria-label': each.tool },
    h('div', { class: 'row is-wrapping' }, h('h3', { class: 'mono' }, h('bdi', each.tool)), badge(...STATES[each.state]), each.is_asked && each.state !== 'gone' && badge('asks after strangers\' words')),
    each.may.length > 0 && h('p', { class: 'small' }, h('span', { class: 'dim' }, 'A call '), each.may.join('; ')),
    each.notes.length > 0 && lines(each.notes, ''),
    isWaiting ? shown : shown && h('details', h('summary', { class: 'small dim' }, 'What it says of itself'), shown),
    isWaiting && context.mayChange && h('div', button('Approve', { kind: 'primary', 'aria-label': `Approve ${each.tool}`, onclick: () => approve(status.name, [each], context) })));
}

async function approve(name, tools, context) {
  const made = await attempt(() => post(`${pathOf(name)}/approve`, { hashes: tools.map((each) => each.hash) }));
  if (made) toast(tools.length === 1 ? `${tools[0].tool} may be used` : `${tools.length} tools may be used`);
  await context.again();
}

async function ask(name, context) {
  const account = await attempt(() => post(`${pathOf(name)}/review`));
  if (account) toast(`${name} answered in ${duration(account.took_ms)}`);
  await context.again();
}
