// A server from an address or a command: written into the settings and asked what it has. Nothing of it is offered before the owner agrees to
// each of its tools, on the page of the server.

import { h } from '../../js/dom.js';
import { post } from '../../js/api.js';
import { go } from '../../js/router.js';
import { dialog, field, input, select, textarea, toggle } from '../../js/parts.js';
import { typed } from './words.js';

const KNOWN = ['filesystem', 'git', 'github', 'fetch', 'memory', 'time', 'sequentialthinking', 'everything'];
const split = (text) => text.split(/[\n,]/).map((each) => each.trim()).filter(Boolean);
// As a shell would, without anything that a shell would do.
const parted = (text) => [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare);

function pairs(text, what) {
  return Object.fromEntries(split(text).map((line) => {
    const at = line.indexOf('=');
    if (at < 1 || at === line.length - 1) throw new Error(`${what}: write each as NAME=VALUE, not ${line}.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  }));
}

export async function connect() {
  const ltr = { dir: 'ltr', autocapitalize: 'off' };
  const name = input({ ...ltr, placeholder: 'notes' }), url = input({ ...ltr, type: 'url', placeholder: 'https://…/mcp' }), command = input({ ...ltr, placeholder: '/opt/servers/bin/notes --quiet' });
  const hosts = input(ltr), read = input(ltr), write = input(ltr), known = select([['', 'None of these'], ...KNOWN], {});
  const secrets = textarea({ ...ltr, rows: 2, placeholder: 'Authorization=Bearer {vault:tracker}' }), environment = textarea({ ...ltr, rows: 2 });
  let oauth = false;
  const made = await dialog({
    title: 'Connect a server', wide: true,
    body: [
      field('Your name for it', name, { hint: 'Small letters and digits. Its tools are called after it.' }),
      field('Its address', url, { hint: 'Or a command, below.' }), toggle('You sign in there', { onchange: (on) => { oauth = on; } }),
      field('A command', command, { hint: 'Of the machine that the gateway runs on. It runs in a box that holds what is named here and nothing else.' }),
      h('details', h('summary', 'What it may reach and use'), h('div', { class: 'stack' },
        field('Hosts that the command may reach', hosts, { hint: 'With commas between them.' }), field('Directories that it sees', read, { hint: 'With commas between them.' }), field('The directory that it may change', write),
        field('It is this public server', known, { hint: 'Daimon knows then what its tools do.' }),
        field('Secrets', secrets, { hint: 'A variable or a header, and the name of a secret of the vault; one in a line. Never its value.' }), field('Environment', environment, { hint: 'NAME=VALUE, one in a line; nothing secret.' }))),
      h('p', { class: 'small dim' }, 'Or, on that machine:'), typed('daimon mcp add NAME -- COMMAND'), typed('daimon mcp import FILE'),
    ],
    onopen: () => name.focus(),
    actions: [{ text: 'Cancel' }, { text: 'Connect', kind: 'primary', run: () => {
      if (!name.value.trim()) throw new Error('Give it a name.');
      if (Boolean(url.value.trim()) === Boolean(command.value.trim())) throw new Error('A server is an address or a command, one of the two.');
      return post('/v1/servers', {
        name: name.value.trim(), url: url.value.trim(), command: parted(command.value), oauth, hosts: split(hosts.value), read: split(read.value), write: split(write.value),
        known: known.value, secrets: pairs(secrets.value, 'Secrets'), environment: pairs(environment.value, 'Environment'),
      });
    } }],
  });
  if (made) await go(`/skills?tab=servers&server=${encodeURIComponent(made.status.name)}`);
}
