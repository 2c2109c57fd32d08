// Backups: one now, those that there are, and how often they are made by themselves.

import { h, put } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { attempt, badge, button, bytes, card, empty, field, select, table, time, toast } from '../../js/parts.js';
import { told } from './told.js';

const OFTEN = [['12h', 'Twice a day'], ['1d', 'Every day'], ['3d', 'Every three days'], ['1w', 'Every week'], ['off', 'Never']];
const SOON_MS = 1000;

export default async function section({ again, signal }) {
  const view = await api.get('/v1/settings/backups');
  const work = h('div', { role: 'status', 'aria-live': 'polite' }), rows = h('div');
  let timer = 0;
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  function draw(now) {
    put(work, now.work && workWords(now.work));
    put(rows, listed(now));
    clearTimeout(timer);
    if (now.work?.state === 'running' && !signal.aborted) timer = setTimeout(() => attempt(refresh), SOON_MS);
  }
  const refresh = async () => draw(await api.get('/v1/settings/backups'));
  const begin = (path) => attempt(async () => { await api.post(path); await refresh(); });
  function listed(now) {
    const at = (row) => `/v1/settings/backups/${encodeURIComponent(row.name)}`;
    const columns = [
      { title: 'Made', cell: (row) => time(row.made_at) },
      { title: 'Size', number: true, cell: (row) => bytes(row.size) },
      { title: 'File', cell: (row) => h('span', { class: 'mono' }, row.name) },
      { title: '', cell: (row) => [row.is_auto && badge('by schedule'), !row.is_readable && badge('cannot be read', 'bad'), row.is_readable && !row.has_workspaces && badge('without workspaces', 'warn')] },
      { title: '', tight: true, cell: (row) => h('div', { class: 'row' }, button('Verify', { 'aria-label': `Verify ${row.name}`, onclick: () => begin(`${at(row)}/verify`) }), h('a', { class: 'button', href: `${at(row)}/file`, download: row.name, 'aria-label': `Download ${row.name}` }, 'Download')) },
    ];
    return table(columns, now.backups, { caption: 'Backups', empty: empty('No backup yet', 'One is made by itself when something happened, or now by the button above.') });
  }
  const every = select(OFTEN.some(([id]) => id === view.every) ? OFTEN : [...OFTEN, [view.every, `Every ${view.every}`]], { value: view.every, onchange: () => attempt(async () => {
    const changed = await api.put('/v1/settings/backups/schedule', { version: view.version, every: every.value });
    toast(changed.restart.length ? 'Saved; it counts from the next start on' : 'Saved');
  }).then(again) });
  draw(view);
  return [
    card('Backups', { actions: button('Make one now', { kind: 'primary', onclick: () => begin('/v1/settings/backups') }), note: view.directory, bare: true }, rows),
    work,
    view.warnings.map((each) => told('warn', each)),
    card('Schedule', { note: `Kept: ${view.keep_daily} days, ${view.keep_weekly} weeks, ${view.keep_monthly} months.` }, h('div', { class: 'settings-two' }, field('Made by itself', every, { hint: 'If something happened since the last one.' }))),
    h('p', { class: 'dim small' }, 'A backup holds your words and keys, unencrypted. Each was restored once before it got its name. Keep a copy on another disk; ', h('code', 'daimon restore FILE'), ' brings it back.'),
  ];
}

function workWords(work) {
  const did = work.did === 'make' ? 'Backup' : `Check of ${work.name}`;
  if (work.state === 'running') return told('info', `${did} under way, since `, time(work.since));
  return work.state === 'done' ? told('good', `${did} done: ${work.name}, ${work.said}. It came back whole.`) : told('bad', `${did} failed: ${work.said}`);
}
