// Policy: which rules there are and how often they spoke, and what another policy would have done to the calls that were recorded.

import { h, icon, put } from '../dom.js';
import { moment, number, t, word } from '../i18n.js';
import { events, get } from '../api.js';
import { bar } from '../charts.js';
import { badge, choice, empty, fault, legend, loading, toolname, verdict } from '../parts.js';
import { code, shown, visible } from '../safe.js';

const CHANGES = ['unchanged', 'newly_allowed', 'newly_asked', 'newly_denied', 'not_judged'];
const COLORS = { unchanged: '', newly_allowed: 'allow', newly_asked: 'ask', newly_denied: 'deny', not_judged: 'gap' };
const draft = { preset: '', rules: '', cedar: '', since: '86400' };

export function open({ me }) {
  let window_ = '86400';
  let running = null;
  const content = h('div.policy');
  const spans = [['3600', t('since.hour')], ['86400', t('since.day')], ['604800', t('since.week')], ['2592000', t('since.month')]];
  const element = h('section.page', { 'aria-label': t('page.policy') },
    h('header.head', h('h1', t('page.policy')), choice(t('since'), spans, window_, (value) => { window_ = value; load(); }), h('p.lead', t('policy.lead'))), h('div.scroll', content, replay()));

  const since = (seconds) => new Date(Date.now() - Number(seconds) * 1000).toISOString();

  async function load() {
    try {
      draw(await get(`/api/policy?since=${encodeURIComponent(since(window_))}`));
    } catch (error) {
      put(content, fault(error, load));
    }
  }

  function draw(policy) {
    const verdicts = policy.verdicts ?? {};
    const most = Math.max(1, ...[...policy.rules, ...(policy.defaults ?? [])].map((rule) => rule.hits ?? 0));
    put(content,
      h('div.card.pad.summary', h('div.row-of', h('b', t('policy.preset')), badge('info', word('preset', policy.preset)), policy.observes ? badge('warn', t('policy.observes')) : null, h('span.soft', t('policy.window', { n: policy.window?.calls ?? 0, since: moment(Date.parse(policy.window?.since)) })), policy.window?.whole === false ? h('span.soft', t('policy.not-whole')) : null),
        bar(['allow', 'ask', 'deny'].map((one) => [one, verdicts[one] ?? 0, word('verdict', one)])),
        legend(['allow', 'ask', 'deny'].map((one) => [one, `${word('verdict', one)} ${number(verdicts[one] ?? 0)}`]))),
      (policy.notes ?? []).map((note) => h('p.note', icon('warning'), h('span', shown(note.what ?? '')))),
      h('section', h('h2', t('policy.rules')), policy.rules.length ? h('ul.rules', policy.rules.map((rule) => row(rule, most, policy))) : h('div.center.low', empty('policy', t('policy.empty'), t('policy.empty-text')))),
      policy.defaults?.length ? h('section', h('h2', t('policy.defaults')), h('ul.rules', policy.defaults.map((rule) => row({ ...rule, id: rule.code, kind: 'default', verdict: (rule.denied ?? 0) > 0 ? 'deny' : 'ask' }, most)))) : null,
      policy.tasks?.length ? h('section', h('h2', t('policy.tasks')), h('ul.rules', policy.tasks.map((task) => h('li.rule.card', h('b', shown(task.name)), h('span.conditions', (task.expect ?? []).map((one) => code(one, 'span'))), task.on_mismatch ? badge(task.on_mismatch === 'deny' ? 'deny' : 'ask', t('policy.otherwise', { verdict: word('verdict', task.on_mismatch) })) : null)))) : null,
    );
  }

  function row(rule, most) {
    const written = Object.entries(rule.written ?? {}).filter(([key]) => key !== 'verdict' && key !== 'id' && key !== 'reason');
    return h('li.rule.card', { class: rule.hits ? '' : 'idle' },
      verdict(rule.verdict),
      h('div.grow', h('div.row-of', code(rule.id, 'b'), rule.kind === 'cedar' ? badge('info', 'Cedar') : null, Number.isFinite(rule.tools) ? h('span.soft.small', t('policy.tools', { n: rule.tools })) : null),
        h('div.conditions', written.map(([key, value]) => h('span', h('span.soft', `${visible(key)} `), code(typeof value === 'string' ? value : [value].flat().map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(', '), 'span')))),
        rule.written?.reason ? h('p.soft.small', { dir: 'auto' }, shown(rule.written.reason)) : null),
      h('div.hits', h('b.num', number(rule.hits ?? 0)), h('div.length', { 'aria-hidden': 'true' }, h('div', { style: { width: `${((rule.hits ?? 0) / most) * 100}%` }, class: rule.verdict })),
        h('span.soft.small', rule.hits ? (rule.last ? moment(Date.parse(rule.last)) : '') : t('policy.never'))),
    );
  }

  /** What another policy would have done. */
  function replay() {
    const preset = choice(t('policy.preset'), [['', t('replay.as-is')], ...['observe', 'balanced', 'careful', 'read-only'].map((one) => [one, word('preset', one)])], draft.preset, (value) => { draft.preset = value; });
    const rules = h('textarea.code', { rows: '7', spellcheck: 'false', dir: 'ltr', id: 'replay-rules', placeholder: '[[rules]]\nid = "no-deletes"\nverdict = "deny"\nbehavior = "MUTATES|DELETE|*"' });
    rules.value = draft.rules;
    rules.addEventListener('input', () => { draft.rules = rules.value; });
    const cedar = h('textarea.code', { rows: '4', spellcheck: 'false', dir: 'ltr', 'aria-label': 'Cedar', placeholder: 'forbid (principal, action, resource) when { … };' });
    cedar.value = draft.cedar;
    cedar.addEventListener('input', () => { draft.cedar = cedar.value; });
    const span = choice(t('since'), [...spans, ['', t('since.all')]], draft.since, (value) => { draft.since = value; });
    const go = h('button.button.primary', { type: 'button' }, icon('play'), t('replay.run'));
    const progress = h('progress', { hidden: true, max: '1', 'aria-label': t('replay.progress') });
    const says = h('span.soft.num', { role: 'status' });
    const out = h('div.replay-out');
    go.addEventListener('click', () => (running ? running.abort() : run()));

    async function run() {
      running = new AbortController();
      put(go, icon('stop'), t('replay.stop'));
      put(out);
      progress.hidden = false;
      progress.removeAttribute('value');
      const body = { examples: 3 };
      if (draft.preset) body.preset = draft.preset;
      if (draft.rules.trim()) body.rules = draft.rules;
      if (draft.cedar.trim()) body.cedar = draft.cedar;
      if (draft.since) body.since = since(draft.since);
      let ended = false;
      try {
        await events('/api/replay', (kind, data) => {
          const read = JSON.parse(data);
          if (kind === 'progress') {
            if (read.total) progress.value = read.judged / read.total;
            says.textContent = t('replay.judged', { n: read.judged ?? 0, all: read.total ?? 0 });
          } else if (kind === 'report') {
            ended = true;
            put(out, report(read));
          } else if (kind === 'failed') {
            ended = true;
            const error = read.error ?? read;
            put(out, fault({ ...error, message: error.what ?? error.message }));
          }
        }, { method: 'POST', body, signal: running.signal });
        if (!ended) put(out, fault({ message: t('replay.broken') }));
      } catch (error) {
        if (error.name === 'AbortError') put(out, h('p.soft', t('replay.stopped')));
        else put(out, fault(error), error.problems?.length ? h('ul.problems', error.problems.map((one) => h('li', one.line ? h('span.soft.num', `${one.line}:${one.column ?? 1} `) : null, shown(one.what ?? ''), ' ', code(one.code ?? '', 'span')))) : null);
      } finally {
        running = null;
        progress.hidden = true;
        says.textContent = '';
        put(go, icon('play'), t('replay.run'));
      }
    }

    return h('section.replay.card.pad', h('h2', t('replay.title')), h('p.soft', t('replay.lead')),
      me.features?.audit === false ? h('p.note', icon('warning'), t('replay.no-audit')) : null,
      h('div.replay-form', h('label.field', h('span', t('policy.preset')), preset), h('label.field', h('span', t('since')), span),
        h('label.field.wide-field', h('span', t('replay.rules')), rules), h('details.wide-field', h('summary', 'Cedar'), cedar)),
      h('div.row-of', go, progress, says), out);
  }

  function report(of) {
    const other = of.calls - of.unchanged - (of.not_judged ?? 0);
    const list = (title, rows, name) => (rows?.length ? h('section', h('h3', title), h('ul.rules', rows.map((one) => h('li.rule.card', badge(COLORS[one.change] ?? '', t(`replay.${one.change}`)), h('div.grow', name(one)), h('b.num', number(one.calls)), h('span.row-of', (one.examples ?? []).map((id, at) => h('a', { href: `#/live/${encodeURIComponent(id)}` }, t('replay.example', { n: at + 1 }))))))) ) : null);
    return h('div.report', { role: 'status' },
      h('p.verdictline', other ? t('replay.changed', { n: other, all: of.calls }) : of.calls ? t('replay.same', { n: of.calls }) : t('replay.nothing')),
      bar(CHANGES.map((one) => [COLORS[one], of[one] ?? 0, t(`replay.${one}`)])),
      legend(CHANGES.filter((one) => of[one]).map((one) => [COLORS[one], `${t(`replay.${one}`)} ${number(of[one])}`])),
      of.whole === false ? h('p.soft.small', t('policy.not-whole')) : null,
      list(t('replay.by-tool'), of.by_tool, (one) => toolname(one.shown, one.tool)),
      list(t('replay.by-rule'), of.by_rule, (one) => code(one.rule ?? '–', 'span')),
      of.why_not_judged?.length ? h('section', h('h3', t('replay.not_judged')), h('ul', of.why_not_judged.map((one) => h('li', shown(typeof one === 'string' ? one : `${one.why ?? one.what ?? one.code ?? ''} ${one.calls ?? ''}`))))) : null,
      h('p.soft.small', t('replay.took', { seconds: number(of.seconds ?? 0, 2) })),
    );
  }

  put(content, loading());
  return { element, shown: load, close: () => running?.abort() };
}
