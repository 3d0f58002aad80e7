// The words of the pages: every language has every key, every key that is used is there, and what stands in braces is the same.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { holds, same } from '../stage.mjs';

const CONSOLE = process.env.CONSOLE;
const read = (language) => JSON.parse(readFileSync(join(CONSOLE, 'i18n', `${language}.json`), 'utf8'));
const braces = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

function sources(folder = join(CONSOLE, 'js')) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? sources(join(folder, entry.name)) : [[entry.name, readFileSync(join(folder, entry.name), 'utf8')]]));
}

export const every_language_has_every_word = () => {
  const languages = readdirSync(join(CONSOLE, 'i18n')).map((name) => name.replace('.json', ''));
  same(languages.sort(), ['de', 'en', 'nl'], 'languages');
  const english = read('en');
  for (const language of languages) {
    const words = read(language);
    same(Object.keys(words).sort(), Object.keys(english).sort(), `keys of ${language}`);
    for (const [key, text] of Object.entries(words)) {
      holds(typeof text === 'string' && text.trim(), `${language} ${key} is empty`);
      same(braces(text), braces(english[key]), `${language} ${key}`);
    }
  }
};

export const every_word_that_is_used_is_there = () => {
  const english = read('en');
  for (const [file, source] of sources()) {
    for (const [, key] of source.matchAll(/\b(?:t|phrase)\('([^']+)'/g)) holds(english[key] ?? english[`${key}.other`], `${file} uses \`${key}\`, which no language has`);
  }
};

export const no_text_becomes_markup = () => {
  for (const [file, source] of sources()) {
    for (const way of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'DOMParser', 'setHTML', 'srcdoc', 'eval(', 'new Function', 'createContextualFragment', "setAttribute('style'"]) holds(!source.includes(way), `${file} uses ${way}`);
  }
};
