// Workspaces: every directory that the agent may change without changing it, and the trees that stand on it.

import { h, put } from '../js/dom.js';
import { get, post } from '../js/api.js';
import { command } from '../js/keys.js';
import { badge, button, card, dialog, empty, field, input, table, words } from '../js/parts.js';
import { go } from '../js/router.js';

export const title = 'Workspaces';

export default async function page(root, { signal, on, head }) {
  head({ actions: [button('Open a directory', { kind: 'primary', onclick: open })] });
  command({ title: 'Open a directory as a workspace', run: open, signal });

  async function draw() {
    const all = await get('/v1/workspaces');
    if (signal.aborted) return;
    const bases = [...new Set(all.map((each) => each.base))].sort();
    const none = empty('No workspaces yet', 'The agent makes one when it first works with files. You can open a directory yourself: tools then change layers above it, and your files stay as they are until you apply something.', button('Open a directory', { onclick: open }));
    put(root, bases.length ? bases.map((base) => family(base, all)) : none);
  }
  for (const kind of ['turn', 'refresh']) on(kind, (update) => { if (!update?.state || update.state !== 'running') draw().catch(() => {}); });
  await draw();
}

function family(base, all) {
  const rows = all.filter((each) => each.base === base);
  const columns = [
    { title: 'Name', cell: (each) => h('bdi', each.name) },
    { title: 'Now', cell: (each) => (each.is_changed ? badge('changed since its last checkpoint', 'info') : h('span', { class: 'dim' }, 'as in its last checkpoint')) },
    { title: 'Began', cell: (each) => (each.forked_from ? ['fork at ', h('span', { class: 'mono' }, each.forked_from)] : 'on the directory') },
    { title: 'Last checkpoint', tight: true, cell: (each) => h('span', { class: 'mono' }, each.head) },
  ];
  const copies = rows.some((each) => each.engine === 'copies') && badge('kept by copies', 'warn');
  const made = table(columns, rows, { href: (each) => `/workspaces/${encodeURIComponent(each.id)}`, caption: `Workspaces of ${base}` });
  return card(h('bdi', { class: 'mono' }, base), { note: words(rows.length, 'workspace'), actions: copies && [copies], bare: true }, h('div', { class: 'rows' }, made));
}

async function open() {
  const directory = input({ placeholder: '/home/you/project', dir: 'auto' }), name = input({ placeholder: 'as the directory', dir: 'auto' });
  const made = await dialog({
    title: 'Open a directory',
    body: h('div', { class: 'stack' }, h('p', { class: 'dim' }, 'Nothing in it is changed until you apply something.'), field('Directory on the machine where Daimon runs', directory), field('Name', name)),
    actions: [{ text: 'Cancel' }, { text: 'Open', kind: 'primary', run: () => post('/v1/workspaces', { directory: directory.value.trim(), name: name.value.trim() }) }],
    onopen: () => directory.focus(),
  });
  if (made) go(`/workspaces/${encodeURIComponent(made.id)}`);
}
