// What was allowed ahead of time, until when, and a way to take it back.

import { h, put } from '../../js/dom.js';
import { del, get, rights } from '../../js/api.js';
import { link } from '../../js/router.js';
import { attempt, badge, button, confirm, empty, loading, table, time, toast, toggle } from '../../js/parts.js';

const covers = ({ tool, destinations, targets, job }) => [tool || 'any tool', destinations.length && `to ${destinations.join(', ')}`, targets.length && `on ${targets.join(', ')}`, job && `in ${job} only`].filter(Boolean).join(' ');
const isOver = (each) => each.revoked_at || (each.grant.until && new Date(each.grant.until) <= new Date());

export async function grants(root, { signal }) {
  let all = false, rows = [];
  put(root, loading());

  async function read() {
    rows = await get('/v1/grants', { all: all ? 'true' : '' });
    if (!signal.aborted) draw();
  }

  async function revoke({ grant }) {
    const isMeant = await confirm({ title: 'Take this grant back?', text: `${covers(grant)}: it asks again from now on. A call that it allowed and that has not begun does not run.`, yes: 'Take it back', danger: true });
    if (!isMeant) return;
    if (await attempt(() => del(`/v1/grants/${encodeURIComponent(grant.id)}`))) toast('Taken back');
    await read();
  }

  function draw() {
    const columns = [
      { title: 'Without asking', cell: ({ grant }) => h('span', { dir: 'auto' }, covers(grant)) },
      { title: 'Who', tight: true, cell: ({ grant }) => grant.agent },
      { title: 'Given', tight: true, cell: ({ grant }) => h('span', time(grant.at), ' ', grant.id.includes(':') && link(`/runs/${grant.id.split(':')[0]}?step=${grant.id.split(':')[1]}`, 'run')) },
      { title: 'Until', tight: true, cell: (each) => (each.revoked_at ? h('span', badge('taken back', 'bad'), ' ', time(each.revoked_at)) : isOver(each) ? badge('over') : each.grant.until ? time(each.grant.until) : 'no end') },
      { title: '', name: 'Take back', tight: true, cell: (each) => !isOver(each) && rights.has('approve') && button('Take back', { kind: 'danger', onclick: () => revoke(each), 'aria-label': `Take back: ${covers(each.grant)}` }) },
    ];
    const nothing = empty(all ? 'Nothing was ever granted' : 'No grant is in force', 'Answer a question with “Allow for a week” or the like, and what it covers stands here until it ends.');
    put(root, h('div', { class: 'stack' }, toggle('Show those that are over', { checked: all, onchange: (on) => { all = on; return attempt(read); } }), h('div', { class: 'card' }, table(columns, rows, { caption: 'Grants', empty: nothing }))));
  }
  await read();
}
