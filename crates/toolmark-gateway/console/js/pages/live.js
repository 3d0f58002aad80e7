// Live: calls as they happen, and the whole way of one of them.

import { h, icon, put } from '../dom.js';
import { clock, moment, number, t, took, word } from '../i18n.js';
import { get } from '../api.js';
import * as feed from '../feed.js';
import { list } from '../list.js';
import { percentile, spark, stacks } from '../charts.js';
import { behavior, body, choice, empty, facts, family, fault, legend, outcome, pairs, reasons, search, stages, toolname, verdict } from '../parts.js';
import { code, shown } from '../safe.js';

const FAMILIES = ['ok', 'asked', 'denied', 'error'];
/** What the filter was when the page was last shown. */
const wish = { text: '', family: '', pack: '' };

export function open({ me, wanted, note }) {
  let held = false;
  let hovering = false;
  let frozen = [];
  let older = [];
  let next = null;
  let detail = null;
  let last = 0;
  let timer = null;
  const off = [];

  const rows = list({
    height: 34,
    label: t('page.live'),
    key: (call) => call.id,
    row: (call) => [
      h('span.num.soft', { title: moment(call.time_us / 1000) }, clock(call.time_us / 1000)),
      toolname(call.shown ?? { name: call.called }, call.tool?.canonical ?? null),
      h('span.wide', call.state ? null : behavior(call.behavior ?? null)),
      h('span.soft.wide', shown(call.caller ?? '')),
      outcome(call.outcome ?? call.state),
      h('span.num.soft.took', took(call.timings?.total_us)),
    ],
    choose: (call) => show(call?.id ?? null, false),
    open: (call) => show(call.id, true),
  });
  rows.element.classList.add('calls');

  // Figures of the last two minutes.
  const rate = tile(t('live.rate'));
  const latency = tile(t('live.latency'), legend([['p50', 'p50'], ['p95', 'p95'], ['p99', 'p99']]));
  const outcomes = tile(t('live.outcomes'), legend(FAMILIES.map((one) => [one, t(`family.${one}`)])));
  const now = tile(t('live.now'));
  const figures = h('div.tiles', rate.element, latency.element, outcomes.element, now.element);

  const pill = h('button.pill', { type: 'button', hidden: true, onclick: release });
  const pauser = h('button.button', { type: 'button', 'aria-pressed': 'false', onclick: toggle });
  const packs = choice(t('filter.pack'), [['', t('filter.all-packs')]], wish.pack, (value) => { wish.pack = value; refresh(); });
  const filters = h('div.row-of.filters',
    search(t('live.search'), wish.text, (value) => { wish.text = value; refresh(); }),
    choice(t('filter.outcome'), [['', t('filter.all-outcomes')], ...FAMILIES.map((one) => [one, t(`family.${one}`)])], wish.family, (value) => { wish.family = value; refresh(); }),
    packs, pauser,
  );
  const more = h('button.button', { type: 'button', onclick: load }, t('live.older'));
  const second = h('aside.second', { 'aria-label': t('details') });
  const split = h('div.split', h('div.first', h('div.holder', rows.element), h('div.under', pill, more)), second);
  const element = h('section.page', { 'aria-label': t('page.live') },
    h('header.head', h('h1', t('page.live')), filters), h('div.figures', figures), split);

  rows.box.addEventListener('pointerenter', () => { hovering = true; });
  rows.box.addEventListener('pointerleave', () => { hovering = false; refresh(); });
  off.push(feed.onCalls(arrive), feed.onPacks(fillPacks));
  const beat = setInterval(draw, 1000);

  function fillPacks() {
    const names = feed.packsNow().map((pack) => [pack.name, pack.shown?.name ?? pack.name]);
    put(packs, h('option', { value: '' }, t('filter.all-packs')), names.map(([name, text]) => h('option', { value: name }, text)));
    packs.value = wish.pack;
  }

  const resting = () => held || hovering || rows.chosen !== null || rows.box.scrollTop > 4;

  function fits(call) {
    if (wish.family && family(call.outcome ?? call.state) !== wish.family) return false;
    if (wish.pack && call.tool?.pack !== wish.pack) return false;
    if (!wish.text) return true;
    call.text ??= [call.called, call.tool?.canonical, call.shown?.name, call.caller, call.code, call.outcome, call.session, call.task, call.arguments?.text].join(' ').toLowerCase();
    return wish.text.toLowerCase().split(/\s+/).every((part) => call.text.includes(part));
  }

  function items() {
    const begun = [...feed.underWay().values()].reverse().map((one) => ({ ...one, tool: typeof one.tool === 'string' ? { canonical: one.tool, pack: one.tool.split('.')[0] } : one.tool }));
    const known = older.length ? new Set(feed.all().map((call) => call.id)) : null;
    const all = [...begun, ...feed.all(), ...older.filter((call) => !known.has(call.id))];
    return wish.text || wish.family || wish.pack ? all.filter(fits) : all;
  }

  function arrive(added) {
    if (!resting()) return soon();
    frozen = frozen.concat(added.filter(fits)).slice(-feed.MOST);
    pill.hidden = frozen.length === 0;
    pill.textContent = t('live.new', { n: frozen.length });
  }

  /** A list that changes more often than eyes can follow only costs. */
  function soon() {
    const due = last + (feed.busy() ? 250 : 0) - performance.now();
    if (due <= 0) return refresh();
    timer ??= setTimeout(() => { timer = null; if (resting()) arrive([]); else refresh(); }, due);
  }

  function refresh() {
    if (held) return;
    last = performance.now();
    if (rows.chosen !== null || rows.box.scrollTop > 4) {
      // What is looked at stays where it is.
      const before = rows.items;
      const top = before[Math.floor(rows.box.scrollTop / 34)];
      const after = items();
      const at = top ? after.findIndex((call) => call.id === top.id) : -1;
      const was = top ? before.indexOf(top) : -1;
      rows.show(after, { keep: at > was && was >= 0 ? at - was : 0 });
    } else {
      rows.show(items());
    }
    frozen = [];
    pill.hidden = true;
    blank();
  }

  function release() {
    held = false;
    frozen = [];
    rows.top();
    dress();
    refresh();
  }

  function toggle() {
    held = !held;
    dress();
    refresh();
  }

  function dress() {
    put(pauser, icon(held ? 'play' : 'pause'), h('span.wide', t(held ? 'live.resume' : 'live.pause')));
    pauser.setAttribute('aria-pressed', String(held));
    pauser.setAttribute('aria-label', t(held ? 'live.resume' : 'live.pause'));
    pauser.classList.toggle('on', held);
  }

  function blank() {
    if (rows.items.length) return;
    const filtered = wish.text || wish.family || wish.pack;
    rows.blank(filtered ? empty('search', t('live.none'), t('live.none-text')) : empty('live', t('live.empty'), t(me.tools ? 'live.empty-text' : 'catalog.empty-text'), me.tools ? 'toolmark call NAME \'{}\'' : 'toolmark init'));
  }

  async function load() {
    more.disabled = true;
    try {
      const query = new URLSearchParams({ limit: '200' });
      if (next) query.set('before', next);
      if (wish.pack) query.set('pack', wish.pack);
      if (wish.text.trim()) query.set('q', wish.text.trim());
      const page = await get(`/api/calls?${query}`);
      older = older.concat(page.calls);
      next = page.next ?? null;
      more.disabled = !next;
      if (!next) more.textContent = t('live.oldest');
      rows.show(items());
    } catch (error) {
      more.disabled = false;
      put(second, h('div.detail', fault(error, load)));
    }
  }

  function draw() {
    const all = feed.buckets();
    const last = all.slice(-10);
    const perSecond = last.reduce((sum, one) => sum + one.count, 0) / last.length;
    const total = all.reduce((sum, one) => sum + one.count, 0);
    rate.show(number(perSecond, perSecond < 10 ? 1 : 0), spark([all.map((one) => one.count)], { label: t('live.rate-label', { n: total }) }));
    const times = all.map((one) => one.times);
    const whole = times.flat();
    const of = (share) => percentile(whole, share);
    const line = (place) => smooth(all.map((one) => one.shares[place]));
    latency.show(h('span', took(of(0.5)), h('small', ` ${took(of(0.95))} · ${took(of(0.99))}`)), spark([line(0), line(1), line(2)], { classes: ['', 'slow', 'slowest'], top: 3, label: t('live.latency-label', { p50: took(of(0.5)), p95: took(of(0.95)), p99: took(of(0.99)) }) }));
    const sums = FAMILIES.map((one) => all.reduce((sum, bucket) => sum + bucket[one], 0));
    const pairsOf = pairUp(all);
    outcomes.show(h('span', number(total ? (100 * sums[0]) / total : 0), h('small', ' % ', t('family.ok'))), stacks(pairsOf.map((one) => FAMILIES.map((kind) => [kind, one[kind]])), { label: FAMILIES.map((one, at) => `${t(`family.${one}`)}: ${number(sums[at])}`).join(', ') }));
    const waits = feed.pending().length;
    now.show(h('span', number(feed.underWay().size), h('small', ` ${t('live.running')}`)),
      h('a.waits', { href: '#/approvals', class: waits ? 'some' : '' }, t('approvals.waiting', { n: waits })),
      feed.left() ? h('span.soft.small', t('live.missed', { n: feed.left() })) : null);
  }

  async function show(id, opens) {
    detail?.abort();
    note(id ? `#/live/${encodeURIComponent(id)}` : '#/live');
    if (!id) {
      put(second);
      split.classList.remove('opened');
      if (!held) refresh();
      return;
    }
    if (opens) split.classList.add('opened');
    detail = new AbortController();
    try {
      const whole = await get(`/api/calls/${encodeURIComponent(id)}`, detail.signal);
      put(second, card(whole, leave));
      second.scrollTop = 0;
    } catch (error) {
      if (error.name !== 'AbortError') put(second, h('div.detail', fault(error, () => show(id, opens))));
    }
  }

  function leave() {
    rows.pick(null);
    rows.box.focus();
  }

  dress();
  fillPacks();

  return {
    element,
    shown() {
      refresh();
      draw();
      if (wanted) {
        split.classList.add('opened');
        const call = feed.all().find((one) => one.id === wanted);
        if (call) rows.pick(call, true);
        else show(wanted, true);
      }
    },
    go(id) {
      if (id && id !== rows.chosen) show(id, true);
    },
    keys(event) {
      if (event.key === 'Escape') return split.classList.contains('opened') || rows.chosen !== null ? (leave(), true) : false;
      if (event.key === 'p') return toggle(), true;
      return rows.keys(event);
    },
    close() {
      clearInterval(beat);
      clearTimeout(timer);
      detail?.abort();
      rows.end();
      off.forEach((one) => one());
    },
  };
}

/** On a scale that grows tenfold; a second without calls is as the one before it, for a while. */
function smooth(values) {
  let last = 0;
  let age = 0;
  return values.map((us) => {
    age = us === undefined ? age + 1 : 0;
    if (us !== undefined) last = last && age < 3 ? (last + Math.log10(Math.max(us, 1))) / 2 : Math.log10(Math.max(us, 1));
    if (age > 10) last = 0;
    return last;
  });
}

/** Two seconds in one column: two minutes are sixty of them. */
function pairUp(all) {
  const out = [];
  for (let at = 0; at < all.length; at += 2) {
    const [one, other] = [all[at], all[at + 1] ?? all[at]];
    out.push(Object.fromEntries(FAMILIES.map((kind) => [kind, one[kind] + other[kind]])));
  }
  return out;
}

function tile(title, below) {
  const value = h('div.value.num');
  const picture = h('div.picture');
  return {
    element: h('div.tile.card', h('h3', title), value, picture, below),
    show(text, ...drawing) {
      put(value, text);
      put(picture, ...drawing);
    },
  };
}

/** One call, whole. */
export function card({ call, stages: way }, leave) {
  const took_ = call.timings ?? {};
  return h('div.detail',
    h('header',
      h('div.row-of', leave ? h('button.button.bare.back.leave', { type: 'button', 'aria-label': t('close'), title: t('close'), onclick: leave }, icon('close')) : null, h('h2', toolname(call.shown ?? { name: call.called }, call.tool?.canonical))),
      h('div.row-of', outcome(call.outcome), call.verdict ? verdict(call.verdict) : null, behavior(call.behavior), call.code ? code(call.code, 'span') : null, call.tool ? h('a', { href: `#/catalog/${encodeURIComponent(call.tool.canonical)}` }, t('live.tool')) : null),
    ),
    call.reasons?.length ? h('section', h('h3', t('why')), reasons(call.reasons)) : null,
    h('section', h('h3', t('live.way')), stages(way ?? [])),
    call.facts?.length ? h('section', h('h3', t('facts')), facts(call.facts)) : null,
    h('section', h('h3', t('arguments')), call.arguments?.text ? [body(call.arguments.text), call.arguments.cut ? h('p.soft.small', t('cut', { n: call.arguments.size })) : null] : h('p.soft', t(call.arguments?.size ? 'arguments.not-kept' : 'arguments.none', { n: call.arguments?.size ?? 0 }))),
    call.result?.text ? h('section', h('h3', t('result')), body(call.result.text), call.result.cut ? h('p.soft.small', t('cut', { n: call.result.size })) : null) : null,
    h('section', h('h3', t('details')), pairs([
      [t('call.time'), moment(call.time_us / 1000)],
      [t('call.took'), `${took(took_.total_us)} (${word('stage', 'judge')} ${took(took_.examine_us)}, ${word('stage', 'approve')} ${took(took_.approve_us)}, ${word('stage', 'dispatch')} ${took(took_.dispatch_us)})`],
      [t('call.caller'), call.caller ? h('span', shown(call.caller)) : null],
      [t('call.called'), code(call.called, 'span')],
      [t('call.task'), call.task ? h('span', shown(call.task)) : null],
      [t('call.session'), call.session ? code(call.session, 'span') : null],
      [t('call.approved-by'), call.approved_by ? h('span', shown(typeof call.approved_by === 'string' ? call.approved_by : call.approved_by.by ?? JSON.stringify(call.approved_by))) : null],
      [t('call.rules'), call.rules?.length ? call.rules.map((rule) => code(`${rule} `, 'span')) : null],
      [t('call.over'), [call.transport, call.era].filter(Boolean).join(', ')],
      [t('call.mark'), call.tool?.mark ? code(call.tool.mark, 'span') : null],
      [t('call.trace'), call.trace ? code(typeof call.trace === 'string' ? call.trace : JSON.stringify(call.trace), 'span') : null],
      [t('call.id'), code(call.id, 'span')],
      [t('call.node'), call.node ? h('span', shown(call.node)) : null],
    ])),
  );
}
