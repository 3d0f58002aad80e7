// What is asked of the gateway. The key goes with every request in a header, never in an address and never in a cookie.

import { accept } from './i18n.js';

const KEY = 'toolmark.key';

/** The key of this tab. A key in the address is taken out of it at once. */
export function takeKey() {
  const found = /^#(?:.*&)?key=([^&]+)/.exec(location.hash);
  if (found) {
    setKey(decodeURIComponent(found[1]));
    history.replaceState(null, '', location.pathname);
  }
  return key();
}

export function key() {
  return sessionStorage.getItem(KEY);
}

export function setKey(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

/** An answer that is no answer: what happened, why, what to do. */
export class ApiError extends Error {
  constructor(status, report, problems) {
    super(report?.message ?? report?.what ?? `HTTP ${status}`);
    this.status = status;
    this.code = report?.code;
    this.why = report?.why;
    this.fix = report?.fix;
    this.problems = problems ?? report?.problems;
  }
}

/** Whoever wants to know that a key is not good any more. */
let refused = () => {};
export function onRefused(listener) {
  refused = listener;
}

function headers(more) {
  const all = new Headers(more);
  if (key()) all.set('Authorization', `Bearer ${key()}`);
  all.set('Accept-Language', accept());
  return all;
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { credentials: 'omit', cache: 'no-store', redirect: 'error', ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, { code: 'unreachable' });
  }
  if (!answer.ok) {
    const body = await answer.json().catch(() => null);
    const error = new ApiError(answer.status, body?.error, body?.problems);
    if (answer.status === 401) refused(error);
    throw error;
  }
  return answer;
}

export async function get(path, signal) {
  return (await ask(path, { signal })).json();
}

export async function send(method, path, body, signal) {
  const options = { method, signal };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { 'Content-Type': 'application/json' };
  }
  const answer = await ask(path, options);
  const text = await answer.text();
  return text ? JSON.parse(text) : null;
}

/** Server-sent events over fetch: calls `take(event, data)` for each, ends with the stream. */
export async function events(path, take, { signal, method = 'GET', body, opened, heard } = {}) {
  const more = { Accept: 'text/event-stream' };
  if (body !== undefined) more['Content-Type'] = 'application/json';
  const answer = await ask(path, { signal, method, body: body === undefined ? undefined : JSON.stringify(body), headers: more });
  opened?.();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const frames = framer(take);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return frames('\n\n');
    heard?.();
    frames(value);
  }
}

/** Cuts a text that comes in pieces into events. */
export function framer(take) {
  let kind = '';
  let data = [];
  let rest = '';
  return (piece) => {
    rest += piece;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (data.length) take(kind || 'message', data.join('\n'));
        kind = '';
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5));
      } else if (line.startsWith('event:')) {
        kind = line.slice(6).trim();
      }
    }
  };
}
