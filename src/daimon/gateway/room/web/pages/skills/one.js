// One skill: what it says, what it may do, its files and its text, and what its owner can do with it. A yes is to the version that is shown.

import { h } from '../../js/dom.js';
import { del, get, post } from '../../js/api.js';
import { go, link } from '../../js/router.js';
import { attempt, button, card, code, confirm, crumbs, dialog, iconButton, menu, sentence, ticked, time, toast, words } from '../../js/parts.js';
import { more as dots } from '../../js/icons.js';
import { update } from './install.js';
import { used } from './shelf.js';
import { brought, facts, lines, stateOf, whose } from './words.js';

const pathOf = (name) => `/v1/skills/${encodeURIComponent(name)}`;

export async function read({ params }) {
  const [held, uses] = await Promise.all([get(pathOf(params.name)), get('/v1/lessons/uses')]);
  return { held, service: uses.find((each) => each.skill === held.skill.name) };
}

export function draw({ held, service }, context) {
  const { skill, is_vouched: isVouched } = held, isWhole = !['changed', 'broken'].includes(held.state);
  context.head({ title: skill.name, actions: context.mayChange ? actions(held, isWhole, context) : [] });
  return [
    crumbs(link('/skills', 'Skills'), h('bdi', skill.name)),
    card('What it is', {},
      h('div', { class: 'row is-wrapping' }, stateOf(held), whose(isVouched, `skill:${skill.name}`)),
      held.why && h('p', { class: 'skill-why', dir: 'auto' }, ticked(sentence(held.why))),
      brought('What its author says.', isVouched, h('p', { dir: 'auto' }, skill.description || '(nothing)')),
      facts([
        ['It needs', lines(held.asks, 'nothing beyond being read')],
        held.asks.length > 0 && ['You agreed', held.is_approved ? 'yes, to this version' : 'no'],
        ['Used', used(service), service?.last_at && [', last ', time(service.last_at)]],
        skill.triggers.length > 0 && ['Proposed at', h('span', { dir: 'auto' }, skill.triggers.join('; '))],
        ['From', h('bdi', held.source), held.revision && h('span', { class: 'mono small dim' }, ` ${held.revision.slice(0, 12)}`)],
        ['Installed', time(held.at)],
        skill.license && ['License', h('bdi', skill.license)],
        skill.compatibility && ['Made for', h('span', { dir: 'auto' }, skill.compatibility)],
        ['Version', h('span', { class: 'mono small' }, held.version.slice(0, 12))],
      ])),
    card('Files', { note: words(skill.files.length + 1, 'file') }, lines(['SKILL.md', ...skill.files], '')),
    skill.body && card('SKILL.md', { note: 'as the model reads it' }, brought('', isVouched, code(skill.body, { label: 'Text of SKILL.md' }))),
  ];
}

function actions(held, isWhole, context) {
  const { skill, state, is_vouched: isVouched } = held;

  // Also where it was refused: then there is another version to look at.
  async function change(deed, told) {
    if (await attempt(() => post(`${pathOf(skill.name)}/state`, { deed, version: held.version }))) toast(told);
    await context.again();
  }

  const more = [
    isVouched && { text: 'Do not vouch any more', run: () => change('unvouch', `The words of ${skill.name} are a stranger's again`) },
    isWhole && state !== 'disabled' && { text: 'Switch off', run: () => change('disable', `${skill.name} is off`) },
    held.source !== 'learned' && { text: 'Look for a newer version', run: async () => { await update(skill.name); await context.again(); } },
    { text: 'Remove', danger: true, run: () => remove(skill.name) },
  ].filter(Boolean);
  return [
    isWhole && state !== 'disabled' && !held.is_approved && held.asks.length > 0 && button('Approve', { kind: 'primary', onclick: () => approve(held, change) }),
    isWhole && !isVouched && button('Vouch', { onclick: () => vouch(held, change) }),
    state === 'disabled' && button('Switch on', { onclick: () => change('enable', `${skill.name} is on`) }),
    iconButton(dots, `What else to do with ${skill.name}`, { 'aria-haspopup': 'menu', onclick: (event) => menu(event.currentTarget, more) }),
  ].filter(Boolean);
}

async function approve(held, change) {
  const { skill } = held;
  if (await confirm({ title: `Allow ${skill.name} what it needs?`, body: [lines(held.asks, ''), h('p', { class: 'small dim' }, `It holds for version ${held.version.slice(0, 12)}: where another one needs more, you are asked again.`)], yes: 'Allow' })) await change('approve', `${skill.name} may be used`);
}

async function vouch({ skill }, change) {
  const text = 'You have read it, and answer for its words: they count as yours until they change, and acts that follow them are not asked about as a stranger\'s.';
  if (await confirm({ title: `Vouch for ${skill.name}?`, text, yes: 'Vouch' })) await change('vouch', `You vouch for ${skill.name}`);
}

async function remove(name) {
  const foreseen = await get(`${pathOf(name)}/removal`);
  const gone = await dialog({
    title: `Remove ${name}?`, body: [h('p', 'All that came from it goes with it. This cannot be undone.'), doomed(foreseen)],
    actions: [{ text: 'Cancel', autofocus: true }, { text: 'Remove', kind: 'danger', run: () => del(pathOf(name)) }],
  });
  if (!gone) return;
  toast(gone.notes.length ? `${name} is removed, but: ${gone.notes.join('; ')}` : `${name} is removed`, { tone: gone.notes.length ? 'warn' : 'good' });
  await go('/skills');
}

function doomed({ files, tools, forgotten, traces, notes }) {
  const kept = [...Object.entries(forgotten.items).map(([kind, n]) => words(n, kind)), forgotten.payloads && words(forgotten.payloads, 'entry of the journal', 'entries of the journal'), forgotten.claims && words(forgotten.claims, 'claim of the graph', 'claims of the graph')].filter(Boolean);
  const rows = [
    ['Its files', files], ['Its tools', tools], ['Words that came from it', kept], ['Files of the workspace that were made with it', traces.made],
    ['Reminders', traces.reminders], ['Automations', traces.automations], ['Webhooks', traces.hooks], ['Grants', traces.grants],
    ['Stays: files that it changed, for you to look at', traces.changed], ['Cannot be taken away', notes],
  ];
  return facts(rows.map(([title, all]) => all.length > 0 && [title, lines(all, '')]));
}
