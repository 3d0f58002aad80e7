// Approvals: what waits for a person, exactly as it would run, and the answer.

import { h, icon, put } from '../dom.js';
import { away, moment, t, word } from '../i18n.js';
import { get, send } from '../api.js';
import * as feed from '../feed.js';
import { list } from '../list.js';
import { badge, behavior, choice, difference, empty, facts, fault, outcome, pairs, reasons, toast, toolname } from '../parts.js';
import { code, json, shown, visible } from '../safe.js';

const VIEWS = ['pending', 'approved', 'rejected', 'expired', 'grants'];
const SCOPES = ['once', 'session', 'effect', 'pattern', 'always'];
/** A key that is still down, or comes the moment something else is shown, was not meant for it. */
const BREATH = 400;
const REST = 2500;

export function open({ me, wanted, note }) {
  let view = 'pending';
  let asks = [];
  let shownId = null;
  let since = 0;
  let form = null;
  let detail = null;
  let later = null;
  /** What was approved here, by what makes the call that runs then known. */
  const expected = new Map();
  const off = [];

  const rows = list({
    height: 56,
    label: t('page.approvals'),
    key: (ask) => ask.id,
    row: (ask) => (view === 'grants' ? grantRow(ask) : [
      h('div.lines', h('div', toolname(ask.shown, ask.tool)), h('div.soft.small', code(brief(ask.arguments), 'span'))),
      h('div.lines.right', h('div', behavior(ask.behavior)), h('div.soft.small', shown(ask.principal), ' · ', view === 'pending' ? left(ask) : moment(Date.parse(ask.created)))),
    ]),
    choose: (ask) => show(ask, false),
    open: (ask) => show(ask, true),
  });

  const tabs = h('div.tabs', { role: 'tablist', 'aria-label': t('page.approvals') }, VIEWS.map((one) => {
    const tab = h('button.tab', { type: 'button', role: 'tab', 'aria-selected': String(one === view), onclick: () => look(one) }, t(`approvals.${one}`));
    tab.dataset.view = one;
    return tab;
  }));
  const second = h('aside.second', { 'aria-label': t('details'), 'aria-live': 'off' });
  const split = h('div.split.asks', h('div.first', rows.element), second);
  const element = h('section.page', { 'aria-label': t('page.approvals') },
    h('header.head', h('h1', t('page.approvals')), tabs, h('p.lead', t('approvals.lead'))), split);

  off.push(feed.onPending((ask) => { if (view === 'pending') { news(ask); fill(); } }), feed.onCalls(ran));
  const beat = setInterval(() => { if (view === 'pending') rows.redraw(); }, 15_000);

  function fill() {
    asks = feed.pending().sort((one, other) => Date.parse(one.created) - Date.parse(other.created));
    rows.show(asks);
    rows.blank(asks.length ? null : empty('approvals', t('approvals.empty'), t('approvals.empty-text')));
    const settledNow = second.querySelector('[data-settled]');
    // What was just decided stays in sight for a moment.
    if (settledNow && asks.length && performance.now() - since < REST) {
      clearTimeout(later);
      later = setTimeout(fill, REST);
    } else if (!asks.some((ask) => ask.id === shownId) && !(settledNow && !asks.length)) {
      if (asks.length && matchMedia('(min-width: 761px)').matches) rows.pick(asks[0]);
      else if (!asks.length) clear();
    }
  }

  /** A question that is looked at was answered elsewhere. */
  function news(ask) {
    if (!ask || ask.id !== shownId || ask.state === 'pending' || form?.deciding) return;
    settled(ask);
  }

  function settled(ask) {
    form = null;
    put(second, h('div.detail', { 'data-settled': '' }, h('header', title(ask), answered(ask))));
    since = performance.now();
  }

  function clear() {
    shownId = null;
    form = null;
    rows.pick(null);
    put(second);
    split.classList.remove('opened');
  }

  async function look(next) {
    view = next;
    for (const tab of tabs.children) tab.setAttribute('aria-selected', String(tab.dataset.view === view));
    shownId = null;
    form = null;
    put(second);
    rows.pick(null);
    rows.show([]);
    rows.redraw();
    rows.blank(null);
    if (view === 'pending') return fill();
    try {
      const answer = view === 'grants' ? await get('/api/grants') : await get(`/api/approvals?state=${view}&limit=500`);
      if (view !== next) return;
      asks = view === 'grants' ? answer.grants : answer.approvals;
      rows.show(asks);
      if (!asks.length) rows.blank(empty('approvals', t(`approvals.no-${view}`), t(`approvals.no-${view}-text`)));
    } catch (error) {
      rows.blank(fault(error, () => look(next)));
    }
  }

  async function show(ask, opens) {
    if (!ask) return;
    if (opens) split.classList.add('opened');
    if (view === 'grants') return put(second, grantCard(ask, { leave, again: () => look('grants') }));
    if (shownId === ask.id && form) return;
    detail?.abort();
    detail = new AbortController();
    shownId = ask.id;
    form = null;
    note(`#/approvals/${encodeURIComponent(ask.id)}`);
    try {
      const whole = await get(`/api/approvals/${encodeURIComponent(ask.id)}`, detail.signal);
      if (shownId !== ask.id) return;
      draw(whole);
    } catch (error) {
      if (error.name !== 'AbortError') put(second, h('div.detail', fault(error, () => show(ask, opens))));
    }
  }

  function draw(ask) {
    form = ask.state === 'pending' ? decide(ask, answer) : null;
    const whole = card(ask, form, leave);
    put(second, whole, form ? h('div.answer', more(whole), form.element) : null);
    since = performance.now();
  }

  function leave() {
    split.classList.remove('opened');
    rows.box.focus();
  }

  async function answer(ask, ruling) {
    form.deciding = true;
    form.wait(true);
    // The call may have run before the answer to this request is here.
    if (ruling.decision === 'approve' && !ruling.arguments) expected.set(ask.arguments_digest, ask);
    try {
      const decided = await send('POST', `/api/approvals/${encodeURIComponent(ask.id)}/decision`, { ...ruling, arguments_digest: ask.arguments_digest });
      const allowed = ruling.decision === 'approve';
      toast(t(allowed ? 'approvals.did-approve' : 'approvals.did-reject', { tool: visible(ask.shown?.name ?? ask.tool), scope: word('scope', ruling.scope ?? 'once') }));
      const place = asks.findIndex((one) => one.id === ask.id);
      const next = asks[place + 1] ?? asks[place - 1];
      form = null;
      shownId = null;
      if (next && next.id !== ask.id && asks.length > 1) rows.pick(next);
      else settled({ ...ask, ...decided, state: allowed ? 'approved' : 'rejected' });
      feed.settle(ask.id);
    } catch (error) {
      expected.delete(ask.arguments_digest);
      form.deciding = false;
      form.wait(false);
      form.fault(error);
    }
  }

  /** A call that was approved here ran: whoever approved it wants to know. */
  function ran(added) {
    for (const call of added) {
      if (call.verdict !== 'ask' || ['asked', 'intent', 'denied'].includes(call.outcome)) continue;
      const ask = [...expected.values()].find((one) => one.tool === call.tool?.canonical && one.principal === call.caller && (!call.arguments?.digest || call.arguments.digest === one.arguments_digest));
      if (!ask) continue;
      expected.delete(ask.arguments_digest);
      toast(t('approvals.ran', { tool: visible(ask.shown?.name ?? ask.tool), outcome: word('outcome', call.outcome) }));
      const open = second.querySelector('[data-ran]');
      if (open?.dataset.ran === ask.id) put(open, outcome(call.outcome), h('a', { href: `#/live/${encodeURIComponent(call.id)}` }, t('approvals.see-run')));
    }
  }

  return {
    element,
    shown() {
      fill();
      if (wanted) show({ id: wanted }, true);
    },
    go(id) { if (id && id !== shownId) show({ id }, true); },
    keys(event) {
      if (event.key === 'Escape') return leave(), true;
      if (form && !event.repeat && performance.now() - since > BREATH && !form.deciding) {
        if (event.key === 'a') return form.approve(), true;
        if (event.key === 'r') return form.reject(), true;
        if (event.key === 'e') return form.edit(), true;
        if (/^[1-5]$/.test(event.key)) return form.scope(Number(event.key) - 1), true;
      }
      return rows.keys(event);
    },
    close() {
      clearInterval(beat);
      clearTimeout(later);
      detail?.abort();
      rows.end();
      off.forEach((one) => one());
    },
  };
}

function brief(value) {
  const text = JSON.stringify(value) ?? '';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

const left = (ask) => away(Date.parse(ask.expires) - Date.now());

function title(ask) {
  return h('h2', toolname(ask.shown, ask.tool));
}

function answered(ask) {
  const decision = ask.decision;
  const yes = ask.state === 'approved';
  return h('div.answered',
    h('div.row-of', badge(yes ? 'allow' : ask.state === 'rejected' ? 'deny' : '', t(`approvals.${ask.state}`)), decision?.scope ? h('span', word('scope', decision.scope)) : null,
      decision?.given ? h('span.soft', t('approvals.by', { by: visible(decision.given.by ?? ''), way: word('way', decision.given.way), at: moment(Date.parse(decision.given.at)) })) : null),
    decision?.message ? h('p', { dir: 'auto' }, shown(decision.message)) : null,
    decision?.edited ? [h('h3', t('approvals.edited')), json(decision.edited, t)] : null,
    h('div.row-of', { 'data-ran': ask.id }),
  );
}

/** The question: what would run, what it would do, why somebody is asked, and the answer. */
function card(ask, form, leave) {
  return h('div.detail',
    h('header',
      h('div.row-of', h('button.button.bare.back', { type: 'button', 'aria-label': t('close'), onclick: leave }, icon('back')), title(ask)),
      h('div.row-of', behavior(ask.behavior), h('span.soft', t('approvals.for', { caller: visible(ask.principal) })), ask.task ? badge('info', visible(ask.task)) : null,
        ask.state === 'pending' ? h('span.soft', t('approvals.ends', { when: left(ask) })) : null),
      ask.state === 'pending' ? null : answered(ask),
    ),
    h('section', h('h3', t('arguments')), json(ask.arguments, t), ask.whole === false ? h('p.badge.warn', t('approvals.not-whole')) : null),
    ask.effects?.length ? h('section', h('h3', t('approvals.would')), h('ul.effects', ask.effects.map((one) => h('li', { dir: 'auto' }, shown(one))))) : null,
    h('section', h('h3', t('why')), reasons(ask.reasons)),
    ask.diff?.length ? h('section', h('h3', t('approvals.changed')), difference(ask.diff)) : ask.changes?.length ? h('section', h('h3', t('approvals.says')), h('pre.plain', { dir: 'auto' }, shown(ask.changes.join('\n'), true))) : null,
    ask.facts?.length ? h('section', h('h3', t('facts')), facts(ask.facts)) : null,
    h('details', h('summary', t('approvals.exact')), h('pre.plain', { dir: 'ltr' }, shown(ask.prompt ?? '', true)), pairs([
      [t('call.called'), code(ask.called ?? '', 'span')], [t('call.mark'), code(ask.mark ?? '', 'span')], [t('call.digest'), code(ask.arguments_digest ?? '', 'span')],
      [t('call.policy'), code(ask.policy ?? '', 'span')], [t('call.session'), ask.session ? code(ask.session, 'span') : null], [t('call.id'), code(ask.id, 'span')], [t('approvals.asked'), moment(Date.parse(ask.created))],
      [t('approvals.runs'), ask.runs?.length ? ask.runs.map((run) => `${word('run', run.state)}`).join(', ') : null],
    ])),
  );
}

/** Says that there is more to read than is seen. */
function more(whole) {
  const button = h('button.below', { type: 'button', hidden: true, onclick: () => whole.scrollBy({ top: whole.clientHeight * 0.8, behavior: 'smooth' }) }, t('approvals.below'));
  // The fold with the exact words at the end says what is said above.
  const look = () => {
    const last = whole.lastElementChild.tagName === 'DETAILS' ? whole.lastElementChild.previousElementSibling : whole.lastElementChild;
    button.hidden = last.getBoundingClientRect().bottom <= whole.getBoundingClientRect().bottom + 4;
  };
  whole.addEventListener('scroll', look, { passive: true });
  requestAnimationFrame(look);
  new ResizeObserver(look).observe(whole);
  return button;
}

/** The answer to a question. */
function decide(ask, answer) {
  const offered = SCOPES.filter((scope) => (ask.offered ?? ['once']).includes(scope));
  let scope = 'once';
  let editing = false;
  const vary = new Set();
  const problem = h('div', { role: 'alert' });

  const radios = offered.map((one, at) => {
    const input = h('input', { type: 'radio', name: 'scope', value: one, checked: one === scope });
    input.addEventListener('change', () => choose(one));
    return h('label.scope', { title: t(`scope-text.${one}`) }, input, word('scope', one), h('kbd.wide', String(at + 1)));
  });
  const reaches = h('p.soft.small', { role: 'status' }, t('scope-text.once'));
  const names = Object.keys(ask.arguments && typeof ask.arguments === 'object' ? ask.arguments : {});
  const checks = names.map((one) => {
    const input = h('input', { type: 'checkbox' });
    input.addEventListener('change', () => { if (input.checked) vary.add(one); else vary.delete(one); });
    input.dataset.argument = one;
    return h('label.check', input, code(one, 'span'));
  });
  const proposals = (ask.proposals ?? []).map((one) => h('button.button.proposal', { type: 'button', onclick: () => propose(one) }, icon('check'), h('span', { dir: 'auto' }, t('approvals.proposal', { n: one.calls, names: one.vary.map(visible).join(', ') }))));
  const pattern = h('div.pattern', { hidden: true }, h('span.small.soft', t('approvals.vary')), h('div.row-of', checks));
  const ends = choice(t('approvals.expires'), [['', t('expires.never')], ['3600', t('expires.hour')], ['86400', t('expires.day')], ['604800', t('expires.week')], ['2592000', t('expires.month')]], '', () => {});
  const uses = h('input', { type: 'number', min: '1', max: '1000000', placeholder: t('uses.any'), 'aria-label': t('uses') });
  const anyPolicy = h('input', { type: 'checkbox' });
  const pin = h('input', { type: 'checkbox' });
  const sticky = h('div.sticky', { hidden: true },
    h('label.field', h('span', t('approvals.expires')), ends), h('label.field', h('span', t('uses')), uses), h('label.check', anyPolicy, t('approvals.any-policy')));
  const held = (ask.diff?.length || ask.changes?.length) && ask.whole !== false ? h('label.check', pin, t('approvals.pin')) : null;
  const editor = h('textarea.code', { rows: '8', spellcheck: 'false', 'aria-label': t('approvals.edit'), dir: 'ltr' });
  // Hidden characters are written as JSON escapes, so that whoever edits sees them and keeps them.
  editor.value = JSON.stringify(ask.arguments ?? {}, null, 2).replace(/[\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\ud834[\udd73-\udd7a]|[\udb40-\udb43][\udc00-\udfff]/g, (found) => Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''));
  const editing_ = h('div.editing', { hidden: true }, h('span.small.soft', t('approvals.edit-text')), editor);
  const message = h('input', { type: 'text', placeholder: t('approvals.message'), 'aria-label': t('approvals.message'), maxlength: '2000' });
  const yes = h('button.button.primary', { type: 'button', onclick: approve }, t('approve'), h('kbd.wide', 'a'));
  const no = h('button.button.no', { type: 'button', onclick: reject }, t('reject'), h('kbd.wide', 'r'));
  const change = h('button.button', { type: 'button', 'aria-expanded': 'false', onclick: edit }, icon('edit'), t('approvals.edit'), h('kbd.wide', 'e'));

  const element = h('section.decide', { 'aria-label': t('approvals.decide') },
    h('fieldset.scopes', h('legend.quiet-for-eyes', t('approvals.scope')), radios), reaches,
    proposals.length ? h('div.row-of', proposals) : null, pattern, sticky, held, editing_,
    h('div.acts', yes, no, change), message, problem,
  );

  function choose(one) {
    scope = one;
    reaches.textContent = t(`scope-text.${one}`);
    for (const radio of element.querySelectorAll('input[name=scope]')) radio.checked = radio.value === one;
    pattern.hidden = one !== 'pattern';
    sticky.hidden = one === 'once';
    if (one !== 'once' && editing) edit();
  }

  function propose(one) {
    if (!offered.includes('pattern')) return;
    choose('pattern');
    vary.clear();
    for (const input of pattern.querySelectorAll('input')) {
      input.checked = one.vary.includes(input.dataset.argument);
      if (input.checked) vary.add(input.dataset.argument);
    }
    // What varies need not be an argument at the top.
    for (const name of one.vary) vary.add(name);
  }

  function edit() {
    editing = !editing;
    editing_.hidden = !editing;
    change.setAttribute('aria-expanded', String(editing));
    change.classList.toggle('on', editing);
    if (editing) {
      choose('once');
      editor.focus();
    }
  }

  function complain(text) {
    put(problem, h('div.fault', h('b', text)));
  }

  function approve() {
    const ruling = { decision: 'approve', scope };
    if (scope === 'pattern') {
      if (!vary.size) return complain(t('approvals.vary-none'));
      ruling.vary = [...vary];
    }
    if (scope !== 'once') {
      if (ends.value) ruling.expires_in = Number(ends.value);
      if (uses.value) ruling.uses = Number(uses.value);
      if (anyPolicy.checked) ruling.any_policy = true;
    }
    if (pin.checked) ruling.pin = true;
    if (editing) {
      try {
        ruling.arguments = JSON.parse(editor.value);
      } catch (error) {
        return complain(t('approvals.no-json', { why: error.message }));
      }
      if (ruling.arguments === null || typeof ruling.arguments !== 'object' || Array.isArray(ruling.arguments)) return complain(t('approvals.no-object'));
    }
    answer(ask, ruling);
  }

  function reject() {
    // A no for later calls too is asked for by its scope; a pattern of a no needs its names like a yes.
    const ruling = { decision: 'reject', scope: scope === 'pattern' && !vary.size ? 'once' : scope };
    if (ruling.scope === 'pattern') ruling.vary = [...vary];
    if (message.value.trim()) ruling.message = message.value.trim();
    answer(ask, ruling);
  }

  const controls = { element, approve, reject, edit, deciding: false };
  controls.scope = (at) => offered[at] && choose(offered[at]);
  controls.wait = (on) => { for (const button of [yes, no, change]) button.disabled = on; };
  controls.fault = (error) => put(problem, fault(error));
  return controls;
}

function grantRow(grant) {
  return [
    h('div.lines', h('div', toolname(grant.shown, grant.tool)), h('div.soft.small', shown(grant.covers?.text ?? grant.covers?.effect ?? ''))),
    h('div.lines.right', h('div.row-of', badge(grant.allows ? 'allow' : 'deny', word('scope', grant.scope)), grant.revoked ? badge('', t('grants.revoked')) : null), h('div.soft.small', shown(grant.principal))),
  ];
}

function grantCard(grant, { leave, again }) {
  const problem = h('div', { role: 'alert' });
  const take = h('button.button.no', { type: 'button', onclick: async () => {
    take.disabled = true;
    try {
      await send('DELETE', `/api/grants/${encodeURIComponent(grant.id)}`);
      toast(t('grants.did-revoke'));
      again();
    } catch (error) {
      take.disabled = false;
      put(problem, fault(error));
    }
  } }, t('grants.revoke'));
  return h('div.detail',
    h('header', h('div.row-of', h('button.button.bare.back', { type: 'button', 'aria-label': t('close'), onclick: leave }, icon('back')), h('h2', toolname(grant.shown, grant.tool))),
      h('div.row-of', badge(grant.allows ? 'allow' : 'deny', t(grant.allows ? 'grants.allows' : 'grants.refuses')), h('span', word('scope', grant.scope)))),
    pairs([
      [t('call.caller'), h('span', shown(grant.principal))],
      [t('grants.covers'), grant.covers ? code(grant.covers.text ?? grant.covers.effect ?? JSON.stringify(grant.covers), 'span') : t('grants.anything')],
      [t('grants.given'), t('approvals.by', { by: visible(grant.given?.by ?? ''), way: word('way', grant.given?.way), at: moment(Date.parse(grant.given?.at)) })],
      [t('grants.ends'), grant.expires ? moment(Date.parse(grant.expires)) : t('expires.never')],
      [t('grants.used'), `${grant.used ?? 0}${grant.uses ? ` / ${grant.uses}` : ''}`],
      [t('approvals.message'), grant.message ? h('span', shown(grant.message)) : null],
      [t('call.mark'), code(grant.mark ?? '', 'span')], [t('call.policy'), grant.policy ? code(grant.policy, 'span') : null], [t('call.id'), code(grant.id, 'span')],
    ]),
    grant.revoked ? h('p.soft', t('approvals.by', { by: visible(grant.revoked.by ?? ''), way: word('way', grant.revoked.way), at: moment(Date.parse(grant.revoked.at)) })) : h('div.row-of', take), problem,
  );
}
