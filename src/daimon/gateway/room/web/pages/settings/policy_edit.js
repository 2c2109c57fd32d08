// One policy file in an editor. What does not parse is not saved; the line and the reason stand below. What was typed is never lost: a file
// that was changed elsewhere meanwhile is told, and the text stays in the editor.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { button, confirm, dialog, field, input, textarea, toast } from '../../js/parts.js';
import { saying, told } from './told.js';

const SAMPLE = '@id("no.mail.at.night")\n@says("Nothing is sent to anybody by this tool.")\nforbid (principal, action, resource == Tool::"http_request");\n';

export function editing(file, isNew) {
  const name = input({ value: file.name }), text = textarea({ class: 'input settings-editor', rows: 14, spellcheck: 'false', wrap: 'off' });
  text.value = isNew ? SAMPLE : file.text;
  const result = saying();
  const at = () => `/v1/settings/policies/files/${encodeURIComponent(name.value.trim())}`;
  const check = () => result.during('Checking …', async () => {
    const found = await api.post('/v1/settings/policies/check', { name: name.value.trim(), text: text.value });
    if (!found.is_good) return told('bad', ...found.faults);
    return told(found.warnings.length ? 'warn' : 'good', 'This would do.', ...found.warnings);
  });
  const save = async () => {
    await api.put(at(), { text: text.value, version: file.version });
    toast(`${name.value.trim()} is in force`);
    return true;
  };
  const remove = async () => {
    if (!(await confirm({ title: `Remove ${file.name}?`, text: 'Its rules are not in force any more.', yes: 'Remove', danger: true }))) throw new Error('It is still there.');
    await api.del(at(), { version: file.version });
    toast(`${file.name} is removed`);
    return true;
  };
  const body = h('div', { class: 'settings-form' }, isNew && field('Name', name, { hint: 'Small letters, ends with .cedar' }), field('Rules, in Cedar', text, { hint: 'permit or forbid (principal, action, resource) when { … }; with @id and @says in words.' }), h('div', button('Check', { onclick: check })), result);
  return dialog({ title: isNew ? 'New policy file' : file.name, wide: true, body, actions: [!isNew && { text: 'Remove file', kind: 'danger', run: remove }, { text: 'Close' }, { text: 'Save and put in force', kind: 'primary', run: save }].filter(Boolean) });
}
