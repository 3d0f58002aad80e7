// What goes on in the gateway, for every page that wants to know: one connection, kept up with growing pauses, its state visible.

import { events, key } from './api.js';

const FIRST = 500;
const LONGEST = 15_000;
/** The gateway says something at least every 15 seconds; three times that is silence. */
const SILENCE = 50_000;

const listeners = new Map();
let state = 'off';
let stop = null;
let again = 0;

/** Calls `listener(data)` for every event of a kind; gives what ends that. */
export function on(kind, listener) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(listener);
  return () => listeners.get(kind).delete(listener);
}

function tell(kind, data) {
  for (const listener of listeners.get(kind) ?? []) {
    try {
      listener(data);
    } catch (error) {
      console.error(error);
    }
  }
}

export const standing = () => state;

function become(next, more) {
  state = next;
  tell('state', { state, ...more });
}

export function start() {
  end();
  const ending = new AbortController();
  stop = ending;
  follow(ending.signal);
}

export function end() {
  stop?.abort();
  stop = null;
}

/** Tries again now, not later. */
export function retry() {
  again = 0;
  start();
}

async function follow(signal) {
  while (!signal.aborted && key()) {
    become('connecting');
    const one = new AbortController();
    const both = () => one.abort();
    signal.addEventListener('abort', both, { once: true });
    let last = Date.now();
    const watch = setInterval(() => Date.now() - last > SILENCE && one.abort(), 5000);
    try {
      await events('/api/live', (kind, data) => {
        last = Date.now();
        let read;
        try {
          read = JSON.parse(data);
        } catch {
          return;
        }
        tell(kind, read);
      }, {
        signal: one.signal,
        heard: () => { last = Date.now(); },
        opened: () => {
          again = 0;
          become('open');
          tell('opened', null);
        },
      });
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        clearInterval(watch);
        return become('refused');
      }
    } finally {
      clearInterval(watch);
      signal.removeEventListener('abort', both);
    }
    if (signal.aborted) return;
    const pause = Math.min(LONGEST, FIRST * 2 ** again++) * (0.75 + Math.random() / 2);
    become('waiting', { until: Date.now() + pause });
    await new Promise((done) => {
      const timer = setTimeout(done, pause);
      signal.addEventListener('abort', () => { clearTimeout(timer); done(); }, { once: true });
    });
  }
}
