// A call that did not happen: would it be allowed, asked or denied, and by which rules?

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { badge, button, card, field, input, select, toggle } from '../../js/parts.js';
import { ruleRow } from './policies.js';
import { saying } from './told.js';

const AUTHORS = [['owner', 'my own words only'], ['service', 'what a service said'], ['agent', 'what an agent wrote'], ['stranger', 'what a stranger wrote']];
const BASES = { harmless: 'nothing of it has consequences', clean: 'I alone led to it', plan: 'a plan holds it', words: 'each part is my word', none: 'something cannot be shown to be my word', off_plan: 'there is a plan, and it is not in it' };
const VERDICTS = { allow: ['Allowed', 'good', 'It would run without a question.'], ask: ['Asked', 'warn', 'You would be asked first.'], deny: ['Denied', 'bad', 'It would not run.'] };

export function trying(view) {
  const agent = select(view.agents.map((each) => each.id)), tool = select(view.tools.map((each) => each.name));
  const basis = select([['', 'as it is most often'], ...view.bases.map((each) => [each, BASES[each] ?? each])]);
  const author = select(AUTHORS), whom = input({ value: 'owner' }), to = input({ placeholder: 'anna@example.org' });
  let isActive = false;
  const result = saying();
  const ask = () => result.during('Asking the rules …', async () => {
    const destinations = to.value.split(/[\s,]+/).filter(Boolean);
    const found = await api.post('/v1/settings/policies/suppose', { agent: agent.value, tool: tool.value, basis: basis.value, authors: [author.value], on_behalf: whom.value.trim() || 'owner', destinations, is_active: isActive });
    const [word, tone, text] = VERDICTS[found.verdict];
    const why = found.because.length ? found.because.map(ruleRow) : h('p', 'No rule permits it.');
    return h('div', { class: 'stack', data: { verdict: found.verdict } }, h('div', { class: 'row' }, badge(word, tone), h('span', text)), found.fault && h('p', { class: 'field-error' }, found.fault), h('div', { class: 'stack is-tight' }, why));
  });
  return card('Would this call be allowed?', {}, h('form', { class: 'settings-form', onsubmit: (event) => { event.preventDefault(); ask(); } },
    h('div', { class: 'settings-two' }, field('Agent', agent), field('Tool', tool), field('It stands on', basis), field('The turn has read', author), field('On behalf of', whom, { hint: 'owner, or the name of somebody else' }), field('Goes to', to)),
    toggle('Its text holds links or addresses that are not mine', { onchange: (on) => { isActive = on; } }),
    h('div', button('Ask the rules', { kind: 'primary', type: 'submit' })), result));
}
