// What moves a workspace. Each deed is looked at first: the dialog says what it would do, to how many files and where, and what forbids it.
// What was done can be undone from the toast.

import { h } from '../../js/dom.js';
import { del, post } from '../../js/api.js';
import { attempt, badge, confirm, dialog, field, input, select, toast, words } from '../../js/parts.js';
import { go } from '../../js/router.js';
import { counted, named, total } from './changes.js';

const path = (id) => `/v1/workspaces/${encodeURIComponent(id)}`;
const MOST_SHOWN = 40;

export function act(found, wish, refresh) {
  return attempt(async () => {
    const { workspace } = found;
    const ahead = await foresee(workspace.id, wish);
    const answer = await dialog({ title: titled(ahead, wish, found), wide: true, body: told(ahead), actions: choices(ahead, wish, found) });
    if (answer === 'more') return act(found, { ...wish, with_programs: true }, refresh);
    if (!answer) return undefined;
    await refresh();
    const undo = wish.do !== 'undo' && answer.before !== answer.after ? () => undone(found, answer, refresh) : undefined;
    toast(done(answer), { undo, tone: answer.conflicts.length ? 'bad' : 'good' });
    return answer;
  });
}

const foresee = (id, wish) => post(`/v1/room/workspaces/${encodeURIComponent(id)}/foresight`, wish);

// From the toast. Should something else have happened since, that would be undone instead: then it is shown first.
async function undone(found, { workspace: id, did }, refresh) {
  const ahead = await foresee(id, { do: 'undo' });
  if (ahead.of !== did || ahead.conflicts.length) return act({ ...found, workspace: { ...found.workspace, id } }, { do: 'undo' }, refresh);
  toast(done(await post('/v1/undo', { workspace: id })));
  return refresh();
}

async function send({ do: what, ...wish }, { workspace }) {
  try {
    return await (what === 'undo' ? post('/v1/undo', { workspace: workspace.id }) : post(`${path(workspace.id)}/${what}`, wish));
  } catch (error) {
    if (error.status === 409) error.message = 'Something changed since this was looked at, and nothing was done. Close this and look again.';
    throw error;
  }
}

function choices(ahead, wish, found) {
  if (ahead.conflicts.length) return [{ text: 'Close', autofocus: true }];
  const isMore = ahead.left_out_total > 0 && !wish.with_programs;
  const many = named(ahead.tally);
  const yes = { apply: `Write ${many}`, merge: `Merge ${many}`, restore: 'Go back', undo: ahead.where ? `Write ${many} back` : 'Undo' }[ahead.did];
  return [{ text: 'Cancel' }, isMore && { text: `Write the ${ahead.left_out_total === 1 ? 'one' : ahead.left_out_total} left out, too`, kind: 'danger', value: 'more' },
    (total(ahead.tally) > 0 || ahead.did === 'restore' || ahead.did === 'undo') && { text: yes, kind: ahead.where ? 'danger' : 'primary', autofocus: true, run: () => send(wish, found) }].filter(Boolean);
}

function titled(ahead, wish, found) {
  const into = found.family.find((each) => each.id === wish.into)?.name;
  return { apply: 'Apply to your directory', merge: `Merge ${found.workspace.name} into ${into}`, restore: `Go back to ${wish.to}`, undo: 'Undo' }[ahead.did];
}

function sentence(ahead) {
  const many = named(ahead.tally);
  if (ahead.conflicts.length) return `This cannot be done: ${words(ahead.conflicts.length, 'path')} stand in the way, and then nothing at all is changed.`.replace('1 path stand', '1 path stands');
  if (!total(ahead.tally)) return ahead.did === 'apply' ? 'There is nothing to write.' : 'No file would change.';
  const back = { work: 'what was done since the last checkpoint', merge: 'the last merge', restore: 'the last step back', apply: 'the last apply' }[ahead.of];
  switch (ahead.did) {
    case 'apply': return `Writes ${many} into ${ahead.where}.`;
    case 'merge': return `Changes ${many} in the workspace. Your directory stays as it is.`;
    case 'restore': return `Changes ${many} in the workspace. What is there now is kept as a checkpoint; your directory stays as it is.`;
    default: return `Takes back ${back}: ${ahead.where ? `writes ${many} into ${ahead.where}` : `changes ${many} in the workspace; your directory stays as it is`}.`;
  }
}

function told(ahead) {
  const more = (n, all) => all > n && h('li', { class: 'dim' }, `and ${all - n} more`);
  const part = (title, all, item, whole = all.length) => all.length > 0 && h('div', { class: 'stack is-tight' }, h('h3', title), h('ul', { class: 'deed-list', role: 'list', tabindex: '0', 'aria-label': title }, all.slice(0, MOST_SHOWN).map((each) => h('li', item(each))), more(Math.min(all.length, MOST_SHOWN), whole)));
  return h('div', { class: 'stack' },
    h('p', { class: 'deed-said', dir: 'auto' }, sentence(ahead)),
    part('In the way', ahead.conflicts, (each) => [h('bdi', { class: 'mono strong' }, each.path), h('div', { class: 'small', dir: 'auto' }, each.why)]),
    !ahead.conflicts.length && part(counted(ahead.tally), ahead.rows, (each) => [badge(each.what, { added: 'good', removed: 'bad' }[each.what] ?? 'info'), ' ', h('bdi', { class: 'mono' }, each.path)], total(ahead.tally)),
    part('Left out: these would run by themselves on your machine', ahead.left_out, (each) => h('bdi', { class: 'mono' }, each), ahead.left_out_total),
    ahead.notes.map((each) => h('p', { class: 'dim small', dir: 'auto' }, each)));
}

function done(outcome) {
  const isDirectory = ({ before, after }) => (after ?? before).kind === 'directory';
  const many = named({ added: outcome.changes.length, changed: 0, removed: 0, directories: outcome.changes.filter(isDirectory).length });
  if (!outcome.changes.length) return 'Nothing was different';
  return { apply: `Wrote ${many} into ${outcome.where}`, merge: `Merged ${many}`, restore: `Went back to ${outcome.after}`, undo: outcome.where ? `Wrote ${many} back into ${outcome.where}` : `Undone: ${many}` }[outcome.did];
}

export function checkpoint({ workspace }, refresh) {
  const why = input({ placeholder: 'by hand', dir: 'auto' });
  return attempt(async () => {
    const made = await dialog({ title: 'Make a checkpoint', body: field('What for', why, { hint: 'One can go back to it at any time.' }), onopen: () => why.focus(), actions: [{ text: 'Cancel' }, { text: 'Make it', kind: 'primary', run: () => post(`${path(workspace.id)}/checkpoints`, { why: why.value.trim() }) }] });
    if (!made) return;
    toast(made.id === workspace.head ? `Nothing changed since ${made.id}: that one stands` : `Checkpoint ${made.id}`);
    await refresh();
  });
}

export function fork(workspace, at) {
  const name = input({ placeholder: `${workspace.name} again`, dir: 'auto' });
  return attempt(async () => {
    const where = at ? `at ${at}` : 'as it is now';
    const made = await dialog({ title: `Fork ${workspace.name}`, body: h('div', { class: 'stack' }, h('p', { class: 'dim' }, `Another workspace that begins here, ${where}. Whatever is done there can be merged or thrown away.`), field('Name', name)), onopen: () => name.focus(), actions: [{ text: 'Cancel' }, { text: 'Fork', kind: 'primary', run: () => post(`${path(workspace.id)}/fork`, { name: name.value.trim(), at }) }] });
    if (!made) return;
    toast(`Forked as ${made.name}`);
    go(`/workspaces/${encodeURIComponent(made.id)}`);
  });
}

export function merge(found, refresh) {
  const others = found.family.filter((each) => each.id !== found.workspace.id);
  const into = select(others.map((each) => [each.id, each.name]), { dir: 'auto' });
  return attempt(async () => {
    const picked = others.length === 1 ? others[0].id : await dialog({ title: `Merge ${found.workspace.name}`, body: field('Into', into), actions: [{ text: 'Cancel' }, { text: 'Look at it', kind: 'primary', run: () => into.value }] });
    if (picked) await act(found, { do: 'merge', into: picked }, refresh);
  });
}

export function discard({ workspace, points }) {
  return attempt(async () => {
    const own = points.filter((each) => each.workspace === workspace.id).length;
    const text = `${workspace.name} goes with its ${words(own, 'checkpoint')}${workspace.is_changed ? ' and what was changed since' : ''}. Your directory stays as it is. This cannot be undone.`;
    if (!(await confirm({ title: 'Discard this workspace', text, yes: 'Discard it for good', danger: true }))) return;
    await del(path(workspace.id));
    toast(`${workspace.name} is gone`);
    go('/workspaces');
  });
}
