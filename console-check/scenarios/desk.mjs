// The console as people use it: every page, in both themes and on a phone, approving calls, and what hostile servers make of it.

import { arrived, clean, enter, go, holds, same, until } from '../stage.mjs';

const PAGES = ['live', 'approvals', 'catalog', 'confusables', 'policy', 'chat', 'health'];
const text = (page, selector) => page.locator(selector).first().innerText();

/** Waits until so many calls are listed. Those that come while somebody reads, or the pointer rests on the list, wait behind a button. */
const listed = (page, most) => until(async () => {
  if (await page.locator('.calls .item').count() >= most) return true;
  await page.locator('.pill:visible').click({ timeout: 500 }).catch(() => {});
  return false;
}, `${most} calls are listed`);

/** Clicks on a call. */
const pick = async (page, at) => {
  await listed(page, at + 1);
  await page.locator('.calls .item').nth(at).click();
};

export const without_a_key_there_is_a_login = async ({ browser, gateway }) => {
  const page = await browser.page();
  await page.goto(gateway.address());
  await page.waitForSelector('.login form');
  await clean(page);
  await page.fill('#key', 'tmk_wrong');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.login .fault');
  // People paste the whole address.
  await page.fill('#key', `${gateway.url}/#key=${gateway.key}`);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.shell');
  holds(!page.url().includes('key='), 'the key is in the address');
  const kept = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie]);
  holds(!kept.join().includes(gateway.key), 'the key outlives the tab');
  await page.locator('.who button').click();
  await page.waitForSelector('.login form');
  await clean(page, [/status of 401/]);
  await page.context().close();
};

export const the_pages_say_who_may_frame_and_load_them = async ({ gateway }) => {
  for (const path of ['/', '/console/js/main.js', '/console/i18n/nl.json']) {
    const answer = await fetch(`${gateway.url}${path}`);
    same(answer.status, 200, path);
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) holds(policy.includes(part), `${path}: ${part}`);
    same([answer.headers.get('x-frame-options'), answer.headers.get('x-content-type-options'), answer.headers.get('referrer-policy')], ['DENY', 'nosniff', 'no-referrer'], path);
  }
  const without = await fetch(`${gateway.url}/api/calls`);
  same(without.status, 401, 'calls without a key');
};

/** Whatever can be used has a name that is read out. */
function nameless() {
  const named = (element) => element.getAttribute('aria-label') || element.textContent.trim() || element.title || element.closest('label')?.textContent.trim() || element.labels?.length;
  return [...document.querySelectorAll('button, a, input, select, textarea, [role=listbox], [role=tablist], [role=img]')].filter((element) => element.checkVisibility() && !named(element)).map((element) => element.outerHTML.slice(0, 120));
}

/** Texts whose color is too close to what is behind them: a contrast below 4.5. */
function faint() {
  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const color = (text) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = text;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  };
  const bright = (of) => of.slice(0, 3).map((value) => value / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)).reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest('svg, option, .quiet-for-eyes, :disabled')) continue;
    let behind = element;
    while (behind.parentElement && color(getComputedStyle(behind).backgroundColor)[3] < 250) behind = behind.parentElement;
    const [one, other] = [bright(color(getComputedStyle(element).color)), bright(color(getComputedStyle(behind).backgroundColor))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) found.push(`${contrast.toFixed(1)} ${element.className}: ${texts.currentNode.data.slice(0, 30)}`);
  }
  return found;
}

/** Something to look at: calls of every kind, made once. */
async function traffic(gateway) {
  if (gateway.traffic) return;
  gateway.traffic = true;
  await Promise.all([
    ...Array.from({ length: 12 }, (_, at) => gateway.call('read_note', { id: at })),
    gateway.call('update_note', { id: 1, text: 'x' }), gateway.call('update_note', { id: 5, text: 'y' }), gateway.call('nothing_like_that'), gateway.call('read_note', { id: 'no number' }),
  ]);
}

/** Everything that is folded is opened. */
const unfold = (page) => page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });

/** A call that waits for a person; gives what comes of it. */
function waiting(gateway, id) {
  return gateway.call('delete_note', { id });
}

export const every_page_works_in_both_themes_and_on_a_phone = async ({ browser, gateway }) => {
  await traffic(gateway);
  for (const look of [{ theme: 'light' }, { theme: 'dark' }, { width: 390, height: 844 }]) {
    const page = await browser.page(look);
    await enter(page, gateway);
    const grounds = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = grounds.match(/\d+/g).map(Number)[0] > 128;
    same(light, look.theme !== 'dark', 'the ground is light');
    for (const where of PAGES) {
      await go(page, where);
      await page.waitForSelector({ live: '.calls .item', approvals: '.empty, .list .item', catalog: '.list .item', confusables: '.figure', policy: '.rule', chat: '.say', health: '.pack' }[where]);
      const wide = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      holds(wide[0] <= wide[1], `${where} is wider than the screen: ${wide}`);
      same(await page.evaluate(nameless), [], `${where} has controls without a name`);
      same(await page.evaluate(faint), [], `${where} has text that is hard to read`);
      await clean(page);
    }
    await page.context().close();
  }
};

export const the_switch_of_the_theme_holds = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway);
  await page.click('#theme');
  await page.click('#theme');
  same(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'theme');
  await page.reload();
  await page.waitForSelector('.shell');
  same(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'theme after a reload');
  await page.context().close();
};

export const a_call_appears_live_with_its_whole_way = async ({ browser, gateway }) => {
  await traffic(gateway);
  const page = await browser.page();
  await enter(page, gateway);
  await page.waitForSelector('.state.open');
  await gateway.call('update_note', { id: 1, text: 'marker-live' });
  await page.fill('[data-search]', 'marker-live');
  await pick(page, 0);
  await page.waitForSelector('.stages');
  const stages = await page.locator('.stage h4').allInnerTexts();
  same(stages, ['Identify', 'Validate', 'Analyze', 'Judge', 'Approve', 'Dispatch', 'Shape', 'Record'], 'stages');
  same(await page.locator('.stage.stopped h4').allInnerTexts(), ['Judge'], 'where it stopped');
  holds((await text(page, '.second')).includes('no-overwriting-of-1'), 'the rule is named');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await until(() => page.locator('.second .detail').count().then((n) => n === 0), 'the call is closed');
  await clean(page);
  await page.context().close();
};

export const a_blocked_call_is_approved_on_one_page_and_gone_from_the_other = async ({ browser, gateway }) => {
  const [one, other] = [await browser.page(), await browser.page({ theme: 'dark' })];
  await enter(one, gateway, 'approvals');
  await enter(other, gateway, 'approvals');
  await Promise.all([one.waitForSelector('.state.open'), other.waitForSelector('.state.open')]);
  const outcome = waiting(gateway, 41);
  await Promise.all([one, other].map((page) => page.waitForSelector('.decide')));
  holds((await text(one, '.second')).includes('notes are kept nowhere else'), 'why it is asked');
  same(await text(one, '.nav .count'), '1', 'the count');
  // A key that comes the moment something is shown was not meant for it.
  await one.waitForTimeout(450);
  await one.keyboard.press('a');
  const result = await outcome;
  same(result.content?.[0]?.text, 'note 41 is gone', 'what the caller got');
  await until(() => other.locator('.decide').count().then((n) => n === 0), 'the other page knows');
  await one.waitForSelector('.toast:has-text("ran")');
  await go(one, 'live');
  await one.locator('.calls .item', { hasText: 'notes.delete_note' }).first().click();
  await one.waitForSelector('.stages');
  await Promise.all([clean(one), clean(other)]);
  await Promise.all([one.context().close(), other.context().close()]);
};

export const a_call_is_rejected_with_a_message = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'approvals');
  const outcome = waiting(gateway, 42);
  await page.waitForSelector('.decide');
  await page.fill('.decide > input[type=text]', 'ask Ann first');
  await page.locator('.decide .no').click();
  const result = await outcome;
  holds(result.isError && result.content[0].text.includes('ask Ann first'), `the model is told: ${JSON.stringify(result)}`);
  await page.locator('.tab[data-view=rejected]').click();
  await page.locator('.list .item').first().click();
  await page.waitForSelector('.answered:has-text("ask Ann first")');
  await clean(page);
  await page.context().close();
};

export const arguments_are_edited_and_judged_again = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'approvals');
  const outcome = waiting(gateway, 43);
  await page.waitForSelector('.decide');
  await page.waitForTimeout(450);
  await page.keyboard.press('e');
  await page.fill('.editing textarea', '{ "id": }');
  await page.locator('.decide .primary').click();
  await page.waitForSelector('.decide .fault');
  await page.fill('.editing textarea', '{ "id": 7 }');
  await page.locator('.decide .primary').click();
  same((await outcome).content[0].text, 'note 7 is gone', 'what ran');
  await clean(page);
  await page.context().close();
};

export const a_pattern_becomes_a_grant_that_can_be_taken_back = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'approvals');
  const outcome = waiting(gateway, 44);
  await page.waitForSelector('.decide');
  await page.locator('.scope', { hasText: 'This pattern' }).click();
  await page.locator('.pattern input').first().check();
  await page.locator('.decide .primary').click();
  same((await outcome).content[0].text, 'note 44 is gone', 'what ran');
  same((await gateway.call('delete_note', { id: 45 })).content[0].text, 'note 45 is gone', 'a call that the grant covers');
  await page.locator('.tab[data-view=grants]').click();
  await page.locator('.list .item').first().click();
  await page.locator('.detail .no').click();
  await page.waitForSelector('.toast');
  await until(async () => (await gateway.api('/api/grants')).grants.every((grant) => grant.revoked), 'the grant is taken back');
  await clean(page);
  await page.context().close();
};

export const everything_can_be_done_with_keys = async ({ browser, gateway }) => {
  await traffic(gateway);
  const page = await browser.page();
  await enter(page, gateway);
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  await press('?');
  await page.waitForSelector('dialog[open]');
  await press('Escape');
  await press('g', 'c');
  await arrived(page, 'catalog');
  await page.waitForSelector('.list .item');
  await press('/');
  holds(await page.evaluate(() => document.activeElement?.matches('[data-search]') ?? false), '/ leads to the search');
  await page.keyboard.type('delete note');
  await until(() => page.locator('.list .item').count().then((n) => n === 1), 'one tool is found');
  await press('Escape', 'j', 'Enter');
  await page.waitForSelector('.identity');
  holds((await text(page, '.identity')).includes('notes.delete_note'), 'the card');
  for (const [letter, where] of [['f', 'confusables'], ['p', 'policy'], ['t', 'chat'], ['h', 'health'], ['l', 'live'], ['a', 'approvals']]) {
    // A page with a field to write in takes the keys into it as soon as it is there.
    const leaves = async () => {
      await page.evaluate(() => document.activeElement?.blur());
      await press('g', letter);
      await page.waitForTimeout(200);
    };
    const there = () => page.url().includes(`#/${where}`);
    await until(async () => there() || (await leaves(), there()), `g ${letter} leads to ${where}`);
    await arrived(page, where);
  }
  const outcome = waiting(gateway, 46);
  await page.waitForSelector('.decide');
  await page.waitForTimeout(450);
  await press('r');
  holds((await outcome).isError, 'r rejects');
  // Whatever is focused is seen to be.
  await press('g', 'c');
  await page.waitForSelector('.list .item');
  await press('Tab');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  holds(outline !== 'none', 'the focus is not seen');
  await clean(page);
  await page.context().close();
};

export const names_and_pages_are_in_the_language_of_the_reader = async ({ browser, gateway }) => {
  const page = await browser.page({ locale: 'nl-BE' });
  await enter(page, gateway, 'catalog/notes.read_note');
  await page.waitForSelector('.identity h2');
  same(await text(page, '.identity h2 .name'), 'Notitie lezen', 'the name in Dutch');
  same(await page.locator('.identity h2 .name').first().getAttribute('lang'), 'nl', 'its language');
  holds((await page.locator('.nav').innerText()).includes('Goedkeuringen'), 'the page in Dutch');
  same(await page.evaluate(() => document.documentElement.lang), 'nl', 'lang');
  await page.selectOption('.foot select', 'de');
  await until(() => text(page, '.identity h2 .name').then((name) => name === 'Notiz lesen'), 'the name in German');
  holds((await page.locator('.nav').innerText()).includes('Freigaben'), 'the page in German');
  await page.selectOption('.foot select', 'en');
  await until(() => text(page, '.identity h2 .name').then((name) => name === 'Read a note'), 'the name in English');
  await clean(page);
  await page.context().close();
};

export const reasons_and_stages_are_in_the_language_of_the_page_and_name_what_the_gateway_named = async ({ browser, gateway }) => {
  await gateway.call('update_note', { id: 1, text: 'in words' });
  let calls = [];
  await until(async () => ({ calls } = await gateway.api('/api/calls?tool=notes.update_note&outcome=denied&limit=1')) && calls.length, 'the call is recorded');
  for (const [locale, reason, stage] of [['nl', 'verbiedt deze aanroep', 'Hij mag niet worden uitgevoerd'], ['de', 'verbietet diesen Aufruf', 'Er darf nicht laufen'], ['en', 'denies', undefined]]) {
    const page = await browser.page({ locale });
    await enter(page, gateway, `live/${calls[0].id}`);
    await page.waitForSelector('.reason');
    const why = await page.locator('.reason').first().innerText();
    holds(why.includes(reason) && why.includes('no-overwriting-of-1') && why.includes('rule-denies'), `${locale}: ${why}`);
    const stages = await page.locator('.stages').innerText();
    if (stage) holds(stages.includes(stage) && stages.includes('rule `no-overwriting-of-1`'), `${locale}: ${stages}`);
    else holds(stages.includes('deny: rule `no-overwriting-of-1`'), `${locale}: ${stages}`);
    await clean(page);
    await page.context().close();
  }
  const page = await browser.page({ locale: 'nl' });
  await enter(page, gateway, 'catalog/notes.no_such_tool');
  await page.waitForSelector('.fault');
  holds((await text(page, '.fault')).includes('Deze tool bestaat niet'), 'an error in Dutch');
  await clean(page, [/status of 404/]);
  await page.context().close();
};

export const a_changed_definition_is_shown_as_it_was_and_as_it_is = async ({ browser, gateway }) => {
  const page = await browser.page();
  await gateway.call('change_me', { text: 'before' });
  await until(async () => (await gateway.api('/api/catalog/notes.change_me')).pin, 'it is pinned');
  await gateway.call('reword');
  await until(async () => (await gateway.api('/api/catalog/notes.change_me')).standing === 'changed', 'the change is held');
  await enter(page, gateway, 'approvals');
  const outcome = gateway.call('change_me', { text: 'after' });
  await page.waitForSelector('.difference');
  holds((await text(page, '.difference .was')).includes('Summarizes a text.'), 'as it was');
  holds((await text(page, '.difference .is')).includes('~/.ssh/id_rsa'), 'as it is');
  await page.locator('.decide .no').click();
  await outcome;
  await go(page, 'catalog/notes.change_me');
  await page.waitForSelector('.identity .difference');
  await clean(page);
  await page.context().close();
};

export const nothing_that_strangers_say_becomes_part_of_a_page = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway);
  const tools = (await gateway.api('/api/catalog')).rows.map((row) => row[0]).filter((name) => name.startsWith('evil.'));
  same(tools.length, 3, 'hostile tools');
  const harm = '"><img src=x onerror=window.harmed=10><script>window.harmed=11</script>';
  await gateway.call('evil__search', { query: harm });
  await gateway.call(harm, { query: harm });
  const outcome = gateway.call('tidy_up', { query: `${harm}\u202Eabc\u200B`, [harm]: harm });
  await go(page, 'approvals');
  await page.waitForSelector('.decide');
  holds((await page.locator('.second mark.hidden').allInnerTexts()).includes('\\u{202e}'), 'what turns text around is written out');
  await clean(page);
  await page.fill('.decide > input[type=text]', harm);
  await page.locator('.decide .no').click();
  await outcome;
  await go(page, 'live');
  await page.fill('[data-search]', 'evil');
  await listed(page, 2);
  for (const at of [0, 1]) {
    await pick(page, at);
    await page.waitForSelector('.stages');
    await unfold(page);
    await clean(page);
  }
  for (const tool of tools) {
    await go(page, `catalog/${encodeURIComponent(tool)}`);
    await until(() => text(page, '.identity').then((all) => all.includes(tool)), `the card of ${tool}`);
    await unfold(page);
    await clean(page);
  }
  for (const where of ['confusables', 'policy', 'health', 'chat']) {
    await go(page, where);
    await page.waitForTimeout(300);
    await clean(page);
  }
  same(await page.evaluate(() => document.querySelectorAll('img:not([src^="/console/"]):not([src^="data:"]), iframe, object, embed, script:not([src^="/console/"])').length), 0, 'elements that nobody made');
  await page.context().close();
};

export const what_is_too_long_is_folded_whole_and_approved_once_only = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'approvals');
  const outcome = gateway.call('tidy_up', { query: `${'long '.repeat(1800)}the end` });
  await page.waitForSelector('.decide');
  same(await page.locator('.scope').allInnerTexts().then((all) => all.map((one) => one.split('\n')[0].trim())), ['Once'], 'how far an answer may reach');
  const shown = page.locator('.detail .json').first();
  holds(!(await shown.innerText()).includes('the end'), 'it is folded');
  await shown.locator('.more').click();
  holds((await shown.innerText()).includes('the end'), 'all of it is there');
  await page.locator('.decide .no').click();
  await outcome;
  await clean(page);
  await page.context().close();
};

export const the_confusables_are_a_picture = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'confusables');
  const figure = page.locator('.figure', { hasText: 'notes.delete_note' }).first();
  await figure.waitFor();
  holds((await figure.innerText()).includes('notes.read_note'), 'both tools are in one figure');
  const says = await figure.locator('.edgesays').allTextContents();
  holds(says.some((one) => one.startsWith('DELETE')) && says.some((one) => one.startsWith('READ')), `what separates them is on the edges: ${says}`);
  holds(await page.locator('.figure', { hasText: 'evil.search' }).filter({ hasText: 'notes.search' }).count(), 'the same name is a figure');
  await clean(page);
  await page.context().close();
};

export const a_policy_is_tried_on_recorded_calls = async ({ browser, gateway }) => {
  await traffic(gateway);
  const page = await browser.page();
  await enter(page, gateway, 'policy');
  const rule = page.locator('.rule', { hasText: 'no-overwriting-of-1' });
  await rule.waitFor();
  await until(() => rule.locator('.hits b').innerText().then((hits) => Number(hits) >= 1), 'hits are counted');
  await page.fill('#replay-rules', '[[rules]]\nid = "nobody-reads"\nverdict = "deny"\ntools = ["notes.read_note"]\n');
  await page.locator('.replay .primary').click();
  await page.waitForSelector('.report');
  holds((await text(page, '.report')).includes('now denied'), 'what would have been denied');
  await page.fill('#replay-rules', '[[rules]]\nverdict = "perhaps"\n');
  await page.locator('.replay .primary').click();
  await page.waitForSelector('.replay .fault');
  await clean(page, [/status of 422/]);
  await page.context().close();
};

export const a_lost_connection_is_said_and_comes_back = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway);
  await page.waitForSelector('.state.open');
  await page.context().setOffline(true);
  await page.evaluate(() => import('/console/js/stream.js').catch(() => {}));
  await page.evaluate(async () => (await import('/console/js/stream.js')).retry()).catch(() => {});
  await page.waitForSelector('.offline:not([hidden])');
  await page.context().setOffline(false);
  await page.waitForSelector('.state.open');
  await until(() => page.locator('.offline:not([hidden])').count().then((n) => n === 0), 'the notice is gone');
  await clean(page, [/ERR_INTERNET_DISCONNECTED/, /Failed to fetch/]);
  await page.context().close();
};
