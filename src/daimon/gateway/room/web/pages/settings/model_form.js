// Adding a model: who serves it, the key, which model, what it costs. One small call shows that it works before anything is written.
// The key is in the field until it is sent, and in the vault afterwards; nothing here keeps it.

import { h, put } from '../../js/dom.js';
import * as api from '../../js/api.js';
import { button, duration, field, input, money, select, sentence, words } from '../../js/parts.js';
import { consequences, saying, told } from './told.js';

const PRICES = [['', 'As the price list says'], ['free', 'Free: my own hardware'], ['own', 'I say what it costs'], ['unknown', 'Nobody knows: ask me before each call']];
const PLACES = [['usual', 'Asked first, after the built-in one'], ['first', 'Before all others'], ['last', 'When all others failed'], ['none', 'Not in use yet']];

export function modelForm(view, found, { ondone, submit = 'Test and add' }) {
  const vendor = select(view.vendors.map((each) => [each.name, each.title]), { value: 'anthropic', onchange: draw });
  const key = input({ type: 'password', autocomplete: 'new-password', onchange: clearOffers });
  const address = input({ type: 'url', inputmode: 'url', onchange: clearOffers });
  const names = h('datalist', { id: `models-${crypto.randomUUID()}` });
  const model = input({ list: names.id, placeholder: 'As the provider calls it' });
  const name = input({ placeholder: 'Made from the model' });
  const price = select(PRICES, { onchange: draw }), place = select(PLACES);
  const priceIn = input({ inputmode: 'decimal', placeholder: '3.00' }), priceOut = input({ inputmode: 'decimal', placeholder: '15.00' });
  let variable = '';
  const result = saying(), offered = saying();
  const keyField = field('Key', key, { hint: 'It goes into the vault, and is shown to this provider only.' });
  const addressField = field('Address', address, { hint: 'Where the server is.' });
  const modelField = field('Model', model);
  const prices = h('div', { class: 'settings-two', hidden: true }, field('In, $ a million tokens', priceIn), field('Out, $ a million tokens', priceOut));
  const variableNote = h('p', { class: 'dim small', hidden: true });
  const here = [
    ...found.servers.map((each) => button(`${each.title} at ${new URL(each.address).host}`, { onclick: () => take(each.vendor, { address: each.address, model: each.models[0] }) })),
    ...found.keys.map((each) => button(`${each.variable} of the environment`, { onclick: () => take(each.vendor, { variable: each.variable }) })),
  ];

  const current = () => view.vendors.find((each) => each.name === vendor.value);
  function draw(event) {
    const of = current();
    if (event?.target === vendor) { variable = ''; address.value = ''; clearOffers(); model.value = of.model; }
    keyField.hidden = Boolean(variable);
    key.placeholder = of.needs_key ? 'Paste it here' : 'Only if it wants one';
    variableNote.hidden = !variable;
    put(variableNote, `With the key in ${variable}; the gateway must see that variable at each start.`);
    addressField.hidden = !(of.is_local || !of.address || address.value);
    address.placeholder = of.address || view.vendors.findLast((each) => each.is_local)?.address || '';
    prices.hidden = price.value !== 'own';
  }
  function take(of, { address: at = '', model: first = '', variable: from = '' }) {
    vendor.value = of;
    variable = from;
    address.value = at;
    model.value = first || current().model;
    clearOffers();
    draw();
    model.focus();
  }
  function clearOffers() { put(names); offered.say(); }
  const wish = () => ({
    vendor: vendor.value, model: model.value.trim(), name: name.value.trim(), base_url: address.value.trim(), key: variable ? '' : key.value.trim(), variable,
    price: price.value === 'own' ? '' : price.value, place: place.value,
    ...(price.value === 'own' ? { input_price: priceIn.value.trim(), output_price: priceOut.value.trim() } : {}),
  });
  const look = () => offered.during('Asking the provider …', async () => {
    const rows = await api.post('/v1/settings/models/offers', { ...wish(), model: '' });
    result.say();
    put(names, rows.slice(0, 500).map((row) => h('option', { value: row.model }, row.price)));
    if (!model.value && rows.length) model.value = rows[0].model;
    return told('good', rows.length ? `It has ${words(rows.length, 'model')}; the field suggests ${rows.length === 1 ? 'it' : 'them'} as you type.` : 'It has no model at the moment.');
  });
  const add = () => result.during('Asking the model to say something …', async () => {
    const added = await api.post('/v1/settings/models', wish());
    key.value = '';
    const shown = told('good', `${added.name} is set up. ${triedWords(added.tried)}`, ...added.remarks.map(sentence), added.price === 'unknown' && 'Say the price under More to change that.', ...consequences(added.changed));
    await ondone?.(added, shown);
    return shown;
  });
  model.value = current().model;
  draw();
  return h('form', { class: 'settings-form', onsubmit: (event) => { event.preventDefault(); add(); } },
    here.length > 0 && h('div', { class: 'stack is-tight' }, h('span', { class: 'dim small' }, 'Found on this machine'), h('div', { class: 'settings-found' }, here)),
    h('div', { class: 'settings-two' }, field('Who serves it', vendor), keyField, addressField),
    variableNote,
    h('div', { class: 'settings-row is-low' }, h('div', { class: 'grow' }, modelField), button('Show what it has', { onclick: look })), names, offered,
    h('details', h('summary', 'More'), h('div', { class: 'settings-form' }, h('div', { class: 'settings-two' }, field('Name', name), field('Place', place), field('Price', price)), prices, addressToggle())),
    h('div', { class: 'settings-actions' }, button(submit, { kind: 'primary', type: 'submit' })), result);

  function addressToggle() {
    return button('It is at another address', { kind: 'quiet', onclick: () => { addressField.hidden = false; address.focus(); } });
  }
}

export function triedWords(tried) {
  if (!tried) return '';
  if (!tried.is_good) return tried.error;
  const tokens = tried.input_tokens === null ? '' : ` ${words(tried.input_tokens, 'token')} in, ${tried.output_tokens} out`;
  const cost = tried.cost === '' ? ', price unknown' : `, ${money(tried.cost)}`;
  return `It answered “${tried.text || '…'}” after ${duration(tried.seconds * 1000)}:${tokens}${cost}.`;
}
