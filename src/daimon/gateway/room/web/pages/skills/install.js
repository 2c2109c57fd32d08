// A skill from an address: first what it holds and what it needs, then a yes to exactly that version. Nothing of it runs by that.

import { h } from '../../js/dom.js';
import { post } from '../../js/api.js';
import { go } from '../../js/router.js';
import { attempt, bytes, dialog, diff, field, input, toast } from '../../js/parts.js';
import { brought, facts, lines, typed } from './words.js';

export async function install() {
  const source = input({ placeholder: 'https://…/skills.git#PATH', dir: 'ltr', autocapitalize: 'off' });
  const offer = await dialog({
    title: 'Install a skill',
    body: [field('Where it is', source, { hint: 'An https address of a repository or an archive; #PATH for one in it, @REV for a revision. A path is one of the machine that the gateway runs on.' }), h('p', { class: 'small dim' }, 'Or, on that machine:'), typed('daimon skills install SOURCE')],
    onopen: () => source.focus(),
    actions: [{ text: 'Cancel' }, { text: 'Look at it', kind: 'primary', run: () => {
      if (!source.value.trim()) throw new Error('Say where it is.');
      return post('/v1/skills/offer', { source: source.value.trim() });
    } }],
  });
  if (offer && await taken(offer, source.value.trim())) await go(`/skills/${encodeURIComponent(offer.skill.name)}`);
}

// Where it came from, asked again.
export function update(name) {
  return attempt(async () => {
    const offer = await post('/v1/skills/offer', { source: name });
    if (offer.before && offer.before.version === offer.version && offer.before.state !== 'changed') return toast(`${name} is the newest already`);
    return taken(offer, name);
  });
}

async function taken(offer, source) {
  const { skill, before, files, more } = offer;
  const needed = before ? more : offer.asks;
  const made = await dialog({
    title: before ? `Replace ${skill.name}?` : `Install ${skill.name}?`, wide: true,
    body: [
      brought('What its author says.', false, h('p', { dir: 'auto' }, skill.description)),
      facts([
        ['From', h('bdi', offer.source), offer.revision && h('span', { class: 'mono small dim' }, ` ${offer.revision.slice(0, 12)}`)],
        ['Version', h('span', { class: 'mono small' }, offer.version.slice(0, 12))],
        before && ['In the place of', h('bdi', before.source), h('span', { class: 'mono small dim' }, ` ${before.version.slice(0, 12)}`)],
        ['It needs', lines(offer.asks, 'nothing beyond being read')],
        before && more.length > 0 && ['More than you agreed to', lines(more, '')],
        offer.remarks.length > 0 && ['To note', lines(offer.remarks, '')],
        ['Files', lines(files.map((each) => `${each.path} (${bytes(each.size)}${each.is_executable ? ', can be run' : ''})`), 'none')],
      ]),
      before && offer.diff && diff(offer.diff, { label: 'What is different' }),
    ],
    actions: [{ text: 'Cancel' }, { text: needed.length ? 'Install and allow what it needs' : before ? 'Replace' : 'Install', kind: 'primary', run: () => post('/v1/skills', { source, version: offer.version, is_approved: true }) }],
  });
  if (made) toast(`${skill.name} is installed`);
  return Boolean(made);
}
