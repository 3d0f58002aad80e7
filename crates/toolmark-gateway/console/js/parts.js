// What several pages are made of: names, badges, faults, empty places, the way of a call.

import { h, icon } from './dom.js';
import { said, t, word, took, parts as phrase } from './i18n.js';
import { code, json, name, shown, visible } from './safe.js';
import { stamp } from './mark.js';

const GRAVE = new Set(['DELETE', 'OVERWRITE']);

/** `PURE|READ|DATA`, drawn: round for what reads, square for what changes, a diamond for what destroys. */
export function behavior(text) {
  if (!text) return h('span.behavior', { title: t('behavior.unknown') }, h('i.sign'), t('behavior.unknown'));
  const [mutability, action, domain] = String(text).split('|');
  const kind = behaviorKind(text);
  return h('span.behavior', { class: kind, title: `${word('mutability', mutability)} – ${visible(text)}` }, h('i.sign'), visible(action ?? mutability), domain ? h('span.domain', visible(domain)) : null);
}

export function behaviorKind(text) {
  const [mutability, action] = String(text ?? '').split('|');
  if (mutability === 'PURE') return 'pure';
  if (mutability === 'MUTATES') return GRAVE.has(action) ? 'destroys' : 'mutates';
  return '';
}

export function badge(kind, text, title) {
  return h('span.badge', { class: kind, title }, text);
}

export function verdict(value) {
  return badge(['allow', 'ask', 'deny'].includes(value) ? value : '', value ? word('verdict', value) : '–');
}

const OUTCOMES = { ok: 'allow', approved: 'allow', observed: 'info', asked: 'ask', intent: 'info', denied: 'deny', 'tool-error': 'bad', invalid: 'warn', 'unknown-tool': 'warn', ambiguous: 'warn', unavailable: 'bad', busy: 'warn', 'upstream-failed': 'bad', 'too-large': 'bad', timeout: 'bad', cancelled: '', interrupted: 'warn', running: 'info', asking: 'ask' };

export function outcome(value) {
  return badge(OUTCOMES[value] ?? '', word('outcome', value));
}

/** Which of four colors an outcome has in pictures. */
export function family(value) {
  if (value === 'ok' || value === 'approved' || value === 'observed') return 'ok';
  if (value === 'asked' || value === 'asking' || value === 'interrupted') return 'asked';
  if (value === 'denied' || value === 'invalid' || value === 'unknown-tool' || value === 'ambiguous') return 'denied';
  return 'error';
}

/** What people read, and beside it what programs read: two tools may share the first, never the second. */
export function toolname(of, canonical) {
  return h('span.toolname', stamp(canonical ?? of?.name, 20), name(of?.name ?? canonical, of?.lang, of?.dir), canonical && canonical !== of?.name ? code(canonical, 'span') : null);
}

export function fault(error, again) {
  const message = error?.code === 'unreachable' ? t('fault.unreachable') : error?.message ?? String(error);
  const own = said('error', error?.code);
  return h('div.fault', { role: 'alert' },
    h('b', own ?? shown(message)),
    own ? english(message) : null,
    error?.why ? h('span', shown(error.why)) : null,
    error?.fix ? h('span.soft', shown(error.fix)) : null,
    error?.code && error.code !== 'unreachable' ? code(error.code, 'span') : null,
    again ? h('button.button', { type: 'button', onclick: again }, t('again')) : null,
  );
}

/** Says what to do next. `command` is something to type in a terminal. */
export function empty(picture, title, text, command) {
  return h('div.empty', icon(picture), h('h2', title), h('p', text), command ? h('code', command) : null);
}

/** While something is on its way. It comes late, so that what is fast does not flicker. */
export function loading() {
  return h('p.loading.soft', { role: 'status' }, t('loading'));
}

export function search(label, value, change) {
  const input = h('input', { type: 'search', placeholder: label, 'aria-label': label, value: value ?? '', autocomplete: 'off', spellcheck: 'false', 'data-search': '' });
  input.addEventListener('input', () => change(input.value));
  return h('div.searchbox', icon('search'), input, h('kbd', '/'));
}

/** A choice among few, in one line. */
export function choice(label, options, value, change) {
  const box = h('select', { 'aria-label': label }, options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
  box.value = value;
  box.addEventListener('change', () => change(box.value));
  return box;
}

/** What the gateway said word for word: it names what a sentence for all cases cannot. */
function english(text) {
  return h('span.soft.small', { lang: 'en', dir: 'auto' }, shown(text ?? ''));
}

export function reasons(list) {
  return (list ?? []).map((one) => {
    const own = said('reason', one.code, visibles(one.facts));
    return h('div.reason', verdict(one.decision), h('span', own ?? shown(one.message ?? ''), ' ', one.code ? code(one.code, 'span') : null, own ? [h('br'), english(one.message)] : null));
  });
}

/** The texts and numbers among some values, fit to stand in a sentence. */
function visibles(values) {
  const all = Object.entries(values ?? {}).filter(([, value]) => ['string', 'number'].includes(typeof value));
  return Object.fromEntries(all.map(([key, value]) => [key, typeof value === 'string' ? `“\u2068${visible(value)}\u2069”` : value]));
}

/** Stages whose words say more than which of a few cases it is. */
const SPECIFIC = new Set(['validate.invalid', 'analyze.understood', 'analyze.unclear', 'judge.ask', 'judge.deny', 'judge.answered', 'judge.observed', 'approve.granted', 'approve.person']);

function says(one) {
  const of = `${one.stage}.${one.word}`;
  const own = said('says', of, visibles({ ...one.details, canonical: one.details?.tool?.canonical }));
  return h('p.says', { dir: 'auto' }, own ?? shown(one.says ?? ''), own && SPECIFIC.has(of) ? [h('br'), english(one.says)] : null);
}

/** What analyzers found in the arguments. */
export function facts(list) {
  return (list ?? []).map((fact) => {
    const where = h('span.soft.small', phrase('facts.in', { language: h('b', visible(fact.language ?? '')), place: code(fact.pointer || '/', 'span') }));
    if (!fact.understood) return h('div.fact.blind', where, h('span', t('facts.blind'), fact.why ? [' ', shown(fact.why)] : null));
    const grave = (fact.effects ?? []).some((one) => GRAVE.has(one.action) || one.dangers?.length || (one.mutability === 'MUTATES' && one.bounded === false));
    return h('div.fact', { class: grave ? 'grave' : 'mild' }, where, (fact.effects ?? []).map((one) =>
      h('div.row-of', behavior(`${one.mutability}|${one.action}`), h('span', shown(one.summary || (one.targets ?? []).join(', '))),
        one.bounded === false && one.mutability === 'MUTATES' ? badge('deny', t('facts.unbounded')) : null,
        (one.dangers ?? []).map((danger) => badge('deny', word('danger', danger)))),
    ));
  });
}

export function difference(list) {
  return (list ?? []).map((one) => h('div.difference',
    h('header', badge(one.severity === 'critical' || one.severity === 'high' ? 'deny' : one.severity === 'medium' ? 'ask' : '', word('severity', one.severity)), h('b', shown(one.part ?? '')), h('span.soft', shown(one.summary ?? ''))),
    one.was === null || one.was === undefined ? null : h('pre.was', { dir: 'auto' }, shown(text(one.was), true)),
    one.is === null || one.is === undefined ? null : h('pre.is', { dir: 'auto' }, shown(text(one.is), true)),
  ));
}

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** Arguments or a result as text of JSON. The text has been made visible already and may not be JSON any more. */
export function body(text) {
  try {
    return json(JSON.parse(text), t);
  } catch {
    return h('div.json', { dir: 'ltr' }, shown(text, true));
  }
}

const SIGNS = { passed: 'check', stopped: 'close', asked: 'approvals', skipped: 'dot', unknown: 'dot' };

/** The way of a call through the pipeline: what each stage decided, why, and how long it took. */
export function stages(list) {
  const total = list.reduce((sum, one) => sum + (one.took_us ?? 0), 0);
  return h('ol.stages', list.map((one) => {
    const details = one.details && Object.keys(one.details).length ? one.details : null;
    return h('li.stage', { class: one.state },
      h('span.sign', icon(SIGNS[one.state] ?? 'dot', word('stage-state', one.state))),
      h('h4', word('stage', one.stage)),
      h('span.time', one.took_us === null || one.took_us === undefined ? '' : took(one.took_us)),
      says(one),
      total > 0 && one.took_us ? h('div.share', { style: { width: `${Math.max(1, (one.took_us / total) * 100)}%` }, 'aria-hidden': 'true' }) : null,
      details ? h('details', h('summary', t('details')), json(details, t)) : null,
    );
  }));
}

/** Messages that go away by themselves; those who do not see the page hear them. */
export function toast(text, bad) {
  const box = document.querySelector('.toasts');
  const one = h('div.toast', { class: bad ? 'bad' : '' }, text);
  box?.append(one);
  setTimeout(() => one.remove(), bad ? 9000 : 4000);
}

export function pairs(list) {
  return h('dl.pairs', list.filter(([, value]) => value !== null && value !== undefined && value !== '').map(([label, value]) => [h('dt', label), h('dd', value)]));
}

/** Words for colors in a picture. */
export function legend(list) {
  return h('span.key-of', list.map(([kind, text]) => h('span', h('i', { class: kind }), text)));
}
