// Chat: talk to an agent of the configuration; its calls are cards, and what must be approved is approved in place.

import { h, icon, put } from '../dom.js';
import { t, word } from '../i18n.js';
import { get } from '../api.js';
import * as feed from '../feed.js';
import { Thread } from '../agui.js';
import { badge, behavior, body, choice, empty, fault, reasons } from '../parts.js';
import { code, json, name, picture, shown, visible } from '../safe.js';
import { stamp } from '../mark.js';

/** Kept while the console is open. */
const threads = [];
let shownThread = null;

/** Nothing that was said stays for the next person. */
export function forget() {
  for (const thread of threads.splice(0)) thread.stop();
  shownThread = null;
}

// What is decided on another page, or in a terminal, lets a run go on here too.
feed.onPending((ask) => {
  if (ask?.state !== 'approved' && ask?.state !== 'rejected') return;
  for (const thread of threads) {
    const waits = thread.interrupts.find((one) => one.metadata?.['dev.toolmark/approval']?.ask === ask.id && !thread.answers.has(one.id));
    if (waits) thread.answer(waits, { approved: ask.state === 'approved' });
  }
});

export function open() {
  let agents = [];
  let views = new Map();
  const log = h('div.log', { role: 'log', 'aria-label': t('chat.log'), 'aria-live': 'polite', tabindex: '0' });
  const input = h('textarea', { rows: '2', 'aria-label': t('chat.say'), placeholder: t('chat.say') });
  const button = h('button.button.primary', { type: 'submit' });
  const form = h('form.say', input, button);
  const picker = h('select', { 'aria-label': t('chat.agent') });
  const about = h('div.about-agent');
  const others = h('ul.threads');
  const another = h('button.button', { type: 'button', onclick: fresh }, icon('plus'), t('chat.new'));
  const past = h('aside.past.wide', h('h3', t('chat.threads')), others, about);
  const element = h('section.page.chat', { 'aria-label': t('page.chat') },
    h('header.head', h('h1', t('page.chat')), picker, another),
    h('div.talk', past, h('div.conversation', log, form)));

  picker.addEventListener('change', () => {
    const agent = agents.find((one) => one.name === picker.value);
    if (agent) begin(agent);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (shownThread?.running) return shownThread.stop();
    const text = input.value.trim();
    if (!text || !shownThread || shownThread.waits) return;
    input.value = '';
    shownThread.say(text);
    list();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });

  async function load() {
    try {
      agents = (await get('/api/agents')).agents ?? [];
    } catch (error) {
      return put(log, fault(error, load));
    }
    if (!agents.length) {
      for (const one of [form, picker, another, past]) one.hidden = true;
      return put(log, h('div.center', empty('chat', t('chat.no-agents'), t('chat.no-agents-text'), '[agents.assistant]\nmodel = "openai:gpt-5"\ntools = ["github.*"]')));
    }
    put(picker, agents.map((agent) => h('option', { value: agent.name, lang: agent.shown?.lang, disabled: agent.usable === false }, agent.shown?.name ?? agent.name)));
    for (const thread of threads) thread.agent = agents.find((one) => one.name === thread.agent.name) ?? thread.agent;
    if (shownThread) show(shownThread);
    else begin(agents.find((agent) => agent.usable !== false) ?? agents[0]);
  }

  function begin(agent) {
    const blank = threads.find((thread) => thread.agent.name === agent.name && !thread.items.length);
    const thread = blank ?? new Thread(agent);
    if (!blank) threads.unshift(thread);
    show(thread);
  }

  function fresh() {
    begin(shownThread?.agent ?? agents[0]);
    input.focus();
  }

  function show(thread) {
    for (const other of threads) other.changed = () => {};
    shownThread = thread;
    picker.value = thread.agent.name;
    views = new Map();
    put(log);
    if (!thread.items.length) put(log, hello(thread.agent));
    for (const item of thread.items) draw(item);
    thread.changed = (item, what) => {
      if (what === 'run') {
        state();
        return list();
      }
      const near = log.scrollHeight - log.scrollTop - log.clientHeight < 90;
      if (what === 'new') draw(item);
      else views.get(item)?.update();
      if (near) log.scrollTop = log.scrollHeight;
    };
    state();
    list();
    tell(thread.agent);
    log.scrollTop = log.scrollHeight;
  }

  function hello(agent) {
    const intro = empty('agent', agent.shown?.name ?? agent.name, agent.description || t('chat.hello'));
    if (agent.usable === false) intro.append(fault({ message: agent.why ?? t('chat.unusable') }));
    return h('div.center.intro', intro);
  }

  function tell(agent) {
    put(about, h('h3', t('chat.about')), h('p', name(agent.shown?.name ?? agent.name, agent.shown?.lang, agent.shown?.dir)), agent.model ? h('p.soft.small', code(agent.model, 'span')) : null, agent.task ? h('p', badge('info', visible(agent.task))) : null,
      agent.tools?.length ? h('ul.its-tools', agent.tools.slice(0, 40).map((one) => h('li', one.tool ? h('a', { href: `#/catalog/${encodeURIComponent(one.tool)}`, title: one.tool }, name(one.shown?.name ?? one.tool, one.shown?.lang, one.shown?.dir)) : code(one.written, 'span'), behavior(one.behavior)))) : null,
      agent.tools?.length > 40 ? h('p.soft.small', t('more', { n: agent.tools.length - 40 })) : null,
      (agent.problems ?? []).map((one) => h('p.small.warntext', { dir: 'auto' }, shown(typeof one === 'string' ? one : one.what ?? ''))));
  }

  function list() {
    put(others, threads.map((thread) => h('li', h('button.thread', { type: 'button', 'aria-current': thread === shownThread ? 'true' : undefined, onclick: () => show(thread) }, h('span.lines', h('span', shown(thread.title || t('chat.untitled'))), h('span.soft.small', name(thread.agent.shown?.name ?? thread.agent.name))), thread.running ? badge('info', t('chat.running')) : thread.waits ? badge('ask', t('chat.waits')) : null))));
  }

  function state() {
    const thread = shownThread;
    put(button, thread.running ? [icon('stop'), t('chat.stop')] : [icon('send'), t('chat.send')]);
    button.classList.toggle('primary', !thread.running);
    input.disabled = thread.waits && !thread.running;
    input.placeholder = thread.waits ? t('chat.answer-first') : t('chat.say');
    button.disabled = (!thread.running && thread.waits) || thread.agent.usable === false;
    log.setAttribute('aria-busy', String(Boolean(thread.running)));
  }

  function draw(item) {
    log.querySelector('.intro')?.remove();
    const view = VIEWS[item.kind]?.(item, shownThread);
    if (!view) return;
    views.set(item, view);
    const home = item.owner ? [...views.entries()].find(([one]) => one.kind === 'subagent' && one.id === item.owner)?.[1].inside : null;
    (home ?? log).append(view.element);
  }

  return {
    element,
    shown() {
      load();
      if (matchMedia('(min-width: 761px)').matches) input.focus();
    },
    keys(event) {
      if (event.key === 'Enter') return input.focus(), true;
      const open = log.querySelector('.toolcard.asking');
      if (open && !event.repeat && ['a', 'r', 'e'].includes(event.key)) return open.querySelector(`[data-key=${event.key}]`)?.click(), true;
      return false;
    },
    close() { for (const thread of threads) thread.changed = () => {}; },
  };
}

const VIEWS = {
  user: (item) => ({ element: h('div.said.user', { dir: 'auto' }, shown(item.text, true)), update() {} }),
  text: (item) => {
    const text = h('div.said.agent', { dir: 'auto' });
    const update = () => put(text, shown(item.text, true));
    update();
    return { element: text, update };
  },
  reasoning: (item) => {
    const text = h('div', { dir: 'auto' });
    const update = () => put(text, shown(item.text, true));
    update();
    return { element: h('details.thought', h('summary', t('chat.thinks')), text), update };
  },
  subagent: (item) => {
    const inside = h('div.inside');
    const state = h('span');
    const update = () => put(state, badge(item.state === 'failed' ? 'bad' : item.state === 'asking' ? 'ask' : item.state === 'done' ? 'good' : 'info', t(`chat.${item.state}`)), item.fault ? [' ', shown(item.fault)] : null);
    update();
    return { element: h('section.subagent', h('header', icon('agent'), name(item.about?.displayName ?? item.name, item.about?.lang, item.about?.dir), state), inside), inside, update };
  },
  tool: (item, thread) => {
    const element = h('article.toolcard.card');
    let editing = false;
    const update = () => {
      const held = element.querySelector('textarea')?.value;
      draw(held);
    };
    const draw = (held) => {
      const about = item.about ?? {};
      const failed = item.state === 'done' && item.call?.failed === true;
      element.className = `toolcard card ${item.state ?? ''}`;
      const does = about.behavior ? [about.behavior.mutability, about.behavior.action, about.behavior.output_domain ?? about.behavior.outputDomain].filter(Boolean).join('|') : null;
      put(element,
        h('header', picture(about.icon) ? h('img', { src: about.icon, alt: '', width: '20', height: '20' }) : stamp(about.id ?? item.name, 22),
          h('span.lines', name(about.displayName ?? item.name, about.lang, about.dir), code(about.id ?? item.name, 'span')),
          does ? behavior(does) : null,
          failed && item.call.code ? code(item.call.code, 'span') : null,
          badge(item.state === 'done' ? (failed ? 'deny' : 'good') : item.state === 'asking' ? 'ask' : item.state === 'rejected' ? 'deny' : 'info', t(`chat.tool-${failed ? 'failed' : item.state ?? 'running'}`))),
        about.spoken && item.state === 'running' ? h('p.spoken', name(about.spoken, about.lang, about.dir)) : null,
        item.args && item.args !== '{}' ? (item.state === 'asking' ? h('div', h('h3', t('arguments')), body(item.args)) : h('details', h('summary', t('arguments')), body(item.args))) : null,
        item.state === 'asking' && item.interrupt ? question(held) : null,
        item.result !== undefined ? h('details', { open: true }, h('summary', t('result')), typeof item.result === 'string' ? body(item.result) : json(item.result, t)) : null);
    };

    function question(held) {
      const interrupt = item.interrupt;
      const editor = h('textarea.code', { rows: '5', dir: 'ltr', spellcheck: 'false', 'aria-label': t('approvals.edit') });
      editor.value = held ?? pretty(item.args);
      const message = h('input', { type: 'text', placeholder: t('approvals.message'), 'aria-label': t('approvals.message') });
      const problem = h('div', { role: 'alert' });
      const approval = interrupt.metadata?.['dev.toolmark/approval'] ?? {};
      const scopes = interrupt.responseSchema?.properties?.scope?.enum ?? [];
      const reach = scopes.length > 1 ? choice(t('approvals.scope'), scopes.map((one) => [one, word('scope', one)]), 'once', () => {}) : null;
      const approve = () => {
        const payload = { approved: true };
        if (reach && reach.value !== 'once' && !editing) payload.scope = reach.value;
        if (editing) {
          try {
            payload.editedArgs = JSON.parse(editor.value);
          } catch (error) {
            return put(problem, fault({ message: t('approvals.no-json', { why: error.message }) }));
          }
        }
        thread.answer(interrupt, payload);
      };
      const reject = () => thread.answer(interrupt, { approved: false, ...(message.value.trim() ? { message: message.value.trim() } : {}) });
      const box = h('div', { hidden: !editing }, editor);
      const edit = h('button.button', { type: 'button', 'data-key': 'e', class: editing ? 'on' : '', onclick: () => { editing = !editing; box.hidden = !editing; edit.classList.toggle('on', editing); if (editing) editor.focus(); } }, icon('edit'), t('approvals.edit'), h('kbd.wide', 'e'));
      const says = approval.reasons?.length || approval.effects?.length;
      return h('div.question',
        approval.effects?.length ? h('ul.effects', approval.effects.map((one) => h('li', { dir: 'auto' }, shown(one)))) : null,
        reasons(approval.reasons),
        approval.changes?.length ? h('pre.plain', { dir: 'auto' }, shown(approval.changes.join('\n'), true)) : null,
        interrupt.message ? (says ? h('details', h('summary', t('approvals.exact')), h('pre.plain', { dir: 'auto' }, shown(interrupt.message, true))) : h('pre.plain', { dir: 'auto' }, shown(interrupt.message, true))) : null, box,
        h('div.acts', h('button.button.primary', { type: 'button', 'data-key': 'a', onclick: approve }, t('approve'), h('kbd.wide', 'a')), h('button.button.no', { type: 'button', 'data-key': 'r', onclick: reject }, t('reject'), h('kbd.wide', 'r')), edit, reach), message, problem);
    }
    draw();
    return { element, update };
  },
  error: (item) => ({ element: fault(item.error ?? { message: t(item.key) }), update() {} }),
  note: (item) => ({ element: h('p.soft.small.aside', t(item.key)), update() {} }),
};

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
