// The audit log: what was done to the set-up, by whom, and whether it worked.

import { h } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { badge, card, empty, table, time } from '../../js/parts.js';

const MOST = 200;
// What an act is called; the longest beginning that fits counts. What has no name here is shown as it was recorded.
const NAMES = [
  ['POST /v1/settings/models/offers', 'Looked at what a provider has'], ['POST /v1/settings/models/{name}/test', 'Tried a model'], ['POST /v1/settings/models', 'Set up a model'],
  ['PUT /v1/settings/models/use', 'Changed which models answer'], ['DELETE /v1/settings/models', 'Removed a model'],
  ['POST /v1/settings/channels/{name}/check', 'Checked a channel'], ['POST /v1/settings/channels', 'Set up a channel'], ['DELETE /v1/settings/channels', 'Removed a channel'], ['POST /v1/channels', 'Tried a channel again'],
  ['POST /v1/settings/secrets/{name}/value', 'Replaced a secret'], ['POST /v1/settings/secrets', 'Added a secret'], ['PUT /v1/settings/secrets', 'Changed who may use a secret'], ['DELETE /v1/settings/secrets', 'Removed a secret'],
  ['PUT /v1/settings/policies', 'Changed a policy file'], ['DELETE /v1/settings/policies', 'Removed a policy file'], ['PUT /v1/settings/agents', 'Changed an agent'], ['PUT /v1/settings/budget', 'Changed the limits'],
  ['POST /v1/settings/backups/{name}/verify', 'Verified a backup'], ['GET /v1/settings/backups', 'Downloaded a backup'], ['PUT /v1/settings/backups', 'Changed how often backups are made'], ['POST /v1/settings/backups', 'Made a backup'],
  ['POST /v1/people/invitations', 'Made a pairing code'], ['POST /v1/people/contacts', 'Let somebody in'], ['POST /v1/people', 'Changed what somebody may do'], ['DELETE /v1/people', 'Removed somebody'],
  ['POST /v1/links', 'Made a one-time link'], ['POST /v1/devices/requests', 'Let a device in'], ['DELETE /v1/devices/requests', 'Refused a device'], ['POST /v1/devices', 'Changed what a device may do'], ['DELETE /v1/devices', 'Signed a device out'],
  ['POST /v1/skills/{name}/state', 'Changed a skill'], ['POST /v1/skills/{name}/test', 'Tested a skill'], ['POST /v1/skills', 'Installed a skill'], ['DELETE /v1/skills', 'Removed a skill'],
  ['POST /v1/lessons/{id}/accept', 'Accepted a lesson'], ['POST /v1/lessons', 'Rejected a lesson'], ['POST /v1/servers/{name}/approve', 'Agreed to tools of a server'], ['POST /v1/servers/{name}/review', 'Asked a server what it has'], ['POST /v1/servers/{name}/state', 'Switched a server on or off'], ['POST /v1/servers', 'Connected a server'], ['DELETE /v1/servers', 'Removed a server'],
  ['POST /v1/workspaces/{id}/checkpoints', 'Made a checkpoint'], ['POST /v1/workspaces/{id}/fork', 'Forked a workspace'], ['POST /v1/workspaces/{id}/run', 'Ran a command in a workspace'], ['POST /v1/workspaces/{id}/merge', 'Merged a workspace'], ['POST /v1/workspaces/{id}/restore', 'Went back to a checkpoint'],
  ['POST /v1/workspaces/{id}/apply', 'Applied changes to a directory'], ['POST /v1/workspaces', 'Opened a directory'], ['DELETE /v1/workspaces', 'Discarded a workspace'], ['POST /v1/undo', 'Undid a change'], ['POST /v1/room/workspaces', 'Looked what a change would do'],
  ['POST /v1/memory/items', 'Kept a note'], ['POST /v1/memory/facts', 'Kept a fact'], ['POST /v1/memory/import', 'Imported memory'], ['POST /v1/memory/graph', 'Asked the graph'], ['DELETE /v1/memory/items', 'Forgot an item'], ['DELETE /v1/memory/page', 'Took a note off the page'],
  ['DELETE /v1/memory/source', 'Deleted a source'], ['POST /v1/memory/rewind', 'Rewound memory'], ['POST /v1/room/memory/rewind', 'Rewound memory'], ['PUT /v1/room/memory/items', 'Changed an item'], ['POST /v1/room/memory/back', 'Brought an item back'],
  ['PUT /v1/automations', 'Saved an automation'], ['DELETE /v1/automations', 'Deleted an automation'], ['POST /v1/automations/{name}/pause', 'Paused an automation'], ['POST /v1/automations/{name}/resume', 'Resumed an automation'], ['POST /v1/automations/{name}/run', 'Ran an automation'],
  ['PUT /v1/hooks', 'Saved a webhook'], ['DELETE /v1/hooks', 'Removed a webhook'], ['POST /v1/clients', 'Made a token for a program'], ['POST /v1/turns', 'Stopped a run'], ['POST /v1/leave', 'Signed out'], ['POST /v1/room/licence', 'Read a licence'],
  ['POST /v1/settings/policies/check', 'Checked a policy file'], ['POST /v1/settings/policies/suppose', 'Tried a call on the rules'], ['POST /v1/settings/policies/cases', 'Ran the tests of the rules'],
  ['POST /v1/setup/automations', 'Set up an automation'], ['POST /v1/reload', 'Read the settings again'], ['DELETE /v1/grants', 'Took a permission back'],
];

const named = (did) => NAMES.find(([start]) => did.startsWith(start))?.[1] ?? did.replace(/^[a-z]/, (first) => first.toUpperCase());

export default async function section() {
  const acts = await api.get('/v1/acts', { limit: MOST });
  const columns = [
    { title: 'When', cell: (each) => time(each.at) },
    { title: 'Who', cell: (each) => h('span', { dir: 'auto' }, each.name) },
    { title: 'What', cell: (each) => h('span', { title: each.did }, named(each.did)) },
    { title: 'On', cell: (each) => h('span', { dir: 'auto' }, each.on) },
    { title: 'Outcome', cell: (each) => badge(each.outcome.replaceAll('_', ' '), each.outcome === 'done' ? 'good' : 'bad') },
  ];
  return card('Administrative acts', { note: acts.length >= MOST ? `The newest ${MOST}.` : '', bare: true }, table(columns, acts, { caption: 'Administrative acts', empty: empty('Nothing was changed yet') }));
}
