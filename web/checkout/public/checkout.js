/* Makes the page live: it works without this file. The server renders; this asks it again when something changed, and
   changes on the page what differs, so that a selection, an open part and "Copied" stay. */
const main = document.getElementById('invoice');
const announcer = document.getElementById('announcer');
const { slug, copied, locale } = main.dataset;
// Only the language of the page's address is asked for again, not what it was told once.
const language = new URLSearchParams(location.search).get('language');
const address = location.pathname + (language ? `?language=${language}` : '');
const frame = () => main.querySelector('.frame');
const isOver = () => main.dataset.over === 'yes';

let skew = 0; // server's clock minus ours
function takeClock() {
  const now = frame()?.dataset.now;
  if (now) skew = Date.parse(now) - Date.now();
}

function say(text) {
  announcer.textContent = '';
  setTimeout(() => (announcer.textContent = text), 50);
}
let announced = frame()?.dataset.announce ?? '';
function announce() {
  const text = frame()?.dataset.announce ?? '';
  if (text !== announced) say(text);
  announced = text;
}

/* Changes `old` into `fresh`. What the script or the payer has changed is theirs: texts that the script counts or
   writes, whether a part is open, what is typed. */
const isOurs = (node) =>
  node.dataset && (node.dataset.busy || node.dataset.countdown || node.dataset.zoned || node.id === 'wallets');
const attributesOf = ({ dataset }) =>
  ['countdown', 'zoned', 'copy', 'chain', 'to', 'value', 'data'].map((name) => dataset[name]);
const isSame = (a, b) => a.nodeName === b.nodeName && a.id === b.id && (a.id || a.className === b.className);
function sync(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.nodeName === 'NOSCRIPT') return;
  const isUnchanged = old.outerHTML === fresh.outerHTML;
  if (isUnchanged) return;
  const hasSameTime = old.getAttribute('datetime') === fresh.getAttribute('datetime');
  const hasSameData = String(attributesOf(old)) === String(attributesOf(fresh));
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && name !== 'open' && name !== 'data-busy') old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (!(isOurs(old) && hasSameTime && hasSameData)) syncChildren(old, fresh);
}
function syncChildren(old, fresh) {
  const children = [...fresh.childNodes];
  let at = old.firstChild;
  for (const [index, child] of children.entries()) {
    // No element is passed over that comes later: what is new stands before it.
    const comesLater = (node) =>
      node.nodeType === Node.ELEMENT_NODE && children.some((one, n) => n > index && isSame(node, one));
    let match = at;
    while (match && !isSame(match, child)) match = comesLater(match) ? null : match.nextSibling;
    if (!match) {
      old.insertBefore(child, at);
      continue;
    }
    while (at !== match) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
    sync(match, child);
    at = match.nextSibling;
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// Takes what the server shows now.
let isAsking = false;
let isAskedAgain = false;
async function refresh() {
  isAskedAgain = isAsking;
  if (isAsking) return;
  isAsking = true;
  try {
    const response = await fetch(address, { headers: { accept: 'text/html' } });
    if (response.ok) show(new DOMParser().parseFromString(await response.text(), 'text/html'));
  } catch {
    // offline: the stream or the next poll tries again
  } finally {
    isAsking = false;
    if (isAskedAgain) void refresh();
  }
}
function show(page) {
  const fresh = page.getElementById('invoice');
  if (!fresh?.querySelector('.frame')) return;
  const hadFocus = main.contains(document.activeElement);
  sync(main, fresh);
  document.title = page.title;
  // What had the focus is gone with its part of the page.
  if (hadFocus && !main.contains(document.activeElement)) main.querySelector('h1')?.focus();
  takeClock();
  zone();
  tick();
  announce();
}

// A price that is over is renewed by an act of the page, while somebody has it open before them.
let isRenewing = false;
let renewedAt = -Infinity;
async function renew() {
  const form = main.querySelector('form[data-renew]');
  if (!form || isRenewing || document.hidden || Date.now() - renewedAt < 10000) return;
  isRenewing = true;
  renewedAt = Date.now();
  try {
    await fetch(form.action, { method: 'POST', redirect: 'manual' });
    await refresh();
  } catch {
    // offline: the next tick tries again
  } finally {
    isRenewing = false;
  }
}

// Times in the payer's own zone.
const zoned = { minute: { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } };
zoned.day = { year: 'numeric', month: 'short', day: 'numeric', ...zoned.minute };
function zone() {
  for (const time of main.querySelectorAll('time[data-zoned]'))
    write(time, new Intl.DateTimeFormat(locale, zoned[time.dataset.zoned]).format(new Date(time.dateTime)));
}
const write = (element, text) => element.textContent === text || (element.textContent = text);

// Countdown by the server's clock; spoken at thresholds only.
const passed = new Set();
const isFirst = (key) => !passed.has(key) && passed.add(key);
function tick() {
  for (const element of main.querySelectorAll('[data-countdown]')) {
    const { countdown, warn = '' } = element.dataset;
    const left = Math.max(0, Math.round((Date.parse(countdown) - Date.now() - skew) / 1000));
    write(element, clockText(left));
    for (const threshold of warn.split(',').map((text) => parseInt(text, 10)))
      if (left > 0 && left <= threshold && left > threshold - 5 && isFirst(`${countdown}/${threshold}`))
        say(minutes(threshold / 60));
    if (left === 0 && isFirst(countdown)) setTimeout(() => void refresh(), 1500);
  }
}
const minutes = (count) =>
  new Intl.NumberFormat(locale, { style: 'unit', unit: 'minute', unitDisplay: 'long' }).format(count);
function clockText(left) {
  const pad = (value) => String(value).padStart(2, '0');
  const hours = Math.floor(left / 3600);
  const whole = Math.floor((left % 3600) / 60);
  return `${hours ? `${hours}:${pad(whole)}` : whole}:${pad(left % 60)}`;
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    // No right to the clipboard: mark the text, so that the payer can copy it.
    getSelection().selectAllChildren(button.parentElement.querySelector('.value bdi'));
    return;
  }
  if (button.dataset.busy) return say(copied);
  const before = button.textContent;
  button.dataset.busy = 'yes';
  button.textContent = copied;
  say(copied);
  setTimeout(() => {
    button.textContent = before;
    delete button.dataset.busy;
  }, 2000);
}
document.addEventListener('click', ({ target }) => {
  const button = target.closest?.('[data-copy]');
  if (button) void copy(button);
  if (target.closest?.('[data-print]')) window.print();
});

function follow() {
  if (slug) {
    const stream = new EventSource(`/i/${slug}/events`);
    stream.onmessage = () => void refresh();
    stream.onerror = () => isOver() && stream.close();
  }
  // Where a proxy swallows the stream.
  setInterval(() => isOver() || void refresh(), 15000);
}

document.documentElement.classList.add('live');
document.addEventListener('visibilitychange', () => void renew());
takeClock();
zone();
tick();
setInterval(tick, 1000);
void renew();
setInterval(() => void renew(), 1000);
if (!isOver()) follow();
