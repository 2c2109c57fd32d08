// How channels are called and drawn.

import { icon } from '../../js/dom.js';
import * as icons from '../../js/icons.js';

export const channelNames = {
  local: 'Here', telegram: 'Telegram', slack: 'Slack', matrix: 'Matrix', mail: 'Mail', automation: 'Automation', hook: 'Webhook', owner: 'your chat', web: 'this page', chat: 'the terminal', inject: 'a program',
};

const drawn = {
  local: icons.chat,
  telegram: 'M21 4L3 11l6 2.500L12 20l9-16z|M9 13.500L21 4',
  slack: 'M9 4v16|M15 4v16|M4 9h16|M4 15h16',
  matrix: 'M7 4H4v16h3|M17 4h3v16h-3|M9 15V9l3 4 3-4v6',
  mail: 'M3 6h18v12H3z|M3 7l9 7 9-7',
  automation: icons.automations,
  hook: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1|M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
};

export const channelIcon = (channel) => icon(drawn[channel] ?? drawn.local);
export const channelName = (channel) => channelNames[channel] ?? channel;
