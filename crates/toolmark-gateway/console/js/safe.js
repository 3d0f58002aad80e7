// Text from strangers, made safe to look at: what is invisible or turns text around is written out and marked, exactly as `toolmark_core::text`
// does it. Nothing is cut here without saying how much.

import { h } from './dom.js';

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** `\u{202e}` for what nobody sees. */
export function visible(text) {
  return String(text).replace(HIDDEN, escaped);
}

function escaped(character) {
  return `\\u{${character.codePointAt(0).toString(16)}}`;
}

/** A list of texts and marked elements: the same, but one sees that it was written out. `lines` keeps line breaks. */
export function shown(text, lines = false) {
  const parts = [];
  let from = 0;
  const whole = String(text);
  for (const match of whole.matchAll(HIDDEN)) {
    if (lines && (match[0] === '\n' || match[0] === '\t')) continue;
    parts.push(whole.slice(from, match.index), h('mark.hidden', escaped(match[0])));
    from = match.index + match[0].length;
  }
  parts.push(whole.slice(from));
  return parts;
}

/** Joiners that decide about what is seen: between letters that join, behind a sign that takes a vowel away, between pictures. */
const JOINS = /[\p{M}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;

/** Texts of which the gateway has taken out what hides: a joiner that is left is meant. What is not is written out all the same. */
function named(text) {
  return String(text).split(/([\u200c\u200d])/).flatMap((piece, at, all) => (at % 2 && JOINS.test(all[at - 1]) ? [piece] : shown(piece)));
}

/** A name that people read, kept apart from the sentence around it, in its own language and direction. */
export function name(text, lang, dir) {
  const direction = dir === 'rtl' || dir === 'ltr' ? dir : 'auto';
  return h('bdi.name', { lang: tag(lang), dir: direction }, named(text ?? ''));
}

/** What could be a language tag; anything else is left out. */
export function tag(lang) {
  return typeof lang === 'string' && /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(lang) ? lang : undefined;
}

/** A name that programs read. */
export function code(text, kind = 'code') {
  return h(`${kind}.code`, { dir: 'ltr', translate: 'no' }, shown(text ?? ''));
}

/** An image that cannot call home: only what is in the address itself. */
export function picture(address) {
  return typeof address === 'string' && /^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/.test(address) && address.length < 200_000;
}

const LONG = 4000;

/** JSON as people read it, in colors, whole: what is long is folded, with its length, and unfolds. */
export function json(value, words) {
  const box = h('div.json', { dir: 'ltr', translate: 'no' });
  box.append(tree(value, 0, words));
  return box;
}

function tree(value, depth, words) {
  if (typeof value === 'string') return long(value, words);
  if (value === null || typeof value !== 'object') return h('span.atom', String(value));
  const list = Array.isArray(value);
  const entries = list ? value.map((one) => [null, one]) : Object.entries(value);
  if (!entries.length) return h('span.punct', list ? '[]' : '{}');
  // What fits on a line is easier to read on one.
  if (JSON.stringify(value).length <= 64) return inline(value);
  if (depth > 40) return h('span.string', shown(JSON.stringify(value)));
  const rows = (from, to) =>
    entries.slice(from, to).map(([key, one], at) =>
      h('div.row', key === null ? null : [h('span.key', shown(JSON.stringify(key))), h('span.punct', ': ')], tree(one, depth + 1, words), from + at + 1 < entries.length ? h('span.punct', ',') : null),
    );
  const body = h('div.body', rows(0, 200));
  if (entries.length > 200) {
    const more = h('button.more', { type: 'button', onclick: () => more.replaceWith(...rows(200)) }, words('json.more', { n: entries.length - 200 }));
    body.append(more);
  }
  return h('span.node', h('span.punct', list ? '[' : '{'), body, h('span.punct', list ? ']' : '}'));
}

function inline(value) {
  if (value === null || typeof value !== 'object') return h(typeof value === 'string' ? 'span.string' : 'span.atom', shown(JSON.stringify(value)));
  const list = Array.isArray(value);
  const entries = Object.entries(value).map(([key, one], at) => [at ? h('span.punct', ', ') : null, list ? null : [h('span.key', shown(JSON.stringify(key))), h('span.punct', ': ')], inline(one)]);
  return h('span', h('span.punct', list ? '[' : '{'), entries, h('span.punct', list ? ']' : '}'));
}

function long(text, words) {
  const whole = JSON.stringify(text);
  // Line breaks of a long text are easier to read as such; they are shown beside their escape.
  if (whole.length <= LONG) return h('span.string', shown(whole));
  const rest = h('span', { hidden: true }, shown(whole.slice(LONG)));
  const more = h('button.more', { type: 'button', onclick: () => { rest.hidden = false; more.remove(); } }, words('json.more-characters', { n: whole.length - LONG }));
  return h('span.string', shown(whole.slice(0, LONG)), more, rest);
}
