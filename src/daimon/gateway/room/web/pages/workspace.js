// One workspace: the tree of its checkpoints and forks, what is different between two of them, and everything that moves it.
// The address holds what is compared: `a` and `b` are checkpoints, `base` (the owner's directory) or `now`.

import { h, put } from '../js/dom.js';
import { get } from '../js/api.js';
import { command, shortcut } from '../js/keys.js';
import { attempt, badge, button, card, menu } from '../js/parts.js';
import { link, setQuery } from '../js/router.js';
import { changes } from './workspace/changes.js';
import * as deeds from './workspace/deeds.js';
import { tree } from './workspace/tree.js';

export const title = 'Workspace';
const PAUSE_MS = 800;

export default async function page(root, { params, query, signal, on, head }) {
  const at = `/v1/room/workspaces/${encodeURIComponent(params.id)}`;
  const shown = { a: query.a || 'base', b: query.b || 'now' };
  const treeBox = h('div', { class: 'tree-box' }), changesBox = h('div', { class: 'stack' });
  let found = null, timer = 0;

  const context = { refresh, compare, restore: (to) => run({ do: 'restore', to }), fork: (from) => deeds.fork(found.workspace, from) };
  const run = (wish) => deeds.act(found, wish, refresh);
  const files = changes(params.id, signal, { apply: (paths) => run({ do: 'apply', paths }) });

  async function refresh({ isQuiet = false } = {}) {
    found = await get(at);
    if (signal.aborted) return;
    frame();
    put(treeBox, tree(found, shown, context));
    if (!isQuiet || !files.isOpen()) await files.show(found, shown, compare);
  }

  function compare(change) {
    Object.assign(shown, change);
    setQuery({ a: shown.a === 'base' ? null : shown.a, b: shown.b === 'now' ? null : shown.b });
    put(treeBox, tree(found, shown, context));
    return attempt(() => files.show(found, shown, compare));
  }

  function frame() {
    const { workspace, family } = found;
    const more = button('More', { kind: 'quiet', 'aria-haspopup': 'menu', onclick: (event) => menu(event.currentTarget, [
      { text: 'Make a checkpoint', run: () => deeds.checkpoint(found, refresh) },
      { text: 'Undo the last change', run: () => run({ do: 'undo' }) },
      { text: 'Fork from here', run: () => deeds.fork(workspace, '') },
      ...(family.length > 1 ? [{ text: 'Merge into another workspace', run: () => deeds.merge(found, refresh) }] : []),
      { text: 'Discard this workspace', danger: true, run: () => deeds.discard(found) },
    ]) });
    head({
      title: workspace.name,
      actions: [more, button('Checkpoint', { class: 'button wide-only', onclick: () => deeds.checkpoint(found, refresh) }), button('Undo', { class: 'button wide-only', key: 'u', onclick: () => run({ do: 'undo' }) }), button('Apply', { kind: 'primary', onclick: () => run({ do: 'apply' }) })],
    });
  }

  await refresh();
  const { workspace } = found;
  const copies = workspace.engine === 'copies' && badge('kept by copies', 'warn');
  put(root, h('div', { class: 'row is-wrapping small dim workspace-where' }, link('/workspaces', 'All workspaces'), h('span', { 'aria-hidden': 'true' }, '·'), h('bdi', { class: 'mono' }, workspace.base), copies, found.is_cut && badge('older checkpoints are not shown', 'info')),
    h('div', { class: 'workspace-columns' }, card('Checkpoints', { bare: true }, treeBox), changesBox));
  put(changesBox, files.root);

  shortcut('u', 'Undo the last change', () => run({ do: 'undo' }), { signal });
  shortcut('j', 'Next checkpoint', () => step(1), { signal });
  shortcut('k', 'Checkpoint before', () => step(-1), { signal });
  command({ title: 'Apply to the directory', hint: workspace.name, run: () => run({ do: 'apply' }), signal });
  command({ title: 'Make a checkpoint', hint: workspace.name, run: () => deeds.checkpoint(found, refresh), signal });
  command({ title: 'Fork this workspace', hint: workspace.name, run: () => deeds.fork(found.workspace, ''), signal });

  function step(by) {
    const all = [...treeBox.querySelectorAll('.point-pick')], here = all.indexOf(document.activeElement);
    all[Math.min(all.length - 1, Math.max(0, here + by))]?.focus();
  }
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { if (!signal.aborted) refresh({ isQuiet: true }).catch(() => {}); }, PAUSE_MS);
  };
  on('turn', (update) => { if (update.state !== 'running') later(); });
  on('refresh', later);
  signal.addEventListener('abort', () => clearTimeout(timer));
}
