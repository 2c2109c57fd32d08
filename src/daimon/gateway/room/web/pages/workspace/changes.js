// What is different between two moments: a list of files in pages, each unfolded into its lines when it is opened, and not before. Between
// the owner's directory and now, files can be picked, to apply those alone.

import { h, put } from '../../js/dom.js';
import { get } from '../../js/api.js';
import { attempt, badge, button, bytes, count, diff, empty, failure, loading, select, words } from '../../js/parts.js';

const SIGNS = { added: ['Added', 'good'], changed: ['Changed', 'info'], removed: ['Removed', 'bad'] };

export function changes(id, signal, { apply }) {
  const at = encodeURIComponent(id), root = h('section', { class: 'card', 'aria-label': 'Changes' });
  let picked = new Set(), applying = null;

  async function show(found, shown, compare) {
    picked = new Set();
    const span = { since: shown.a === 'base' ? '' : shown.a, until: shown.b === 'now' ? '' : shown.b };
    const mayPick = shown.a === 'base' && shown.b === 'now';
    applying = button('Apply the picked files', { kind: 'primary', hidden: true, onclick: () => apply([...picked]) });
    const tally = h('span', { class: 'card-note', role: 'status' }), body = h('div', { class: 'card-body is-bare' }, h('div', { class: 'changes-pad' }, loading()));
    put(root, h('div', { class: 'card-head changes-head' }, h('h2', 'Changes'), ...points(found, shown, compare), tally, applying), body);
    try {
      const first = await get(`/v1/room/workspaces/${at}/changes`, span);
      if (signal.aborted) return;
      put(tally, counted(first.tally));
      const rows = h('ul', { class: 'changes', role: 'list' }), more = h('div', { class: 'changes-pad' });
      put(body, first.rows.length ? [rows, more] : empty('No difference', shown.b === 'now' && shown.a === 'base' ? 'The workspace is like your directory.' : 'These two are the same.'));
      add(first);

      function add(part) {
        rows.append(...part.rows.map((each) => file(each, span, mayPick)));
        put(more, part.next ? button(`Show more of ${count(total(first.tally))}`, { onclick: () => attempt(async () => add(await get(`/v1/room/workspaces/${at}/changes`, { ...span, after: part.next }))) }) : null);
        more.hidden = !part.next;
      }
    } catch (error) {
      if (!signal.aborted) put(body, h('div', { class: 'changes-pad' }, failure(error, () => show(found, shown, compare))));
    }
  }

  function file(each, span, mayPick) {
    const [said, tone] = SIGNS[each.what];
    const inside = h('div', { class: 'change-inside' });
    const about = [badge(said, tone), h('bdi', { class: 'mono change-path' }, each.path), h('span', { class: 'dim small nowrap' }, each.kind === 'file' ? bytes(each.size) : each.kind)];
    const made = each.kind === 'directory' ? h('div', { class: 'change is-plain' }, about) : h('details', { class: 'change', ontoggle: () => { if (made.open && !inside.firstChild) open(each, span, inside); } }, h('summary', about), inside);
    const box = mayPick && h('input', { type: 'checkbox', 'aria-label': `Pick ${each.path}`, onchange: (event) => pick(each.path, event.target.checked) });
    return h('li', { class: 'change-row' }, box, made);
  }

  function pick(path, isPicked) {
    picked[isPicked ? 'add' : 'delete'](path);
    applying.hidden = !picked.size;
    put(applying, `Apply ${count(picked.size)} picked`);
  }

  async function open(each, span, inside) {
    put(inside, loading());
    try {
      const { text } = await get(`/v1/workspaces/${at}/text`, { ...span, path: each.path });
      put(inside, text.trim() ? diff(text, { label: `Changes of ${each.path}` }) : h('p', { class: 'dim' }, 'There is nothing to show of it: it has no lines, or its name is no text.'));
    } catch (error) { put(inside, failure(error, () => open(each, span, inside))); }
  }

  return { root, show, isOpen: () => picked.size > 0 || Boolean(root.querySelector('details[open]')) };
}

function points(found, shown, compare) {
  const all = [['now', 'now'], ['base', 'your directory'], ...found.points.map((each) => [each.id, `${each.id} · ${each.why.slice(0, 60)}`])];
  const pick = (name, of) => select(all.some(([value]) => value === shown[of]) ? all : [...all, [shown[of], shown[of]]], { value: shown[of], 'aria-label': name, dir: 'auto', onchange: (event) => compare({ [of]: event.target.value }) });
  return [h('span', { class: 'row changes-span' }, pick('From', 'a'), h('span', { class: 'dim', 'aria-hidden': 'true' }, '→'), pick('To', 'b'))];
}

export const total = (tally) => tally.added + tally.changed + tally.removed;

// "3 files and 1 directory".
export function named(tally) {
  const files = total(tally) - tally.directories;
  return [files && words(files, 'file'), tally.directories && words(tally.directories, 'directory', 'directories')].filter(Boolean).join(' and ') || 'nothing';
}

export function counted(tally) {
  const parts = Object.keys(SIGNS).filter((each) => tally[each]).map((each) => `${count(tally[each])} ${each}`);
  return parts.join(' · ') || 'nothing';
}
