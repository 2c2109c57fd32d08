// Settings: one section at a time, each a module of its own under settings/. The address names the section.

import { h, put } from '../js/dom.js';
import { command } from '../js/keys.js';
import { go, link } from '../js/router.js';
import { failure, loading } from '../js/parts.js';

export const title = 'Settings';

const SECTIONS = [
  ['models', 'Models'], ['channels', 'Channels'], ['people', 'People'], ['devices', 'Devices'], ['secrets', 'Secrets'],
  ['policies', 'Roles and policies'], ['budget', 'Budgets'], ['backup', 'Backup'], ['acts', 'Audit log'], ['about', 'About'],
];

export default async function page(root, context) {
  const section = context.params.section ?? SECTIONS[0][0];
  const name = SECTIONS.find(([id]) => id === section)?.[1];
  for (const [id, text] of SECTIONS) command({ title: `Settings: ${text.toLowerCase()}`, run: () => go(`/settings/${id}`), signal: context.signal });
  const items = SECTIONS.map(([id, text]) => h('a', { class: 'settings-item', href: `/settings/${id}`, 'aria-current': id === section ? 'page' : undefined }, text));
  const nav = h('nav', { class: 'settings-nav', 'aria-label': 'Sections' }, items);
  const content = h('div', { class: 'settings-content stack is-wide' }, loading());
  root.classList.add('settings');
  put(root, nav, content);
  items.find((each) => each.hasAttribute('aria-current'))?.scrollIntoView({ block: 'nearest', inline: 'center' });
  if (!name) return put(content, h('p', 'There is no such section. ', link('/settings/models', 'Models are here.')));
  context.head({ title: 'Settings', note: name });
  const module = await import(`./settings/${section}.js`);

  // Reads and draws the section; also after each change, so that what is seen is what is so.
  async function show() {
    try {
      const made = await module.default({ ...context, again: show });
      if (!context.signal.aborted) put(content, made);
    } catch (error) {
      if (!context.signal.aborted) put(content, failure(error, show));
      if (error.name !== 'ApiError') reportError(error);
    }
  }
  await show();
}
