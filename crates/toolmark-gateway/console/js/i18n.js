// The words of the pages. One file a language, all with the same keys; a test holds them to it.

export const LANGUAGES = [['en', 'English'], ['nl', 'Nederlands'], ['de', 'Deutsch']];

let words = {};
let language = 'en';
let plural = new Intl.PluralRules('en');

/** The language to begin with: the one that was chosen here, or the first that the browser prefers and that is there. */
export function preferred(chosen, browser) {
  const there = LANGUAGES.map(([tag]) => tag);
  if (there.includes(chosen)) return chosen;
  for (const tag of browser) {
    const base = String(tag).toLowerCase().split('-')[0];
    if (there.includes(base)) return base;
  }
  return 'en';
}

export async function load(tag) {
  const answer = await fetch(`/console/i18n/${tag}.json`, { credentials: 'omit' });
  if (!answer.ok) throw new Error(`no words for ${tag}`);
  words = await answer.json();
  language = tag;
  plural = new Intl.PluralRules(tag);
  document.documentElement.lang = tag;
  return tag;
}

export const current = () => language;

/** What the browser would send, with the chosen language first: names come in the language of the page. */
export function accept() {
  const rest = [...new Set([...navigator.languages, 'en'])].filter((tag) => tag !== language).slice(0, 6);
  return [language, ...rest.map((tag, at) => `${tag};q=${(0.9 - at * 0.1).toFixed(1)}`)].join(', ');
}

/** A text, with what stands in braces filled in. `n` chooses between `key.one` and `key.other`. */
export function t(key, values = {}) {
  let text = words[key];
  if (text === undefined && values.n !== undefined) text = words[`${key}.${plural.select(values.n)}`] ?? words[`${key}.other`];
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? number(value) : String(value);
  });
}

/** A text with elements in it: `parts('asked.by', { caller: element })`. */
export function parts(key, values) {
  const text = words[key] ?? key;
  return text.split(/(\{\w+\})/).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name !== undefined && name in values ? values[name] : piece;
  });
}

/** A word of a closed vocabulary, or the word itself where there is none for it. */
export function word(group, value) {
  return words[`${group}.${value}`] ?? String(value ?? '');
}

/**
 * What the gateway says under a stable code, in the language of the page: nothing in English, where its own words say more, and nothing for a
 * code that no file has, or whose text wants something that is not known.
 */
export function said(group, code, values = {}) {
  if (language === 'en' || typeof code !== 'string') return undefined;
  const key = `${group}.${code}`;
  const text = Object.hasOwn(words, key) ? words[key] : undefined;
  const known = (name) => ['string', 'number'].includes(typeof values?.[name]);
  if (text === undefined || [...text.matchAll(/\{(\w+)\}/g)].some(([, name]) => !known(name))) return undefined;
  return t(key, values);
}

const formats = new Map();
function format(kind, options, make) {
  const key = `${language} ${kind}`;
  if (!formats.has(key)) formats.set(key, make(language, options));
  return formats.get(key);
}

export function number(value, digits = 0) {
  return format(`n${digits}`, { maximumFractionDigits: digits }, (tag, options) => new Intl.NumberFormat(tag, options)).format(value);
}

export function clock(ms) {
  return format('clock', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }, (tag, options) => new Intl.DateTimeFormat(tag, options)).format(ms);
}

export function moment(ms) {
  return format('moment', { dateStyle: 'medium', timeStyle: 'medium', hour12: false }, (tag, options) => new Intl.DateTimeFormat(tag, options)).format(ms);
}

/** How long ago, or in how long. */
export function away(ms) {
  const seconds = Math.round(ms / 1000);
  const relative = format('away', { numeric: 'auto', style: 'short' }, (tag, options) => new Intl.RelativeTimeFormat(tag, options));
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(seconds, 'second');
  if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86400) return relative.format(Math.round(seconds / 3600), 'hour');
  return relative.format(Math.round(seconds / 86400), 'day');
}

/** Microseconds, in the unit that people read. */
export function took(us) {
  if (us === undefined || us === null) return '–';
  if (us < 1000) return `${number(us)} µs`;
  if (us < 10_000) return `${number(us / 1000, 1)} ms`;
  if (us < 1_000_000) return `${number(us / 1000)} ms`;
  return `${number(us / 1_000_000, us < 10_000_000 ? 2 : 1)} s`;
}
