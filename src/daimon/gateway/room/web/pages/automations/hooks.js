// Webhooks: where services post to, and what came. `?hook=NAME` opens one. A secret is never in here: the page says how its owner reads it on
// the machine itself.

import { h, put, putAgain } from '../../js/dom.js';
import { del, get, put as send } from '../../js/api.js';
import { inTurn } from '../../js/order.js';
import { go, link } from '../../js/router.js';
import { attempt, badge, button, card, code, confirm, copyText, crumbs, empty, table, time, toast } from '../../js/parts.js';
import { hookEditor } from './hook-editor.js';
import { address, ran } from './words.js';

const AGAIN_MS = 15000, SOON_MS = 600;
const OUTCOMES = { accepted: ['accepted', 'good'], collected: ['kept', 'good'], filtered: ['held back', ''], refused: ['refused', 'bad'] };
const outcomeOf = (posted) => badge(...(OUTCOMES[posted.outcome] ?? [posted.outcome]));
const there = (name) => `/automations?tab=hooks&hook=${encodeURIComponent(name)}`;

export async function hooks(body, context) {
  if (context.query.hook) return one(body, context);
  if (context.query.new !== undefined) return put(body, hookEditor({ old: null, onsaved: (made) => go(there(made.hook.name)), onwish: (found) => go(there(found.hooked.hook.name)) }).element);
  return all(body, context);
}

async function all(body, { signal, on }) {
  const path = '/v1/room/hooks';
  const columns = [
    { title: 'Name', cell: ({ hooked }) => h('span', { class: 'nowrap' }, hooked.hook.name) },
    { title: 'Address', cell: (row) => h('code', row.address.url) },
    { title: 'Signed as', cell: ({ hooked }) => hooked.hook.scheme, tight: true },
    { title: 'A delivery', cell: ({ hooked }) => (hooked.hook.is_paused ? badge('paused', 'warn') : hooked.hook.mode === 'wake' ? 'begins a run' : 'is kept'), tight: true },
    { title: 'Last', cell: ({ last }) => (last ? h('span', { class: 'row' }, outcomeOf(last), h('span', { class: 'dim small' }, time(last.at))) : h('span', { class: 'dim' }, 'nothing came yet')), tight: true },
  ];
  const nothing = empty('No service may post here yet', 'A webhook takes what GitHub, Slack, Stripe or anything that can sign posts, and wakes the agent or keeps it for an automation.', button('New webhook', { kind: 'primary', onclick: () => go('/automations?tab=hooks&new=1') }));
  const draw = (seen) => put(body, seen.some((each) => !each.address.is_public) && unreachable(), card('', { bare: true }, h('div', { class: 'rows' }, table(columns, seen, { href: ({ hooked }) => there(hooked.hook.name), empty: nothing, caption: 'Webhooks' }))));
  await keepFresh({ read: () => get(path), draw, signal, on });
}

const unreachable = () => h('p', { class: 'warned' }, 'Only this machine reaches these addresses. Let a proxy or tunnel pass on /hooks/ and set gateway.public_url.');

async function one(body, { query, signal, on }) {
  const name = query.hook, own = `/v1/hooks/${encodeURIComponent(name)}`, path = `/v1/room/hooks/${encodeURIComponent(name)}`;
  const top = h('div', { class: 'stack' }), form = h('div'), came = h('div');
  let editing = null;

  function draw(seen) {
    const { hook } = seen.hooked;
    if (!editing || (editing.version() !== seen.version && !editing.isDirty())) {
      editing = hookEditor({ old: hook, version: seen.version, onsaved: () => again(), onwish: (found) => { editing = null; draw(found); } });
      put(form, editing.element);
    }
    put(top, !seen.address.is_public && unreachable(), facts(seen), editing.version() !== seen.version && h('div', { class: 'failure', role: 'status' }, h('span', { class: 'grow' }, 'This webhook was changed elsewhere while you edit it. What you typed is still here.'), button('Show both versions', { onclick: () => attempt(editing.conflict) })));
    putAgain(came, deliveries(seen));
  }

  function facts(seen) {
    const { hook } = seen.hooked;
    const rows = [
      ['Address', h('span', { class: 'url' }, h('code', seen.address.url), copyText('Copy', () => seen.address.url))],
      ['Secret', h('span', 'On the machine itself, ', h('code', `daimon hooks show ${hook.name} --secret`), ' shows it. ', ['slack', 'stripe'].includes(hook.scheme) && ['The service makes it: ', h('code', `daimon secrets rotate ${hook.secret}`), ' takes it.'])],
      ['Answers go', address(hook.to) || 'to you, where you spoke last'],
      hook.filters.length && ['Only', h('span', { dir: 'auto' }, hook.filters.map((each) => `${each.at} is ${each.is_in.join(' or ')}`).join('; '))],
      seen.watched_by.length && ['Collected by', h('span', { class: 'row is-wrapping' }, seen.watched_by.map((each) => link(`/automations/${encodeURIComponent(each)}`, each)))],
    ].filter(Boolean);
    const actions = [button(hook.is_paused ? 'Resume' : 'Pause', { onclick: () => attempt(() => pause(seen)) }), button('Remove', { kind: 'danger', onclick: () => attempt(remove) })];
    return card(hook.name, { actions, note: hook.is_paused ? 'paused: services are told to try later' : '' }, h('dl', { class: 'facts' }, rows.map(([of, value]) => [h('dt', of), h('dd', value)])));
  }

  async function pause({ hooked, version }) {
    await send(own, { ...hooked.hook, is_paused: !hooked.hook.is_paused }, { if_version: version });
    await again();
  }

  async function remove() {
    if (!await confirm({ title: `Remove ${name}?`, text: 'Its address answers nobody any more, and what it kept and nobody collected is gone. The record of deliveries stays.', yes: 'Remove', danger: true })) return;
    await del(own);
    toast(`${name} is removed`);
    go('/automations?tab=hooks');
  }

  // What was read while it was saved may be what stood there before.
  async function read() {
    const known = editing?.version(), seen = await get(path);
    return editing?.version() === known ? seen : read();
  }
  const again = await keepFresh({ read, draw, signal, on, gone: () => go('/automations?tab=hooks', { replace: true }) });
  put(body, crumbs(link('/automations?tab=hooks', 'Webhooks'), h('span', name)), top, came, form);
}

function deliveries(seen) {
  const columns = [
    { title: 'Came', cell: ({ posted }) => time(posted.at), tight: true },
    { title: 'What became of it', cell: ({ posted, run }) => h('span', { class: 'row is-wrapping' }, outcomeOf(posted), ran(run), posted.why && h('span', { class: 'dim', dir: 'auto' }, posted.why)) },
    { title: 'Its id there', cell: ({ posted }) => h('code', posted.key), tight: false },
    { title: 'What it brought', cell: (each) => each.text && h('details', { data: { of: `${each.posted.at} ${each.posted.key}` } }, h('summary', each.is_cut ? 'The beginning' : 'Show'), code(each.text, { label: 'What it brought' })) },
  ];
  return card('What came', { bare: true, note: seen.deliveries.length >= 50 ? 'the last 50' : '' }, table(columns, seen.deliveries, { empty: empty('Nothing came yet', `To try it, let the service send a test, or run daimon hooks test ${seen.hooked.hook.name} on the machine.`), caption: 'Deliveries' }));
}

// Reads, draws, and does both again as things happen. Gives the way to do it at once.
async function keepFresh({ read, draw, signal, on, gone }) {
  let timer = 0;
  const again = inTurn(async () => {
    try { const seen = await read(); if (!signal.aborted) draw(seen); } catch (error) { if (error.status === 404 && !signal.aborted) gone?.(); }
  });
  draw(await read());
  const soon = () => { timer ||= setTimeout(() => { timer = 0; again(); }, SOON_MS); };
  for (const kind of ['change', 'turn', 'refresh']) on(kind, soon);
  const every = setInterval(again, AGAIN_MS);
  signal.addEventListener('abort', () => { clearInterval(every); clearTimeout(timer); }, { once: true });
  return again;
}
