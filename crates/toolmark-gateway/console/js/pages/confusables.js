// Confusables: which tools can be taken for each other, drawn. A figure is a trunk (what they share), branches (what they do) and leaves (the tools).
// A bundle that nothing separates is tied together in red. Many groups are a map of small figures.

import { h, icon, put, s } from '../dom.js';
import { number, t, word } from '../i18n.js';
import { get } from '../api.js';
import * as feed from '../feed.js';
import { badge, behavior, behaviorKind, empty, fault, legend, loading, search } from '../parts.js';
import { code, name, shown, visible } from '../safe.js';
import { stamp } from '../mark.js';

const KINDS = ['same-schema', 'same-name', 'look-alike-name', 'same-display-name'];
/** So many figures are drawn large; more become a map. */
const FEW = 6;
const ROW = 42;
const EDGE = 170;
const LEAVES = 14;

/** The tools of a group in bundles: one for each behavior, and within it what nothing separates. */
export function branches(group) {
  const { tools, links = [] } = group;
  const parent = tools.map((_, at) => at);
  const root = (at) => (parent[at] === at ? at : (parent[at] = root(parent[at])));
  for (const [one, other, what] of links) {
    if ((what === 'nothing' || what === 'unknown') && tools[one] && tools[other]) parent[root(one)] = root(other);
  }
  const out = new Map();
  tools.forEach((tool, at) => {
    const key = tool.behavior ?? '';
    if (!out.has(key)) out.set(key, { behavior: tool.behavior ?? null, kind: behaviorKind(tool.behavior), bundles: new Map() });
    const bundles = out.get(key).bundles;
    // Two of one behavior that something else separates stay apart.
    const tied = root(at);
    if (!bundles.has(tied)) bundles.set(tied, []);
    bundles.get(tied).push({ tool, at });
  });
  const weight = { destroys: 0, mutates: 1, '': 2, pure: 3 };
  return [...out.values()].map((branch) => ({ ...branch, bundles: [...branch.bundles.values()] })).sort((one, other) => weight[one.kind] - weight[other.kind]);
}

export function open() {
  let groups = [];
  let answer = null;
  let text = '';
  let chosen = null;
  const body = h('div.confused');
  const count = h('span.soft', { role: 'status' });
  const key = legend([['pure', t('kind.pure')], ['mutates', t('kind.mutates')], ['destroys', t('kind.destroys')]]);
  const element = h('section.page', { 'aria-label': t('page.confusables') },
    h('header.head', h('h1', t('page.confusables')), count, h('div.row-of.filters', search(t('confusables.search'), '', (value) => { text = value; draw(); })), h('p.lead', t('confusables.lead')), key), body);
  const off = [feed.onCatalog(load)];

  async function load() {
    try {
      answer = await get('/api/confusables');
      groups = answer.groups ?? [];
      draw();
    } catch (error) {
      put(body, h('div.scroll', fault(error, load)));
    }
  }

  function draw() {
    const wanted = text.toLowerCase();
    const found = groups.filter((group) => !wanted || [group.key, group.pack, ...(group.parameters ?? []), ...group.tools.flatMap((tool) => [tool.canonical, tool.shown?.name])].join(' ').toLowerCase().includes(wanted));
    const among = new Set(found.flatMap((group) => group.tools.map((tool) => tool.canonical))).size;
    // Large groups come with their first tools only.
    const more = answer.left_off || found.some((group) => group.tools.length >= 60) ? '+' : '';
    count.textContent = t('confusables.count', { n: found.length, among: `${number(among)}${more}`, all: answer.tools ?? 0 });
    if (!found.length) {
      return put(body, h('div.scroll', h('div.center', groups.length ? empty('search', t('confusables.none'), t('confusables.none-text')) : empty('confusables', t('confusables.empty'), t('confusables.empty-text')))));
    }
    if (found.length <= FEW) {
      return put(body, h('div.scroll', h('div.figures-large', found.map(figure)), left()));
    }
    const side = h('aside.second', { 'aria-label': t('details') });
    const choose = (group, button) => {
      chosen = group.key + group.kind;
      for (const one of body.querySelectorAll('.mini[aria-pressed=true]')) one.setAttribute('aria-pressed', 'false');
      button?.setAttribute('aria-pressed', 'true');
      put(side, h('div.detail', h('button.button.bare.back', { type: 'button', 'aria-label': t('close'), onclick: () => split.classList.remove('opened') }, icon('back')), figure(group, true)));
    };
    const sections = KINDS.map((kind) => [kind, found.filter((group) => group.kind === kind)]).filter(([, of]) => of.length);
    const first = found[0];
    const split = h('div.split.map', h('div.first', h('div.scroll', sections.map(([kind, of]) => h('section.kind', h('h2', t(`confusables.${kind}`), ' ', h('span.soft.num', number(of.length))), h('p.soft.small', t(`confusables.${kind}-text`)),
      h('div.minis', of.map((group) => {
        const button = h('button.mini', { type: 'button', class: group.severity, 'aria-pressed': String(chosen === group.key + group.kind), 'aria-label': t('confusables.group', { what: label(group), n: group.tools.length, severity: word('severity', group.severity) }), title: label(group), onclick: () => { choose(group, button); split.classList.add('opened'); } }, mini(group), h('span.under-mini', shown(short(label(group)))));
        return button;
      })))), left())), side);
    put(body, split);
    choose(found.find((group) => group.key + group.kind === chosen) ?? first, body.querySelector('.mini[aria-pressed=true]') ?? body.querySelector('.mini'));
  }

  const left = () => (answer.left_off ? h('p.soft', t('confusables.left-off', { n: answer.left_off })) : null);

  return {
    element,
    shown() {
      put(body, loading());
      load();
    },
    keys(event) {
      const minis = [...body.querySelectorAll('.mini')];
      if (!minis.length || !['j', 'k', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp'].includes(event.key)) return false;
      const now = minis.findIndex((one) => one.getAttribute('aria-pressed') === 'true');
      const next = minis[Math.min(minis.length - 1, Math.max(0, now + (['j', 'ArrowRight', 'ArrowDown'].includes(event.key) ? 1 : -1)))];
      next.focus();
      next.click();
      return true;
    },
    close: () => off.forEach((one) => one()),
  };
}

function label(group) {
  if (group.kind === 'same-schema') return `${group.pack ? `${group.pack}: ` : ''}${(group.parameters ?? []).join(', ') || t('confusables.no-arguments')}`;
  return group.key ?? '';
}

const short = (text) => (text.length > 26 ? `${text.slice(0, 25)}…` : text);

/** A whole figure. */
function figure(group) {
  const all = branches(group);
  const leaves = all.flatMap((branch) => branch.bundles.flatMap((bundle, at) => bundle.map((leaf, place) => ({ ...leaf, branch, bundle, first: at === 0 && place === 0 }))));
  const box = h('figure.figure.card', { class: group.severity });
  const draw = (count) => {
    const shownLeaves = leaves.slice(0, count);
    put(box,
      h('figcaption', h('div.row-of', badge(group.severity === 'critical' || group.severity === 'high' ? 'deny' : group.severity === 'medium' ? 'ask' : '', word('severity', group.severity)), h('span.soft.small', t(`confusables.${group.kind}`)), group.separated ? h('span.soft.small', t('confusables.separated'), ' ', h('b', word('separated', group.separated))) : null), h('p', { dir: 'auto' }, shown(group.says ?? ''))),
      h('div.tree',
        h('div.trunk', h('div.hub', hub(group))),
        edges(all, shownLeaves),
        h('ul.leaves', shownLeaves.map(({ tool }) => h('li', h('a', { href: `#/catalog/${encodeURIComponent(tool.canonical)}` }, stamp(tool.canonical, 22), h('span.lines', name(tool.shown?.name ?? tool.canonical, tool.shown?.lang, tool.shown?.dir), code(tool.canonical, 'span')), h('span.narrow', behavior(tool.behavior))))))),
      leaves.length > count ? h('button.button', { type: 'button', onclick: () => draw(leaves.length) }, t('more', { n: leaves.length - count })) : null,
      group.help ? h('p.soft.small.keep', { dir: 'auto' }, shown(group.help, true)) : null,
    );
  };
  draw(LEAVES);
  return box;
}

function hub(group) {
  if (group.kind === 'same-schema') {
    const names = group.parameters ?? [];
    return [h('span.small.soft', t('confusables.takes')), names.length ? [names.slice(0, 8).map((one) => code(one, 'span')), names.length > 8 ? h('span.soft.small', t('more', { n: names.length - 8 })) : null] : h('span.soft', t('confusables.no-arguments'))];
  }
  return [h('span.small.soft', t(group.kind === 'same-display-name' ? 'confusables.read-as' : 'confusables.called')), group.kind === 'same-display-name' ? h('b', name(group.key ?? '')) : code(group.key ?? '', 'b')];
}

/** From the trunk to the leaves: a curve for each behavior with its name on it, a fork for each bundle. */
function edges(all, leaves) {
  const height = Math.max(1, leaves.length) * ROW;
  const drawing = s('svg.edges', { width: EDGE, height, viewBox: `0 0 ${EDGE} ${height}`, role: 'img', 'aria-label': all.map((branch) => `${branch.behavior ?? t('behavior.unknown')}: ${branch.bundles.flat().length}`).join('; ') });
  const y = (row) => row * ROW + ROW / 2;
  const middle = height / 2;
  for (const branch of all) {
    const rows = leaves.map((leaf, row) => [leaf, row]).filter(([leaf]) => leaf.branch.behavior === branch.behavior);
    if (!rows.length) continue;
    const center = rows.reduce((sum, [, row]) => sum + y(row), 0) / rows.length;
    const knot = rows.length > 1 ? EDGE - 22 : EDGE;
    drawing.append(s('path', { class: `edge ${branch.kind}`, d: `M0 ${middle}C${EDGE * 0.32} ${middle} ${EDGE * 0.2} ${center} ${EDGE * 0.42} ${center}L${knot} ${center}`, 'stroke-width': Math.min(5, 1.5 + rows.length * 0.5) }));
    const says = edgeName(branch, all);
    const wide = Math.min(knot - EDGE * 0.36, says.length * 6.1 + 14);
    const fits = Math.floor((wide - 8) / 6.05);
    drawing.append(s('rect', { class: `plate ${branch.kind}`, x: knot - wide - 8, y: center - 9, width: wide, height: 18, rx: 4 }), s('text', { class: `edgesays ${branch.kind}`, x: knot - 8 - wide / 2, y: center + 3.7, 'text-anchor': 'middle' }, says.length > fits ? `${says.slice(0, fits - 1)}…` : says, s('title', visible(branch.behavior ?? says))));
    if (rows.length === 1) continue;
    for (const [leaf, row] of rows) {
      const tied = leaf.bundle.length > 1;
      drawing.append(s('path', { class: `fork ${tied ? 'tied' : branch.kind}`, d: `M${knot} ${center}L${knot} ${y(row)}L${EDGE} ${y(row)}` }));
    }
  }
  return drawing;
}

/** What a branch does, in the words in which it differs from the others. */
function edgeName(branch, all) {
  if (!branch.behavior) return t('behavior.unknown');
  const cut = (text) => String(text).split('|').map(visible);
  const parts = cut(branch.behavior);
  const twins = all.filter((other) => other !== branch && other.behavior).map((other) => cut(other.behavior)).filter((other) => [0, 1, 2].every((at) => other[at] === parts[at]));
  const differs = parts.find((part, at) => at > 2 && part && part !== '-' && twins.some((other) => other[at] !== part));
  return [parts[1] ?? parts[0], twins.length && differs ? differs : parts[2]].filter(Boolean).join(' ');
}

/** A figure as small as a fingernail. */
function mini(group) {
  const leaves = branches(group).flatMap((branch) => branch.bundles.flatMap((bundle) => bundle.map(() => ({ kind: branch.kind, tied: bundle.length > 1 }))));
  const drawn = leaves.slice(0, 9);
  const drawing = s('svg', { viewBox: '0 0 84 48', 'aria-hidden': 'true' });
  const step = 44 / drawn.length;
  drawn.forEach((leaf, at) => {
    const y = 2 + step * (at + 0.5);
    drawing.append(s('path', { class: `edge ${leaf.tied ? 'tied' : leaf.kind}`, d: `M16 24C40 24 36 ${y} 62 ${y}` }));
    drawing.append(leaf.kind === 'pure' ? s('circle', { class: 'leaf pure', cx: 66, cy: y, r: Math.min(3.6, step / 2.2) }) : s('rect', { class: `leaf ${leaf.kind}`, x: 66 - Math.min(3.2, step / 2.4), y: y - Math.min(3.2, step / 2.4), width: Math.min(6.4, step / 1.2), height: Math.min(6.4, step / 1.2) }));
  });
  drawing.append(group.kind === 'same-schema' ? s('rect', { class: 'hubdot', x: 6, y: 17, width: 12, height: 14, rx: 3 }) : s('circle', { class: 'hubdot', cx: 12, cy: 24, r: 7 }));
  if (leaves.length > drawn.length) drawing.append(s('text', { class: 'rest', x: 72, y: 27 }, `+${leaves.length - drawn.length}`));
  return drawing;
}
