// Elements, made by hand. Text goes in as text; the one way for markup is `sanitised`, for what the server rendered and cleaned.
// Characters that turn the order of others round are shown as what they are, a sign that does not belong there: whoever allows a mail to
// an address must read the address that it goes to.

const policy = window.trustedTypes?.createPolicy('daimon', { createHTML: (html) => html, createScriptURL: (url) => url });
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;
const PROPERTIES = new Set(['value', 'checked', 'selected', 'disabled', 'indeterminate', 'open']);

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
}

export function put(root, ...children) {
  root.replaceChildren(...nodes(children));
  return root;
}

// The same once more: what was unfolded stays so. `data-of` says what it is.
export function putAgain(root, ...children) {
  const unfolded = new Set([...root.querySelectorAll('details[open][data-of]')].map((each) => each.dataset.of));
  put(root, ...children);
  for (const each of root.querySelectorAll('details[data-of]')) if (unfolded.has(each.dataset.of)) each.open = true;
  return root;
}

export function sanitised(html) {
  const template = document.createElement('template');
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

export function scriptUrl(url) {
  return policy ? policy.createScriptURL(url) : url;
}

// An icon of js/icons.js. It says nothing to those who listen: the words beside it do.
export function icon(path) {
  const paths = path.split('|').map((d) => svg('path', { d }));
  return svg('svg', { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', 'stroke-width': '1.8', 'stroke-linecap': 'round', 'stroke-linejoin': 'round', 'aria-hidden': 'true' }, ...paths);
}

function fill(element, props, children) {
  const isProps = props && typeof props === 'object' && !(props instanceof Node) && !Array.isArray(props);
  if (isProps) for (const [name, value] of Object.entries(props)) set(element, name, value);
  element.append(...nodes(isProps ? children : [props, ...children]));
  return element;
}

function set(element, name, value) {
  if (value === undefined || value === null || value === false) {
    if (PROPERTIES.has(name) && value === false) element[name] = false;
    return;
  }
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
  else if (name === 'class') element.setAttribute('class', Array.isArray(value) ? value.filter(Boolean).join(' ') : value);
  else if (name === 'data') Object.assign(element.dataset, value);
  else if (name === 'vars') for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
  else if (PROPERTIES.has(name)) element[name] = value;
  else element.setAttribute(name, value === true ? '' : value);
}

function nodes(children) {
  const shown = children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false && each !== '');
  return shown.map((each) => (typeof each === 'string' ? each.replace(TURNING, '\ufffd') : each));
}
