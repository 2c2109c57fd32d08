// The components of the design system. Their look is in css/parts.css.

export { button, field, input, select, textarea, toggle, iconButton } from './parts/form.js';
export { badge, chip, chips, card, crumbs, empty, failure, figure, list, loading, sentence, table, tabs, ticked } from './parts/show.js';
export { dialog, confirm, toast, menu, attempt } from './parts/float.js';
export { calendar, time, moment, duration, money, count, bytes, words } from './parts/format.js';
export { code, json, diff, copyText } from './parts/code.js';
