// The last step: the first words, and over to the chat.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { button, field, textarea } from '../../js/parts.js';
import { go } from '../../js/router.js';
import { saying } from '../settings/told.js';

const IDEAS = ['Hello! What can you do for me?', 'Remind me in 20 minutes to drink a glass of water.', 'Note that my doctor is Dr. Blum, Tuesdays only.'];

export async function firstWords({ view }) {
  const text = textarea({ rows: 3, dir: 'auto' }), result = saying();
  text.value = view.standing.has_model ? IDEAS[0] : IDEAS[1];
  const say = () => result.during('Saying it …', async () => {
    const taken = await api.post('/v1/events', { type: 'message', text: text.value.trim(), source: 'web' });
    go(`/?c=${encodeURIComponent(taken.conversation)}`);
  });
  return h('section', { class: 'stack is-wide' },
    h('div', { class: 'stack is-tight' }, h('h2', 'Say something'), h('p', { class: 'dim' }, 'All is set up. Say it in your own words; the chat opens with the answer.')),
    h('form', { class: 'settings-form', onsubmit: (event) => { event.preventDefault(); say(); } }, field('Your message', text),
      h('div', { class: 'settings-found' }, IDEAS.map((each) => h('button', { class: 'button is-quiet settings-idea', type: 'button', onclick: () => { text.value = each; text.focus(); } }, each))),
      h('div', button('Say it', { kind: 'primary', type: 'submit' })), result));
}
