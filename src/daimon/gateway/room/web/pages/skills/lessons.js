// What was learned from turns and waits for the owner's word: the difference that it would make, and the runs that it rests on.

import { h } from '../../js/dom.js';
import { get, post } from '../../js/api.js';
import { link } from '../../js/router.js';
import { attempt, badge, button, card, confirm, count, diff, empty, money, sentence, table, time, toast, words } from '../../js/parts.js';

const KINDS = { new: ['new skill', 'info'], refine: ['change', 'accent'], retire: ['to give up', 'warn'] };
const DONE = { new: 'is installed', refine: 'is changed', retire: 'is given up' };

export const read = () => get('/v1/lessons');

export function draw(all, context) {
  if (!all.length) return card('', { bare: true }, empty('No lesson waits', 'After a turn that took many steps, met a failure or was put right by you, a skill may be proposed here. Nothing of it is used before you accept it.'));
  return [h('p', { class: 'dim' }, 'Drafts from the record of your turns. None is used before you accept it; an accepted one counts as your own words.'), all.map((each) => proposal(each, context))];
}

function proposal(lesson, context) {
  const at = `/v1/lessons/${encodeURIComponent(lesson.id)}`;

  async function decide(verb, told) {
    if (await attempt(() => post(`${at}/${verb}`))) toast(told);
    await context.again();
  }

  async function accept() {
    const isMeant = lesson.kind !== 'retire' || await confirm({ title: `Give up ${lesson.skill}?`, text: 'The skill is taken away. What you did with it stays.', yes: 'Give it up', danger: true });
    if (isMeant) await decide('accept', `${lesson.skill} ${DONE[lesson.kind]}`);
  }

  async function reject() {
    if (await confirm({ title: 'Reject this lesson?', text: `${lesson.skill}: the same lesson does not come back.`, yes: 'Reject', danger: true })) await decide('reject', 'Rejected');
  }

  const actions = context.mayChange && [button('Reject', { 'aria-label': `Reject ${lesson.skill}`, onclick: reject }), button(lesson.kind === 'retire' ? 'Give it up' : 'Accept', { kind: 'primary', 'aria-label': `Accept ${lesson.skill}`, onclick: accept })];
  return card(h('span', { class: 'row is-wrapping' }, h('bdi', lesson.skill), badge(...KINDS[lesson.kind])), { actions },
    h('p', { dir: 'auto' }, sentence(lesson.why), ' ', h('span', { class: 'dim small' }, time(lesson.at))),
    h('div', { class: 'stack is-tight' }, h('h3', 'What would change'), diff(lesson.diff, { label: `What ${lesson.skill} would be` })),
    evidence(lesson),
    h('p', { class: 'small dim' }, 'To change its words first: ', h('code', `daimon skills accept ${lesson.id} --edit`)));
}

function evidence({ skill, evidence: all }) {
  const columns = [
    { title: 'Run', cell: (each) => link(`/runs/${encodeURIComponent(each.turn)}`, h('span', { dir: 'auto' }, each.asked.slice(0, 200) || 'a run')) },
    { title: 'When', tight: true, cell: (each) => time(each.at) },
    { title: 'Took', tight: true, cell: (each) => [words(each.calls, 'call'), `, ${count(each.tokens)} tokens`, each.cost !== null && `, ${money(each.cost)}`] },
    { title: 'Ended', tight: true, cell: (each) => h('span', { dir: 'auto' }, each.outcome) },
  ];
  return all.length > 0 && h('div', { class: 'stack is-tight' }, h('h3', 'What it rests on'), h('div', { class: 'skill-rows skill-evidence' }, table(columns, all, { caption: `Runs behind ${skill}` })));
}
