// About: which version, where everything is, and what it warns of.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { bytes, card, count, empty, time } from '../../js/parts.js';
import { link } from '../../js/router.js';
import { told } from './told.js';

export default async function section() {
  const status = await api.get('/v1/status');
  const facts = [['Version', status.version], ['Home', h('code', status.home)], ['Running since', time(status.started_at)], ['Process', status.pid], ['Answers', status.model], ['Journal', `${bytes(status.count.bytes)}, ${count(status.count.events)} events, ${count(status.count.steps)} steps`]];
  return [
    card('Daimon', { actions: link('/welcome', 'Run the set-up again') }, h('dl', { class: 'facts' }, facts.flatMap(([name, value]) => [h('dt', name), h('dd', value)]))),
    card('Warnings', {}, status.warnings.length ? h('div', { class: 'stack' }, status.warnings.map((each) => told('warn', ...each.split('\n')))) : empty('None', 'Everything is as it should be.')),
  ];
}
