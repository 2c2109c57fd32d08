// Every page of the room. The first that fits a path is opened; `:name` is a part of it. `keys`: what takes one there after `g`.
// `needs`: the right without which nothing can be changed there.

import * as icons from './icons.js';

export const pages = [
  { path: '/', module: 'chat', title: 'Chat', keys: 'c', icon: icons.chat, small: 'yes' },
  { path: '/approvals', module: 'approvals', title: 'Approvals', keys: 'a', icon: icons.approvals, small: 'yes', count: 'questions' },
  { path: '/runs', module: 'runs', title: 'Runs', keys: 'r', icon: icons.runs, small: 'yes' },
  { path: '/runs/:turn', module: 'run', title: 'Run', of: '/runs' },
  { path: '/workspaces', module: 'workspaces', title: 'Workspaces', keys: 'w', icon: icons.workspaces, small: 'no', needs: 'admin' },
  { path: '/workspaces/:id', module: 'workspace', title: 'Workspace', of: '/workspaces', needs: 'admin' },
  { path: '/memory', module: 'memory', title: 'Memory', keys: 'm', icon: icons.memory, small: 'no', needs: 'admin' },
  { path: '/automations', module: 'automations', title: 'Automations', keys: 'u', icon: icons.automations, small: 'yes', needs: 'admin' },
  { path: '/automations/:name', module: 'automations', title: 'Automation', of: '/automations', needs: 'admin' },
  { path: '/skills', module: 'skills', title: 'Skills', keys: 'k', icon: icons.skills, small: 'no' },
  { path: '/skills/:name', module: 'skills', title: 'Skill', of: '/skills' },
  { path: '/health', module: 'health', title: 'Costs and health', keys: 'h', icon: icons.health, small: 'no' },
  { path: '/settings', module: 'settings', title: 'Settings', keys: 's', icon: icons.settings, small: 'no' },
  { path: '/settings/:section', module: 'settings', title: 'Settings', of: '/settings' },
  { path: '/welcome', module: 'welcome', title: 'Welcome', of: '/settings' },
];

export function find(path) {
  const parts = split(path);
  for (const page of pages) {
    const wanted = split(page.path), params = {};
    const fits = wanted.length === parts.length && wanted.every((each, i) => each === parts[i] || (each.startsWith(':') && ((params[each.slice(1)] = parts[i]), true)));
    if (fits) return { page, params };
  }
  return null;
}

const split = (path) => path.split('/').filter(Boolean).map(decodeURIComponent);
