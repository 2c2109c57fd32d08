// Signs this browser in: with the secret of a link, which stands in the fragment of the address, or by asking and waiting until somebody
// who is in confirms. The fragment is taken out of the address at once, so that it stays in no history. What it gets is a cookie that no
// script can read, this one included.

const POLL_MS = 2000
const $ = id => document.getElementById(id)
let polling = 0

async function post(path, body) {
  const answer = await fetch(path, {
    method: 'POST', credentials: 'same-origin', body: JSON.stringify(body),
    headers: {'Content-Type': 'application/json', 'X-Daimon': '1'},
  })
  const told = await answer.json().catch(() => ({}))
  if (!answer.ok) throw Object.assign(new Error(told.error?.message ?? `the answer was ${answer.status}`), {status: answer.status})
  return told
}

function say(text, isBad = false) {
  $('told').textContent = text
  $('told').classList.toggle('bad', isBad)
}

function show(id) {
  for (const each of ['ask', 'waiting']) $(each).hidden = each !== id
}

function browser() {
  const agent = navigator.userAgent
  const is = (...names) => names.find(name => agent.includes(name))
  const program = {Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', FxiOS: 'Firefox', CriOS: 'Chrome', Chrome: 'Chrome', Safari: 'Safari'}
  const system = {iPhone: 'iPhone', iPad: 'iPad', Android: 'Android', Windows: 'Windows', Macintosh: 'Mac', Linux: 'Linux'}
  const what = program[is(...Object.keys(program))] ?? 'Browser', where = system[is(...Object.keys(system))]
  return where ? `${what} on ${where}` : what
}

async function enter(secret) {
  try {
    await post('/v1/enter', {secret, name: browser()})
    location.replace('/')
  } catch (failure) {
    offer(failure.message)
  }
}

function offer(why = '') {
  say(why || 'This browser is not signed in.', Boolean(why))
  $('name').value ||= browser()
  show('ask')
}

async function ask(event) {
  event.preventDefault()
  try {
    const asked = await post('/v1/devices/requests', {name: $('name').value.trim()})
    $('code').textContent = asked.code
    $('command').textContent = `daimon devices approve ${asked.code}`
    say('Waiting to be let in.')
    show('waiting')
    polling = setTimeout(collect, POLL_MS, asked.secret)
  } catch (failure) {
    offer(failure.message)
  }
}

async function collect(secret) {
  try {
    if ((await post('/v1/devices/requests/collect', {secret})).state === 'in') return location.replace('/')
  } catch (failure) {
    if (failure.status) return offer(failure.message)  // without a status the gateway was not reached: it may come back
  }
  polling = setTimeout(collect, POLL_MS, secret)
}

function cancel() {
  clearTimeout(polling)
  offer()
}

$('ask').addEventListener('submit', ask)
$('cancel').addEventListener('click', cancel)
const secret = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
if (secret) enter(secret)
else offer()
