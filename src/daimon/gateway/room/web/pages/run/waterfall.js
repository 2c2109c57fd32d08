// The rows of a run on one axis of time. Long waits, in which nothing else happens, are squeezed into narrow hatched bands, or nothing but
// them would be seen; the axis says how long they were. Rows have one height, so the place of each is known without drawing the others. Of
// many rows the axis shows the time of those in view, unless one wants the whole.

import { h, put } from '../../js/dom.js';
import { duration, toggle } from '../../js/parts.js';

const ROW = 30, AROUND = 12, TICKS = 6, LEAST = 0.35, MANY = 60;
const NAMES = { event: 'Event', context: 'Context', model: 'Model', policy: 'Policy', call: 'Call', wait: 'Wait', checkpoint: 'Checkpoint', answer: 'End' };

export function waterfall({ span, want, onpick, onopen }) {
  let frame = { count: 0, idle: [], end: 0 }, picked = 0, scheduled = 0, isWhole = false;
  const axis = h('div', { class: 'fall-axis', 'aria-hidden': 'true' });
  const room = h('div', { class: 'fall-room', role: 'presentation' }), bands = h('div', { class: 'fall-lane' }), rows = h('div', { class: 'fall-rows', role: 'presentation' });
  const box = h('div', { class: 'fall-box', tabindex: '0', role: 'listbox', 'aria-label': 'What happened, in order', onkeydown: press, onscroll: soon }, room);
  const whole = toggle('Whole time', { onchange: (on) => { isWhole = on; paint(); } });
  const legend = h('div', { class: 'fall-legend' }, Object.entries(NAMES).map(([kind, name]) => h('span', { 'aria-hidden': 'true' }, h('i', { class: `is-${kind}` }), name)), whole);
  const element = h('section', { class: 'fall', 'aria-label': 'Waterfall' }, legend, h('div', { class: 'fall-head', 'aria-hidden': 'true' }, h('span', 'What'), axis), box);
  room.append(h('div', { class: 'fall-bands', 'aria-hidden': 'true' }, h('span'), bands), rows);
  const watching = new ResizeObserver(soon);
  watching.observe(box);

  function soon() { scheduled ||= requestAnimationFrame(() => { scheduled = 0; paint(); }); }

  function draw(next) {
    frame = next;
    whole.hidden = frame.count <= MANY;
    room.style.setProperty('--rows', String(frame.count));
    paint();
  }

  // The time that the axis shows.
  function view() {
    const first = Math.floor(box.scrollTop / ROW), last = Math.ceil((box.scrollTop + box.clientHeight) / ROW);
    const shown = Array.from({ length: Math.max(0, Math.min(last, frame.count) - first) }, (_, i) => span(first + i)).filter(Boolean);
    if (isWhole || frame.count <= MANY || !shown.length) return { idle: frame.idle, start: 0, end: frame.end };
    const start = Math.min(...shown.map((each) => each.start_ms)), end = Math.max(start + 1, ...shown.map((each) => each.end_ms ?? frame.end));
    return { idle: frame.idle.filter((each) => each.start_ms >= start && each.end_ms <= end), start, end };
  }

  function lines(at, { idle, start }) {
    put(axis, ...Array.from({ length: TICKS }, (_, i) => h('span', { vars: { '--x': `${(100 * i) / (TICKS - 1)}%` }, class: i === TICKS - 1 ? 'is-last' : '' }, i && start ? `+${duration(at.back(i / (TICKS - 1)) - start)}` : duration(at.back(i / (TICKS - 1))))));
    put(bands, idle.map((each) => h('div', { class: 'fall-band', vars: { '--x': `${100 * at(each.start_ms)}%`, '--w': `${100 * (at(each.end_ms) - at(each.start_ms))}%` } }, h('span', duration(each.end_ms - each.start_ms)))));
  }

  function paint() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - AROUND);
    const last = Math.min(frame.count, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + AROUND);
    const seen = view(), at = scale(seen), made = [];
    lines(at, seen);
    for (let n = first; n < last; n++) {
      const each = span(n);
      if (!each) want(n);
      made.push(row(n, each, at));
    }
    put(rows, made);
    box.setAttribute('aria-activedescendant', picked >= first && picked < last ? `span-${picked}` : '');
  }

  function row(n, each, at) {
    const props = { class: ['fall-row', each && `is-${each.kind}`, each && `tone-${each.tone}`], id: `span-${n}`, role: 'option', 'aria-selected': String(n === picked), 'aria-setsize': frame.count, 'aria-posinset': n + 1, vars: { '--n': String(n) }, onclick: () => { pick(n); onopen(n); } };
    if (!each) return h('div', props, h('span', { class: 'fall-name dim' }, '…'));
    const end = each.end_ms ?? frame.end, x = at(each.start_ms), wide = Math.max(0, at(end) - x) * 100;
    const took = each.end_ms === null ? 'goes on' : end > each.start_ms ? duration(end - each.start_ms) : '';
    const isMoment = each.end_ms !== null && end <= each.start_ms;
    props['aria-label'] = `${NAMES[each.kind]}: ${each.title}${took ? `, ${took}` : ''}${each.note ? `. ${each.note}` : ''}`;
    props.title = [each.title, each.note, took].filter(Boolean).join('\n');
    return h('div', props,
      h('span', { class: ['fall-name', each.parent !== null && 'is-inner'] }, h('i', { class: `is-${each.kind}` }), h('span', { class: 'cut', dir: 'auto' }, each.title)),
      h('span', { class: 'fall-lane' }, h('span', { class: ['fall-bar', isMoment && 'is-moment', each.end_ms === null && 'is-open'], vars: { '--x': `${100 * x}%`, '--w': `${Math.max(wide, LEAST)}%` } }), took && h('span', { class: ['fall-took', x > 0.75 && 'is-before'], vars: { '--x': `${100 * x}%`, '--e': `${100 * x + Math.max(wide, LEAST)}%` } }, took)));
  }

  function pick(n) {
    picked = Math.max(0, Math.min(frame.count - 1, n));
    const top = picked * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
    onpick(picked);
    paint();
  }

  function press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1, PageDown: 15, PageUp: -15, Home: -Infinity, End: Infinity, j: 1, k: -1 }[event.key];
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); onopen(picked); return; }
    if (step === undefined) return;
    event.preventDefault();
    pick(step === Infinity ? frame.count - 1 : step === -Infinity ? 0 : picked + step);
  }
  return { element, draw, pick, focus: () => box.focus({ preventScroll: true }), end: () => watching.disconnect() };
}

// From milliseconds to a place from 0 to 1, and back. Each long wait gets the same small share.
function scale({ idle, start, end }) {
  const share = idle.length ? Math.min(0.07, 0.4 / idle.length) : 0;
  const quiet = idle.reduce((sum, each) => sum + each.end_ms - each.start_ms, 0);
  const per = (1 - share * idle.length) / Math.max(end - start - quiet, 0.001);
  const parts = [];
  let t = start, x = 0;
  for (const each of idle) {
    parts.push({ t, x, slope: per });
    x += (each.start_ms - t) * per;
    parts.push({ t: each.start_ms, x, slope: share / Math.max(each.end_ms - each.start_ms, 0.001) });
    [t, x] = [each.end_ms, x + share];
  }
  parts.push({ t, x, slope: per });
  const at = (ms) => { const part = parts.findLast((each) => each.t <= ms) ?? parts[0]; return Math.max(0, Math.min(1, part.x + (ms - part.t) * part.slope)); };
  at.back = (place) => { const part = parts.findLast((each) => each.x <= place + 1e-9) ?? parts[0]; return part.t + (part.slope ? (place - part.x) / part.slope : 0); };
  return at;
}
