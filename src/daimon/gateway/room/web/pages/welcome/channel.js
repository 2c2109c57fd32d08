// Step two: one channel, with the code that pairs the owner's chat. This page is a channel already.

import { h, put } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { button } from '../../js/parts.js';
import { channelForm, pairing } from '../settings/channel_form.js';
import { told } from '../settings/told.js';

const SOON_MS = 1500;

export async function channelStep({ view, done, signal }) {
  const { forms, channels } = await api.get('/v1/settings/channels');
  const place = h('div'), pair = h('div', { role: 'status', 'aria-live': 'polite' });
  const addable = forms.filter((form) => !channels.some((row) => row.name === form.name));
  let timer = 0;
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  // Waits, with the code on the screen, until the chat is paired.
  async function wait(name) {
    const now = await api.get('/v1/settings/channels');
    if (signal.aborted) return;
    if (now.channels.find((row) => row.name === name)?.is_paired) put(pair, told('good', 'Your chat is paired. The agent answers you there now.'));
    else timer = setTimeout(() => wait(name).catch(() => {}), SOON_MS);
  }
  const added = async (form, made) => {
    if (!made.is_paired) { put(pair, await pairing(made)); wait(form.name).catch(() => {}); }
    await done();
  };
  const choose = (form) => { put(pair); put(place, channelForm(form, { ondone: (made) => added(form, made) })); };
  return h('section', { class: 'stack is-wide' },
    h('div', { class: 'stack is-tight' }, h('h2', 'How do you reach it?'), h('p', { class: 'dim' }, 'This page is a channel already. With another one you talk to your agent from your phone, and it can tell you things. Only people whom you let in get an answer.')),
    view.standing.channels.length > 0 && told('good', `Set up already: ${view.standing.channels.join(', ')}.`),
    h('div', { class: 'settings-found' }, addable.map((form) => button(form.title, { onclick: () => choose(form) }))), place, pair);
}
