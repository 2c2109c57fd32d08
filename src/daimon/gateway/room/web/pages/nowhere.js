// An address that leads to nothing.

import { put } from '../js/dom.js';
import { link } from '../js/router.js';
import { empty } from '../js/parts.js';

export default async function page(root) {
  put(root, empty('There is nothing here', 'The address may be old, or mistyped.', link('/', 'Go to the chat')));
}
