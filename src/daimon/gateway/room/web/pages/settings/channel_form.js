// Adding a channel: a form drawn from what the gateway says it needs, tried live before it is written; then a code that pairs a chat.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { button, field, input, select } from '../../js/parts.js';
import { consequences, saying, told } from './told.js';

export function channelForm(form, { known, ondone, submit = 'Check and add' } = {}) {
  const fields = form.fields.map((each) => [each, control(each, known?.settings[each.name])]);
  const secrets = form.secrets.map((each) => [each, input({ type: 'password', autocomplete: 'new-password', placeholder: known ? 'Kept; fill in to replace' : '' })]);
  const password = form.has_password && input({ type: 'password', autocomplete: 'new-password' });
  const result = saying();
  const values = (pairs) => Object.fromEntries(pairs.map(([each, control]) => [each.name, control.value.trim()]).filter(([, value]) => value));
  const drawn = ([each, control]) => field(each.is_needed ? each.title : `${each.title} (optional)`, control, { hint: each.hint });

  const add = (more = {}) => result.during(`Asking ${form.title} whether it lets the agent in …`, async () => {
    const added = await api.post(`/v1/settings/channels/${form.name}`, { fields: { ...values(fields), ...more }, secrets: values(secrets), password: password ? password.value : '' });
    for (const [, control] of secrets) control.value = '';
    if (password) password.value = '';
    const found = added.checked;
    const advised = Object.entries(found?.advised ?? {}).map(([setting, value]) => h('span', `The server suggests ${setting} = ${value}. `, button('Set it', { kind: 'quiet', onclick: () => add({ [setting]: value }) })));
    const shown = told('good', `${form.title} lets the agent in as ${found?.who}.`, ...(found?.facts ?? []), ...(found?.warnings ?? []), ...advised, ...consequences(added.changed));
    await ondone?.(added, shown);
    return shown;
  });
  return h('form', { class: 'settings-form', onsubmit: (event) => { event.preventDefault(); add(); } },
    h('p', { class: 'dim' }, `${form.title}: ${form.how}.`),
    h('div', { class: 'settings-two' }, fields.filter(([each]) => each.is_needed).map(drawn), secrets.map(drawn), password && field('Or its password', password, { hint: 'Used once to log in, and not kept.' })),
    fields.some(([each]) => !each.is_needed) && h('details', h('summary', 'More'), h('div', { class: 'settings-two' }, fields.filter(([each]) => !each.is_needed).map(drawn))),
    h('div', { class: 'settings-actions' }, button(submit, { kind: 'primary', type: 'submit' })), result);
}

function control(each, value = '') {
  return each.options.length ? select([['', 'As usual'], ...each.options], { value }) : input({ value });
}

// A pairing code, with where to say it. Resolves what is to be shown.
export async function pairing({ checked } = {}) {
  const made = await api.post('/v1/people/invitations', {});
  const code = `${made.code.slice(0, 4)}-${made.code.slice(4)}`;
  const until = new Date(made.until).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  return h('div', { class: 'stack' }, h('div', { class: 'settings-code', 'aria-label': 'Pairing code' }, code),
    h('p', { class: 'dim' }, `Say it in ${checked?.pair_at || 'a chat with the agent there'}. It pairs your own chat, once, until ${until}.`),
    checked?.link && h('p', h('a', { href: checked.link + made.code, target: '_blank', rel: 'noreferrer' }, 'Open the chat with the code')));
}
