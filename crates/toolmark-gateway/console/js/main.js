// The frame of the console: who is there, which page is shown, language, theme and keys. Pages are in `pages/`.

import { add, h, icon, put } from './dom.js';
import { LANGUAGES, current, load, preferred, t } from './i18n.js';
import * as api from './api.js';
import * as stream from './stream.js';
import * as feed from './feed.js';
import * as keys from './keys.js';
import { fault, toast } from './parts.js';
import { visible } from './safe.js';
import { login } from './pages/login.js';
import * as live from './pages/live.js';
import * as approvals from './pages/approvals.js';
import * as catalog from './pages/catalog.js';
import * as confusables from './pages/confusables.js';
import * as policy from './pages/policy.js';
import * as chat from './pages/chat.js';
import * as health from './pages/health.js';

const PAGES = { live, approvals, catalog, confusables, policy, chat, health };
const LETTERS = { l: 'live', a: 'approvals', c: 'catalog', f: 'confusables', p: 'policy', t: 'chat', h: 'health' };
const THEMES = ['auto', 'light', 'dark'];

const app = document.getElementById('app');
let me = null;
let shownPage = null;
let pageOf = null;
let frame = null;

function stored(name) {
  try {
    return localStorage.getItem(`toolmark.${name}`);
  } catch {
    return null;
  }
}

function store(name, value) {
  try {
    localStorage.setItem(`toolmark.${name}`, value);
  } catch {
    // A browser that keeps nothing keeps the choice for this page only.
  }
}

function theme(value) {
  if (value === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}

async function begin() {
  theme(stored('theme') ?? 'auto');
  await load(preferred(stored('lang'), navigator.languages));
  keys.listen((letter) => {
    if (!LETTERS[letter] || !me) return false;
    location.hash = `#/${LETTERS[letter]}`;
    return true;
  });
  keys.always('?', () => (me ? help() : false));
  keys.always('/', () => {
    const field = document.querySelector('.page [data-search]');
    field?.focus();
    field?.select();
    return Boolean(field);
  });
  addEventListener('hashchange', () => {
    if (/^#(.*&)?key=/.test(location.hash)) {
      api.takeKey();
      enter();
    } else if (me) route();
  });
  api.onRefused((error) => {
    if (!me) return;
    leave();
    ask(error);
  });
  api.takeKey();
  await enter();
}

/** Finds out who is there, or asks for a key. */
async function enter() {
  leave();
  if (!api.key()) return ask();
  try {
    me = await api.get('/api/me');
  } catch (error) {
    if (error.status === 401 || error.status === 403) {
      api.setKey(null);
      return ask(error);
    }
    return put(app, h('main.login', fault(error, enter)));
  }
  draw();
  feed.start();
  stream.start();
  if (!location.hash.startsWith('#/')) history.replaceState(null, '', `${location.pathname}#/live`);
  route();
}

function leave() {
  me = null;
  close();
  stream.end();
  feed.clear();
  chat.forget();
  frame = null;
}

function close() {
  keys.pageKeys(null);
  shownPage?.close?.();
  shownPage = null;
  pageOf = null;
}

function ask(error) {
  put(app, login(error, async (key) => {
    api.setKey(key);
    await enter();
  }), h('div.toasts', { role: 'status', 'aria-live': 'polite' }));
  document.title = 'Toolmark';
}

/** The frame; made anew when the language changes. */
function draw() {
  const links = new Map();
  const count = h('span.count', { hidden: true });
  const nav = h('nav.nav', { 'aria-label': t('pages') }, Object.keys(PAGES).map((page) => {
    const link = h('a', { href: `#/${page}` }, icon(page), h('span.label', t(`page.${page}`)), page === 'approvals' ? count : null);
    links.set(page, link);
    return link;
  }));
  const lamp = h('div.state', { role: 'status', 'aria-live': 'polite' }, h('span.lamp'), h('span.says'));
  const offline = h('div.offline', { hidden: true, role: 'alert' });
  const main = h('main.main', { id: 'main', tabindex: '-1' }, offline);
  const languages = h('select', { 'aria-label': t('language') }, LANGUAGES.map(([tag, text]) => h('option', { value: tag, lang: tag, selected: tag === current() }, text)));
  languages.addEventListener('change', () => speak(languages.value));
  const picture = { auto: 'auto', light: 'sun', dark: 'moon' };
  const now = () => stored('theme') ?? 'auto';
  const switcher = h('button.button.bare', { type: 'button', id: 'theme' });
  const dress = () => {
    put(switcher, icon(picture[now()] ?? 'auto'));
    switcher.setAttribute('aria-label', t(`theme.${now()}`));
    switcher.title = t(`theme.${now()}`);
  };
  switcher.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(now()) + 1) % THEMES.length];
    store('theme', next);
    theme(next);
    dress();
  });
  dress();
  const helper = h('button.button.bare.wide', { type: 'button', 'aria-label': t('keys'), title: t('keys'), onclick: help }, icon('keyboard'));
  // `toolmark console` names its tokens after the person who made them.
  const person = visible(me.user ?? String(me.name ?? '').replace(/^console:([^:]+):.*$/, '$1'));
  const who = h('div.who', h('span', { title: t('signed-in', { name: person }) }, person), h('button.more', { type: 'button', onclick: () => { api.setKey(null); enter(); } }, t('sign-out')));
  const side = h('div.side',
    h('a.brand', { href: '#/live' }, h('img', { src: '/console/icon.svg', alt: '' }), 'Toolmark'), nav,
    h('div.foot', lamp, who, h('div.tools', languages, switcher, helper)),
  );
  put(app, h('a.skip', { href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, t('skip')), h('div.shell', side, main), h('div.toasts', { role: 'status', 'aria-live': 'polite' }));
  frame = { links, count, lamp, offline, main };
  standing({ state: stream.standing() });
  waiting();
}

function standing({ state, until }) {
  if (!frame) return;
  if (state === 'refused') {
    leave();
    return ask({ code: 'approver-token-missing', message: t('login.ended') });
  }
  frame.lamp.className = `state ${state}`;
  frame.lamp.lastChild.textContent = t(`state.${state}`);
  const away = state === 'waiting' || (state === 'connecting' && !frame.offline.hidden);
  frame.offline.hidden = !away;
  if (state === 'waiting') {
    const seconds = Math.max(1, Math.round((until - Date.now()) / 1000));
    put(frame.offline, icon('warning'), t('state.lost', { n: seconds }), h('button.button', { type: 'button', onclick: stream.retry }, t('state.now')));
  }
}

function waiting() {
  if (!frame) return;
  const n = feed.pending().length;
  frame.count.hidden = n === 0;
  frame.count.textContent = n > 99 ? '99+' : String(n);
  frame.count.title = t('approvals.waiting', { n });
  titled();
}

function titled() {
  const n = feed.pending().length;
  document.title = `${n ? `(${n}) ` : ''}${pageOf ? t(`page.${pageOf}`) : ''} – Toolmark`;
}

stream.on('state', standing);
feed.onPending(waiting);

function route() {
  const [, page, ...rest] = location.hash.slice(1).split('/');
  let wanted = '';
  try {
    wanted = decodeURIComponent(rest.join('/'));
  } catch {
    // An address that nobody wrote.
  }
  if (!PAGES[page]) {
    location.replace('#/live');
    return;
  }
  if (page === pageOf) return shownPage.go?.(wanted);
  close();
  pageOf = page;
  for (const [name, link] of frame.links) {
    if (name === page) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  frame.main.querySelector('.page')?.remove();
  const context = { me, wanted, go: (to) => { location.hash = to; }, note: (to) => history.replaceState(null, '', to) };
  shownPage = PAGES[page].open(context);
  shownPage.element.dataset.page = page;
  add(frame.main, [shownPage.element]);
  shownPage.shown?.();
  keys.pageKeys(shownPage.keys ?? null);
  titled();
}

async function speak(tag) {
  store('lang', tag);
  try {
    await load(tag);
    me = await api.get('/api/me');
  } catch (error) {
    return toast(error.message, true);
  }
  const before = location.hash;
  close();
  draw();
  feed.reload();
  history.replaceState(null, '', before);
  route();
}

function help() {
  if (document.querySelector('dialog[open]')) return true;
  const rows = [
    ['j / k', 'help.move'], ['Enter', 'help.open'], ['Esc', 'help.close'], ['/', 'help.search'], ['a', 'help.approve'], ['r', 'help.reject'], ['e', 'help.edit'], ['1 – 5', 'help.scope'],
    ['p', 'help.pause'], ['g l', 'page.live'], ['g a', 'page.approvals'], ['g c', 'page.catalog'], ['g f', 'page.confusables'], ['g p', 'page.policy'], ['g t', 'page.chat'], ['g h', 'page.health'],
  ];
  const box = h('dialog', { 'aria-labelledby': 'help-title' },
    h('h2', { id: 'help-title' }, t('keys')),
    h('dl.help', rows.map(([key, text]) => [h('dt', h('kbd', key)), h('dd', t(text))])),
    h('form', { method: 'dialog' }, h('button.button', t('close'))),
  );
  box.addEventListener('close', () => box.remove());
  document.body.append(box);
  box.showModal();
  return true;
}

begin().catch((error) => put(app, h('main.login', fault(error))));
