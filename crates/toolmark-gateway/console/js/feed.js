// What was heard from the gateway and is kept while the console is open: the last calls, what runs, what waits, how much there was each second.
// It is bounded, and takes calls in as fast as they come; whoever shows it looks once a frame.

import { get } from './api.js';
import { on } from './stream.js';
import { percentile } from './charts.js';
import { family } from './parts.js';

/** As many calls as are kept, seconds that are drawn, and times that are kept of each second. */
export const MOST = 2000;
export const SECONDS = 120;
const SAMPLES = 100;

let calls = [];
let fresh = [];
let running = new Map();
let asks = new Map();
let packs = [];
let seconds = new Map();
let missed = 0;
const seen = new Set();
const watchers = { calls: new Set(), pending: new Set(), packs: new Set(), catalog: new Set() };
let scheduled = false;

function tell(kind, data) {
  for (const watcher of watchers[kind]) watcher(data);
}

const watch = (kind) => (listener) => {
  watchers[kind].add(listener);
  return () => watchers[kind].delete(listener);
};
export const onCalls = watch('calls');
export const onPending = watch('pending');
export const onPacks = watch('packs');
export const onCatalog = watch('catalog');

export const all = () => calls;
export const underWay = () => running;
export const pending = () => [...asks.values()];
/** A question that was answered here need not wait for the news. */
export function settle(id) {
  if (asks.delete(id)) tell('pending');
}
export const packsNow = () => packs;
export const left = () => missed;
/** More than a person reads. */
export const busy = () => (seconds.get(Math.floor(Date.now() / 1000) - 1)?.count ?? 0) > 20;

/** A bucket a second, oldest first. */
export function buckets(now = Math.floor(Date.now() / 1000)) {
  return Array.from({ length: SECONDS }, (_, at) => {
    const bucket = seconds.get(now - SECONDS + at) ?? NOTHING;
    // A second that is over is counted once.
    if (bucket.known !== bucket.count) {
      bucket.known = bucket.count;
      bucket.shares = [0.5, 0.95, 0.99].map((share) => percentile(bucket.times, share));
    }
    return bucket;
  });
}
const NOTHING = Object.freeze({ ok: 0, asked: 0, denied: 0, error: 0, count: 0, known: 0, times: [], shares: [] });

function count(call) {
  const second = Math.floor((call.time_us ?? Date.now() * 1000) / 1e6);
  let bucket = seconds.get(second);
  if (!bucket) {
    bucket = { ok: 0, asked: 0, denied: 0, error: 0, count: 0, times: [] };
    seconds.set(second, bucket);
    if (seconds.size > SECONDS * 2) for (const old of seconds.keys()) if (old < second - SECONDS) seconds.delete(old);
  }
  bucket[family(call.outcome)] += 1;
  bucket.count += 1;
  const took = call.timings?.total_us;
  if (Number.isFinite(took)) {
    if (bucket.times.length < SAMPLES) bucket.times.push(took);
    else bucket.times[Math.floor(Math.random() * bucket.count) % SAMPLES] = took;
  }
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  // Frames do not come while a tab is hidden; it must not grow meanwhile.
  if (document.hidden) setTimeout(flush, 250);
  else requestAnimationFrame(flush);
}

function flush() {
  scheduled = false;
  if (fresh.length) {
    fresh.reverse();
    const gone = Math.max(0, calls.length + fresh.length - MOST);
    for (const call of calls.slice(calls.length - gone)) seen.delete(call.id);
    calls = fresh.concat(calls).slice(0, MOST);
  }
  const added = fresh;
  fresh = [];
  tell('calls', added);
}

function take(call) {
  running.delete(call.id);
  if (seen.has(call.id)) return;
  seen.add(call.id);
  fresh.push(call);
  // More than can be kept anyway.
  if (fresh.length > MOST) for (const old of fresh.splice(0, fresh.length - MOST)) seen.delete(old.id);
  count(call);
  schedule();
}

on('hello', (data) => {
  packs = data.packs ?? [];
  asks = new Map((data.pending ?? []).map((ask) => [ask.id, ask]));
  running = new Map((data.running ?? []).map((one) => [one.id, one]));
  tell('packs');
  tell('pending');
  schedule();
});
on('begun', (one) => {
  if (seen.has(one.id)) return;
  running.set(one.id, one);
  if (running.size > 500) running.delete(running.keys().next().value);
  schedule();
});
on('call', take);
on('calls', (data) => (data.calls ?? data).forEach(take));
on('asked', (ask) => {
  asks.set(ask.id, ask);
  tell('pending', ask);
});
on('settled', (ask) => {
  asks.delete(ask.id);
  tell('pending', ask);
});
on('packs', (data) => {
  packs = data.packs ?? [];
  tell('packs');
});
on('catalog', (data) => tell('catalog', data));
on('missed', (data) => {
  missed += data.calls ?? 0;
  schedule();
});
on('opened', () => fill().catch(() => {}));

/** What was there before the page was opened, or while it had no connection. */
async function fill() {
  const { calls: earlier } = await get('/api/calls?limit=200');
  const others = earlier.filter((call) => !seen.has(call.id) && call.outcome !== 'intent');
  for (const call of others) {
    seen.add(call.id);
    count(call);
  }
  calls = [...calls, ...others].sort((one, other) => other.time_us - one.time_us).slice(0, MOST);
  tell('calls', others);
}

export function start() {
  clear();
}

export function clear() {
  calls = [];
  fresh = [];
  running = new Map();
  asks = new Map();
  packs = [];
  seconds = new Map();
  missed = 0;
  seen.clear();
}

/** Everything again, in another language. */
export async function reload() {
  const had = seconds;
  calls = [];
  seen.clear();
  try {
    await fill();
    const { approvals } = await get('/api/approvals?state=pending&limit=500');
    asks = new Map(approvals.map((ask) => [ask.id, ask]));
    tell('pending');
  } catch {
    // The connection tells when it is lost.
  }
  seconds = had;
}
