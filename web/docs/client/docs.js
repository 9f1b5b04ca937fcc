import MiniSearch from 'minisearch';
import { indexOptions } from './words.mjs';

/** What a page of the documentation does in a browser: search, and copying code. Everything else works without it. */

const most = 12;
const form = document.querySelector('[role=search]');
const field = form.querySelector('input');
const list = form.querySelector('ul');
const status = form.querySelector('[role=status]');
const { base } = document.documentElement.dataset;

let loading;
const load = () =>
  (loading ??= fetch(`${base}search.json`).then(async (answer) => {
    if (!answer.ok) throw new Error(`The search index answers ${answer.status}`);
    return MiniSearch.loadJSONAsync(await answer.text(), indexOptions);
  }));

function made(name, text, className) {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function item({ title, page, url, about }) {
  const link = document.createElement('a');
  link.href = base + url;
  link.append(made('span', title, 'title'), made('span', page, 'page'), made('span', about, 'about'));
  const element = document.createElement('li');
  element.append(link);
  return element;
}

function show(found, query) {
  list.replaceChildren(...found.slice(0, most).map(item));
  list.hidden = found.length === 0;
  status.textContent = query ? (found.length ? `${Math.min(most, found.length)} results` : 'Nothing found') : '';
}

async function look() {
  const query = field.value.trim();
  if (!query) return show([], '');
  try {
    const index = await load();
    if (query !== field.value.trim()) return; // overtaken by further typing
    const all = index.search(query, { combineWith: 'AND' });
    show(all.length ? all : index.search(query), query);
  } catch {
    loading = undefined;
    show([], '');
    status.textContent = 'The search is not available now';
  }
}

const close = () => {
  field.value = '';
  show([], '');
};
const results = () => [...list.querySelectorAll('a')];

form.hidden = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  results()[0]?.click();
});
field.addEventListener('input', look);
field.addEventListener('focus', () => load().catch(() => (loading = undefined)));
form.addEventListener('keydown', (event) => {
  const stops = [field, ...results()];
  const at = stops.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    close();
    field.focus();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
});
list.addEventListener('click', () => close());
document.addEventListener('click', (event) => {
  if (!form.contains(event.target)) show([], '');
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});

const menu = document.querySelector('.menu');
const narrow = window.matchMedia('(max-width: 60rem)');
const fold = () => (menu.open = !narrow.matches);
narrow.addEventListener('change', fold);
fold();

for (const block of document.querySelectorAll('pre.code')) {
  const button = made('button', 'Copy', 'copy');
  button.type = 'button';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not copied';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  const frame = made('div', '', 'frame');
  block.replaceWith(frame);
  frame.append(block, button);
}
