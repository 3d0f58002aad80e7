// Catalog: every tool, found as fast as one types, and the identity card of one.

import { h, icon, put } from '../dom.js';
import { moment, number, t, took, word } from '../i18n.js';
import { get } from '../api.js';
import * as feed from '../feed.js';
import { list } from '../list.js';
import { badge, behavior, behaviorKind, choice, difference, empty, fault, loading, pairs, search, toolname, verdict } from '../parts.js';
import { code, json, name, shown, tag, visible } from '../safe.js';
import { stamp } from '../mark.js';

const wish = { text: '', pack: '', behavior: '', standing: '', twins: false };
/** Kept while the console is open: it is large, and the gateway tells when it changes. */
let kept = null;

const STANDING = { pinned: 'good', changed: 'bad', new: '', 'first-use': 'warn', 'not-in-lock': 'bad' };

/** Rows as they come, made into something to look things up in. */
export function read(answer) {
  const at = Object.fromEntries(answer.columns.map((column, place) => [column, place]));
  const packs = new Set(answer.packs.map((pack) => pack.name));
  const tools = answer.rows.map((row) => {
    const canonical = row[at.canonical];
    const dot = canonical.indexOf('.');
    const pack = dot > 0 && packs.has(canonical.slice(0, dot)) ? canonical.slice(0, dot) : '';
    const does = row[at.behavior] === null ? null : answer.behaviors[row[at.behavior]];
    return {
      canonical, pack, behavior: does, kind: behaviorKind(does), name: row[at.name], lang: row[at.lang], agreement: row[at.agreement], standing: row[at.standing],
      siblings: row[at.siblings] ?? 0, about: row[at.about] ?? '', category: row[at.category], icon: row[at.icon], text: `${canonical}\n${row[at.name]}\n${row[at.about] ?? ''}\n${does ?? ''}\n${row[at.category] ?? ''}`.toLowerCase(),
    };
  });
  return { version: answer.version, packs: answer.packs, tools, problems: answer.problems ?? [] };
}

/** Names that begin with what was typed come first. */
export function find(tools, wanted) {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tools.filter((tool) =>
    (!wanted.pack || tool.pack === wanted.pack) && (!wanted.behavior || (wanted.behavior === 'unknown' ? !tool.kind : tool.kind === wanted.behavior)) && (!wanted.standing || tool.standing === wanted.standing)
    && (!wanted.twins || tool.siblings > 0) && words.every((one) => tool.text.includes(one)));
  if (!words.length) return found;
  const rank = (tool) => {
    const raw = tool.canonical.slice(tool.pack ? tool.pack.length + 1 : 0).toLowerCase();
    if (raw === words[0] || tool.canonical.toLowerCase() === words[0]) return 0;
    if (raw.startsWith(words[0]) || tool.name.toLowerCase().startsWith(words[0])) return 1;
    return raw.includes(words[0]) || tool.name.toLowerCase().includes(words[0]) ? 2 : 3;
  };
  return found.map((tool) => [rank(tool), tool]).sort(([one], [other]) => one - other).map(([, tool]) => tool);
}

export function open({ wanted, note }) {
  let all = null;
  let detail = null;
  let chosen = null;
  const rows = list({
    height: 52,
    label: t('page.catalog'),
    key: (tool) => tool.canonical,
    row: (tool) => [
      stamp(tool.canonical, 26),
      h('div.lines', h('div.title', name(tool.name, tool.lang), h('span.wide.soft', code(tool.canonical, 'span'))), h('div.soft.small', { dir: 'auto' }, shown(tool.about || tool.canonical))),
      h('span.wide.standing', tool.standing && tool.standing !== 'pinned' && tool.standing !== 'new' ? badge(STANDING[tool.standing], word('standing', tool.standing)) : null, tool.agreement === 'disputed' ? badge('warn', word('agreement', 'disputed')) : null, tool.siblings ? badge('', t('catalog.twins', { n: tool.siblings })) : null),
      behavior(tool.behavior),
    ],
    choose: (tool) => tool && show(tool.canonical, false),
    open: (tool) => show(tool.canonical, true),
  });
  const count = h('span.soft.num', { role: 'status' });
  const packs = choice(t('filter.pack'), [['', t('filter.all-packs')]], wish.pack, (value) => { wish.pack = value; refresh(); });
  const kinds = choice(t('filter.behavior'), [['', t('filter.all-behaviors')], ...['pure', 'mutates', 'destroys', 'unknown'].map((one) => [one, t(`kind.${one}`)])], wish.behavior, (value) => { wish.behavior = value; refresh(); });
  const standing = choice(t('filter.standing'), [['', t('filter.all-standings')], ...Object.keys(STANDING).map((one) => [one, word('standing', one)])], wish.standing, (value) => { wish.standing = value; refresh(); });
  const twins = h('button.button', { type: 'button', 'aria-pressed': String(wish.twins), class: wish.twins ? 'on' : '', onclick: () => { wish.twins = !wish.twins; twins.classList.toggle('on', wish.twins); twins.setAttribute('aria-pressed', String(wish.twins)); refresh(); } }, t('filter.twins'));
  const second = h('aside.second', { 'aria-label': t('details') });
  const split = h('div.split.tools', h('div.first', rows.element), second);
  const element = h('section.page', { 'aria-label': t('page.catalog') },
    h('header.head', h('h1', t('page.catalog')), count, h('div.row-of.filters', search(t('catalog.search'), wish.text, (value) => { wish.text = value; refresh(); }), packs, kinds, standing, twins)), split);
  const off = [feed.onCatalog(() => { kept = null; load(); })];

  async function load() {
    try {
      const lang = document.documentElement.lang;
      if (!kept || kept.lang !== lang) kept = { lang, ...read(await get('/api/catalog')) };
      all = kept;
    } catch (error) {
      return rows.blank(fault(error, load));
    }
    put(packs, h('option', { value: '' }, t('filter.all-packs')), all.packs.map((pack) => h('option', { value: pack.name, selected: pack.name === wish.pack }, pack.shown?.name ?? pack.name)));
    packs.value = wish.pack;
    refresh();
    if (chosen) rows.mark(chosen);
  }

  function refresh() {
    if (!all) return;
    const found = find(all.tools, wish);
    rows.show(found);
    rows.top();
    count.textContent = t('catalog.count', { n: found.length, all: all.tools.length });
    if (!found.length) rows.blank(all.tools.length ? empty('search', t('catalog.none'), t('catalog.none-text')) : empty('catalog', t('catalog.empty'), t('catalog.empty-text'), 'toolmark init'));
    rows.now();
  }

  async function show(canonical, opens) {
    if (opens) split.classList.add('opened');
    if (canonical === chosen) return;
    chosen = canonical;
    if (!second.childElementCount) put(second, loading());
    note(`#/catalog/${encodeURIComponent(canonical)}`);
    detail?.abort();
    detail = new AbortController();
    try {
      const tool = await get(`/api/catalog/${encodeURIComponent(canonical)}`, detail.signal);
      if (chosen !== canonical) return;
      put(second, card(tool, leave));
      second.scrollTop = 0;
      rows.mark(canonical);
    } catch (error) {
      chosen = null;
      if (error.name !== 'AbortError') put(second, h('div.detail', fault(error, () => show(canonical, opens))));
    }
  }

  function leave() {
    split.classList.remove('opened');
    rows.box.focus();
  }

  return {
    element,
    shown() {
      rows.blank(loading());
      load();
      if (wanted) show(wanted, true);
    },
    go: (canonical) => canonical && show(canonical, true),
    keys: (event) => (event.key === 'Escape' ? (leave(), true) : rows.keys(event)),
    close() {
      detail?.abort();
      rows.end();
      off.forEach((one) => one());
    },
  };
}

/** The identity card of a tool: every layer, from what people read to what nobody can forge. */
function card(tool, leave) {
  const does = tool.known ? [tool.known.mutability, tool.known.action, tool.known.output_domain].filter(Boolean).join('|') : null;
  const layers = tool.display ?? [];
  const won = layers.find((one) => one.layer === tool.shown?.layer && one.name === tool.shown?.name);
  const layer = (label, about, value, kind) => h('div.layer', { class: kind }, h('div.label', h('b', label), h('span', about)), h('div.value', value));
  const exposed = new Map();
  for (const [client, text] of Object.entries(tool.exposed ?? {})) exposed.set(text, [...(exposed.get(text) ?? []), client]);
  return h('div.detail.identity',
    h('header',
      h('div.row-of', h('button.button.bare.back', { type: 'button', 'aria-label': t('close'), onclick: leave }, icon('back')), stamp(tool.canonical, 44), h('div.grow', h('h2', name(tool.shown?.name ?? tool.canonical, tool.shown?.lang, tool.shown?.dir)), code(tool.canonical, 'div'))),
      h('div.row-of', behavior(does), tool.known?.agreement ? badge(tool.known.agreement === 'disputed' ? 'warn' : '', word('agreement', tool.known.agreement)) : null, tool.standing ? badge(STANDING[tool.standing] ?? '', word('standing', tool.standing)) : null, tool.shown?.category ? badge('info', tool.shown.category) : null),
      tool.shown?.spoken ? h('p.spoken', '“', name(tool.shown.spoken, tool.shown.lang, tool.shown.dir), '”') : null,
      tool.description ? h('pre.plain.about', { dir: 'auto' }, shown(tool.description, true)) : null,
    ),
    tool.diff?.length ? h('section', h('h3', t('approvals.changed')), difference(tool.diff)) : null,
    h('section', h('h3', t('catalog.layers')), h('div.layers',
      layer(t('layer.display'), t('layer.display-text'), [
        layers.map((one) => h('div.pairline', { class: one === won ? 'won' : '' }, h('span.soft', [word('names', one.layer), one.lang].filter(Boolean).join(' · ')), one.name ? name(one.name, one.lang, one.dir) : h('span.soft', '–'), one === won ? icon('check', t('catalog.won')) : null)),
        Object.entries(tool.names ?? {}).filter(([lang]) => !layers.some((one) => one.lang === lang)).map(([lang, text]) => h('div.pairline', h('span.soft', shown(lang)), name(text, tag(lang)))),
      ], 'people'),
      layer(t('layer.exposed'), t('layer.exposed-text'), [...exposed].map(([text, clients]) => h('div', code(String(text), 'div'), h('div.soft.small', clients.map(visible).join(', '))))),
      layer(t('layer.canonical'), t('layer.canonical-text'), code(tool.canonical, 'div')),
      layer(t('layer.pack'), t('layer.pack-text'), [code(tool.pack ?? '–', 'div'), tool.source ? h('div.soft.small', code(tool.source, 'span')) : null]),
      layer(t('layer.raw'), t('layer.raw-text'), code(tool.raw, 'div')),
      layer(t('layer.lookup'), t('layer.lookup-text'), code([tool.lookup_key].flat().map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' · '), 'div')),
      layer(t('layer.approval'), t('layer.approval-text'), code(text(tool.approval_key), 'div')),
      layer(t('layer.trace'), t('layer.trace-text'), code(text(tool.trace_name), 'div')),
      layer(t('layer.behavior'), t('layer.behavior-text'), [behavior(does), tool.known?.identity ? code(tool.known.identity, 'div') : null, tool.known?.source ? h('div.soft.small', t('catalog.said-by', { who: word('source', tool.known.source) })) : null]),
      layer(t('layer.digest'), t('layer.digest-text'), code(text(tool.digest), 'div')),
      layer(t('layer.mark'), t('layer.mark-text'), code(text(tool.mark), 'div'), 'proof'),
    )),
    tool.siblings?.length || tool.same_name?.length ? h('section', h('h3', t('catalog.siblings')), h('div.siblings',
      (tool.siblings ?? []).slice(0, 60).map((one) => h('a.sibling', { href: `#/catalog/${encodeURIComponent(one.tool)}` }, toolname(one.shown, one.tool), behavior(one.behavior), badge(one.separated === 'nothing' || one.separated === 'unknown' ? 'deny' : 'good', word('separated', one.separated)))),
      (tool.siblings ?? []).length > 60 ? h('p.soft', t('more', { n: tool.siblings.length - 60 })) : null,
      (tool.same_name ?? []).map((one) => h('a.sibling', { href: `#/catalog/${encodeURIComponent(one)}` }, code(one, 'span'), badge('warn', t('catalog.same-name')))))) : null,
    h('section', h('h3', t('catalog.rules')), tool.rules?.length ? h('div.siblings', tool.rules.map((rule) => h('div.sibling', verdict(rule.verdict), code(rule.id, 'span'), h('span.soft', { dir: 'auto' }, shown(rule.text ?? ''))))) : h('p.soft', t('catalog.no-rules')),
      tool.expected_by?.length ? h('p.soft.small', t('catalog.expected'), ' ', tool.expected_by.map((task) => [badge('info', task), ' '])) : null),
    tool.history?.length ? h('section', h('h3', t('catalog.history')), h('ol.history', tool.history.map((one, at) => h('li', { class: one.replaced ? 'old' : '' }, h('span.knot'), h('span.num', moment(Date.parse(one.first_seen))), code(String(one.digest).slice(0, 23), 'span'), at === 0 && !one.replaced ? badge('good', t('catalog.current')) : null))),
      tool.pin ? h('p.soft.small', t('catalog.pinned', { by: tool.pin.by ?? '–', how: word('pinned', tool.pin.how), at: tool.pin.at ? moment(Date.parse(tool.pin.at)) : '–' })) : null) : null,
    tool.calls ? h('section', h('h3', t('catalog.calls')), pairs([[t('calls.total'), number(tool.calls.total ?? 0)], [t('calls.errors'), number(tool.calls.errors ?? 0)], [t('calls.p50'), took(tool.calls.p50_us)], [t('calls.p95'), took(tool.calls.p95_us)], [t('calls.last'), tool.calls.last ? moment(Date.parse(tool.calls.last)) : null]])) : null,
    tool.grants?.length ? h('section', h('h3', t('approvals.grants')), tool.grants.map((grant) => h('div.row-of', badge(grant.allows ? 'allow' : 'deny', word('scope', grant.scope)), h('span', shown(grant.principal)), h('span.soft', shown(grant.covers?.text ?? grant.covers?.effect ?? ''))))) : null,
    h('details', h('summary', t('catalog.schema')), json(tool.input_schema ?? {}, t), tool.output_schema ? [h('h3', t('catalog.output')), json(tool.output_schema, t)] : null, tool.annotations && Object.keys(tool.annotations).length ? [h('h3', t('catalog.annotations')), json(tool.annotations, t)] : null),
  );
}

const text = (value) => (value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));
