// Health: which servers are there, how fast they are, and what went wrong.

import { h, put } from '../dom.js';
import { away, clock, number, t, took, word } from '../i18n.js';
import { get } from '../api.js';
import * as feed from '../feed.js';
import { bar, reach, stacks } from '../charts.js';
import { badge, empty, family, fault, legend, loading, outcome, pairs, toolname } from '../parts.js';
import { code, name, shown } from '../safe.js';

const STATES = { ready: 'good', starting: 'warn', unavailable: 'bad', failed: 'bad', resting: 'warn', disabled: '' };
const times = (of) => t('health.times', { p50: took(of.p50_us), p95: took(of.p95_us), p99: took(of.p99_us) });
const dots = (of) => reach([['p99', of.p99_us], ['p95', of.p95_us], ['p50', of.p50_us]], { label: times(of) });

export function open() {
  const content = h('div.health');
  const element = h('section.page', { 'aria-label': t('page.health') }, h('header.head', h('h1', t('page.health')), legend([['p50', 'p50'], ['p95', 'p95'], ['p99', 'p99']]), h('p.lead', t('health.lead'))), h('div.scroll', content));
  const beat = setInterval(() => { if (!document.hidden) load(); }, 5000);
  const off = [feed.onPacks(load)];
  let open_ = new Set();

  async function load() {
    try {
      const health = await get('/api/health');
      // What was unfolded stays so.
      open_ = new Set([...content.querySelectorAll('details[open]')].map((one) => one.dataset.of));
      draw(health);
    } catch (error) {
      if (error.status || content.querySelector('.loading')) put(content, fault(error, load));
    }
  }

  function draw(of) {
    const minutes = of.minutes ?? [];
    const total = minutes.reduce((sum, one) => sum + one.calls, 0);
    const columns = minutes.map((one) => [['ok', Math.max(0, one.calls - one.errors - one.asked - one.denied)], ['asked', one.asked], ['denied', one.denied], ['error', one.errors]]);
    const families = {};
    for (const [kind, n] of Object.entries(of.outcomes ?? {})) families[family(kind)] = (families[family(kind)] ?? 0) + n;
    put(content,
      h('div.tiles.three',
        h('div.tile.card', h('h3', t('health.hour')), h('div.value.num', number(total), h('small', ` ${t('health.calls')}`)), stacks(columns, { label: t('health.hour-label', { n: total }) }), h('div.axis', h('span', minutes[0] ? clock(Date.parse(minutes[0].time)).slice(0, 5) : ''), h('span', t('now')))),
        h('div.tile.card', h('h3', t('live.outcomes')), h('div.outcomes', Object.entries(of.outcomes ?? {}).sort(([, one], [, other]) => other - one).slice(0, 6).map(([kind, n]) => h('div.row-of', outcome(kind), h('span.num', number(n))))), bar(['ok', 'asked', 'denied', 'error'].map((one) => [one, families[one] ?? 0, t(`family.${one}`)]))),
        h('div.tile.card', h('h3', t('health.gateway')), pairs([
          [t('health.version'), `${of.version ?? ''}`], [t('health.node'), of.node], [t('health.up'), of.started ? away(Date.parse(of.started) - Date.now()) : null],
          [t('health.store'), of.store ? h('span', badge(of.store.works === false ? 'bad' : 'good', of.store.kind ?? ''), ' ', code(of.store.place ?? '', 'span')) : null],
          [t('health.audit'), of.audit ? h('span', t('health.audit-says', { n: of.audit.written ?? 0 }), of.audit.lost || of.audit.failures ? [' ', badge('bad', t('health.audit-lost', { n: (of.audit.lost ?? 0) + (of.audit.failures ?? 0) }))] : null) : null],
          [t('health.sessions'), of.held ? number(of.held.sessions ?? 0) : null],
          [t('health.nodes'), of.nodes?.length > 1 ? of.nodes.map((one) => one.name).join(', ') : null],
        ])),
      ),
      h('h2', t('health.packs')),
      of.packs?.length ? h('div.packs', of.packs.map(pack)) : h('div.center', empty('health', t('health.empty'), t('health.empty-text'), 'toolmark init')),
      of.stages ? h('section.card.pad', h('h2', t('health.stages')), h('div.lanes', Object.entries(of.stages).filter(([, one]) => one?.count).map(([stage, one]) => h('div.lane', h('span', word('stage', stage === 'examine' ? 'judge' : stage)), dots(one), h('span.soft.num.small', times(one)))))) : null,
      of.tools?.length ? h('section.card.pad', h('h2', t('health.tools')), h('div.lanes', of.tools.slice(0, 20).map((one) => h('a.lane', { href: `#/catalog/${encodeURIComponent(one.canonical)}` }, toolname(one.shown, one.canonical), dots(one), h('span.soft.num.small', `${number(one.calls)} × `, took(one.p50_us), one.errors ? [' ', badge('bad', t('health.errors', { n: one.errors }))] : null))))) : null,
      of.refused?.length ? h('section.card.pad', h('h2', t('health.refused')), h('ul', of.refused.map((one) => h('li.row-of', badge('warn', String(one.status)), code(one.code, 'span'), h('b.num', number(one.count)))))) : null,
    );
  }

  function pack(of) {
    const state = of.resting ? 'resting' : of.state;
    return h('article.card.pad.pack', { class: STATES[state] ?? '' },
      h('header', h('h3', name(of.shown?.name ?? of.name, of.shown?.lang, of.shown?.dir)), badge(STATES[state] ?? '', word('pack-state', state))),
      h('p.soft.small', code(of.name, 'span'), of.source ? [' · ', code(of.source, 'span')] : null),
      of.why ? h('p.why', { dir: 'auto' }, shown(of.why)) : null,
      of.calls ? [dots(of), h('p.soft.small.num', times(of))] : h('p.soft.small', t('health.no-calls')),
      h('div.row-of.small', h('span', t('health.tools-n', { n: of.tools ?? 0 })), h('span', t('health.calls-n', { n: of.calls ?? 0 })), of.errors ? badge('bad', t('health.errors', { n: of.errors })) : null, of.restarts ? badge('warn', t('health.restarts', { n: of.restarts })) : null, of.era ? h('span.soft', of.era) : null),
      of.stderr?.length ? h('details', { 'data-of': of.name, open: open_.has(of.name) }, h('summary', t('health.stderr', { n: of.stderr.length })), h('pre.plain', { dir: 'ltr' }, shown(of.stderr.join('\n'), true))) : null,
    );
  }

  put(content, loading());
  return { element, shown: load, close: () => { clearInterval(beat); off.forEach((one) => one()); } };
}
