// Checkpoints as a tree, the newest on top. Every line of work has a lane; a fork leaves its lane at the checkpoint where it began, a merge
// comes back. A row is drawn by itself, so that it can be as tall as its words, and holds buttons: no picture has to be aimed at.

import { h, svg } from '../../js/dom.js';
import { badge, iconButton, menu, time } from '../../js/parts.js';
import { link } from '../../js/router.js';
import * as icons from '../../js/icons.js';

const LANE = 16, HEIGHT = 54, MID = 20, MOST_LANES = 8, COLOURS = 5;

export function tree(found, shown, context) {
  const now = { id: 'now', workspace: found.workspace.id, parent: found.workspace.head, why: found.workspace.is_changed ? 'Now: changed since the last checkpoint' : 'Now: as in the last checkpoint' };
  const rows = laid([now, ...found.points]);
  const width = Math.min(MOST_LANES, Math.max(...rows.map((each) => each.width)));
  const names = new Map(found.family.map((each) => [each.id, each]));
  return h('ol', { class: 'tree', role: 'list', vars: { '--lanes': `${width * LANE + 8}px` } }, rows.map((each) => row(each, { found, shown, context, names, width })));
}

// For each point its lane, and the lanes that come in from above and go on below. A lane holds the id of the checkpoint that it leads to.
export function laid(points) {
  const known = new Set(points.map((each) => each.id));
  let lanes = [];
  return points.map((point) => {
    const above = [...lanes];
    let lane = lanes.indexOf(point.id);
    if (lane < 0) lane = free(lanes);
    lanes = lanes.map((id) => (id === point.id ? null : id));
    const leads = [point.parent, point.merged].filter((id) => id && known.has(id)).map((id, i) => {
      let to = lanes.indexOf(id);
      if (to < 0) { to = i === 0 && !lanes[lane] ? lane : free(lanes); lanes[to] = id; }
      return to;
    });
    while (lanes.length && !lanes.at(-1)) lanes.pop();
    return { point, lane, above, below: [...lanes], leads, width: Math.max(above.length, lanes.length, lane + 1) };
  });
}

function free(lanes) {
  const at = lanes.findIndex((id) => !id);
  return at < 0 ? lanes.length : at;
}

function drawn({ point, lane, above, below, leads }, width) {
  const x = (n) => 12 + Math.min(n, MOST_LANES - 1) * LANE, lines = [];
  const line = (from, y1, to, y2) => {
    const half = (y1 + y2) / 2, d = from === to ? `M${x(from)} ${y1}V${y2}` : `M${x(from)} ${y1}C${x(from)} ${half} ${x(to)} ${half} ${x(to)} ${y2}`;
    lines.push(svg('path', { d, class: `lane-${Math.max(from, to) % COLOURS}` }));
  };
  above.forEach((id, i) => {
    if (id === point.id) line(i, 0, lane, MID);
    else if (id && below[i] === id) line(i, 0, i, HEIGHT);
  });
  for (const to of leads) line(lane, MID, to, HEIGHT);
  const dot = svg('circle', { cx: x(lane), cy: MID, r: point.id === 'now' ? 5 : 4, class: [`lane-${lane % COLOURS}`, point.id === 'now' && 'is-now'] });
  return svg('svg', { class: 'tree-lanes', width: width * LANE + 8, height: HEIGHT, viewBox: `0 0 ${width * LANE + 8} ${HEIGHT}`, 'aria-hidden': 'true' }, lines, dot);
}

function row(each, { found, shown, context, names, width }) {
  const { point } = each, isNow = point.id === 'now';
  const since = isNow ? 'base' : point.parent ?? 'base';
  const isPicked = shown.b === point.id && (shown.a === since || isNow);
  const other = point.workspace !== found.workspace.id && names.get(point.workspace);
  const heads = found.family.filter((space) => space.head === point.id && space.id !== found.workspace.id);
  const marks = [
    point.id === found.workspace.head && badge('last', 'accent'),
    heads.map((space) => link(`/workspaces/${encodeURIComponent(space.id)}`, badge(h('bdi', space.name), 'info'))),
    other && !heads.length && h('bdi', { class: 'dim cut' }, other.name),
    point.merged && badge('merge'), point.is_sealed === false && badge('not sealed', 'warn'),
  ];
  const pick = h('button', { class: 'point-pick', type: 'button', 'aria-current': isPicked ? 'true' : undefined, title: isNow ? 'What is different from your directory' : 'What was done up to here', onclick: () => context.compare({ a: since, b: point.id }) }, h('span', { dir: 'auto' }, isNow ? point.why : capital(point.why)));
  const about = isNow ? null : h('div', { class: 'row small dim point-about' }, h('span', { class: 'mono' }, point.id), time(point.at), point.turn && link(`/runs/${encodeURIComponent(point.turn)}?step=${point.step}`, 'by a run'), marks);
  return h('li', { class: ['point', isPicked && 'is-picked'], data: { point: point.id } }, drawn(each, width), h('div', { class: 'point-main' }, pick, about ?? h('div', { class: 'row small dim point-about' }, 'Compared with your directory')), !isNow && more(point, context));
}

function more(point, context) {
  return iconButton(icons.more, `What to do with ${point.id}`, { 'aria-haspopup': 'menu', onclick: (event) => menu(event.currentTarget, [
    { text: 'Compare with now', run: () => context.compare({ a: point.id, b: 'now' }) },
    { text: 'Compare with your directory', run: () => context.compare({ a: 'base', b: point.id }) },
    { text: 'Go back to here', run: () => context.restore(point.id) },
    { text: 'Fork from here', run: () => context.fork(point.id) },
  ]) });
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
