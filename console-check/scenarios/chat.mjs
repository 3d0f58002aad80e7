// Talking to agents: cards of calls, approving in place, and agents that say hostile things.

import { clean, enter, holds, same, until } from '../stage.mjs';

async function say(page, words) {
  await page.fill('.say textarea', words);
  await page.keyboard.press('Enter');
}

async function asked(browser, gateway, words) {
  const page = await browser.page();
  await enter(page, gateway, 'chat');
  await page.waitForSelector('.intro');
  await say(page, words);
  await page.waitForSelector('.toolcard.asking .question');
  return page;
}

export const a_call_of_an_agent_is_approved_in_place = async ({ browser, gateway }) => {
  const page = await asked(browser, gateway, 'clean up');
  const card = page.locator('.toolcard.asking');
  same(await card.locator('header .name').innerText(), 'Delete a note', 'the display name');
  holds((await card.innerText()).includes('notes.delete_note'), 'the canonical name');
  holds((await card.locator('.behavior').innerText()).includes('DELETE'), 'what it does');
  await page.keyboard.press('Escape');
  await card.locator('[data-key=a]').click();
  await page.waitForSelector('.said.agent:has-text("Done: note 2 is gone")');
  holds((await page.locator('.toolcard').last().innerText()).includes('note 2 is gone'), 'the result is on the card');
  await clean(page);
  await page.context().close();
};

export const a_call_of_an_agent_is_denied_in_place = async ({ browser, gateway }) => {
  const page = await asked(browser, gateway, 'remove 32');
  await page.fill('.question > input', 'not today');
  await page.locator('[data-key=r]').click();
  await page.waitForSelector('.said.agent:has-text("Then I leave it as it is")');
  holds((await page.locator('.toolcard header').last().innerText()).includes('failed'), 'a call that did not run is not shown as done');
  await clean(page);
  await page.context().close();
};

export const a_call_of_an_agent_runs_with_edited_arguments = async ({ browser, gateway }) => {
  const page = await asked(browser, gateway, 'remove 33');
  await page.locator('[data-key=e]').click();
  await page.fill('.question textarea', '{"id": 9}');
  await page.locator('[data-key=a]').click();
  await page.waitForSelector('.said.agent:has-text("Done: note 9 is gone")');
  await clean(page);
  await page.context().close();
};

export const two_calls_that_wait_are_both_answered_before_the_run_goes_on = async ({ browser, gateway }) => {
  const page = await asked(browser, gateway, 'remove both');
  await until(() => page.locator('.toolcard.asking').count().then((n) => n === 2), 'both wait');
  await page.locator('.toolcard.asking [data-key=a]').first().click();
  await until(() => page.locator('.toolcard.asking').count().then((n) => n === 1), 'one waits');
  same(await page.locator('.said.agent').count(), 1, 'the run waits for the other answer');
  await page.locator('.toolcard.asking [data-key=r]').click();
  await page.waitForSelector('.toolcard:has-text("note 34 is gone")');
  await until(() => page.locator('.said.agent').count().then((n) => n === 2), 'the run went on');
  await clean(page);
  await page.context().close();
};

export const a_decision_on_another_page_lets_the_run_go_on = async ({ browser, gateway }) => {
  const page = await asked(browser, gateway, 'remove 36');
  const { approvals: [ask] } = await gateway.api('/api/approvals?state=pending');
  await gateway.api(`/api/approvals/${ask.id}/decision`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"decision":"approve"}' });
  await page.waitForSelector('.said.agent:has-text("Done: note 36 is gone")');
  await clean(page);
  await page.context().close();
};

export const an_agent_inside_an_agent_is_shown_inside_and_asks_in_place = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'chat');
  await page.waitForSelector('.intro');
  await page.selectOption('.head select', 'lead');
  await say(page, 'ask');
  await page.waitForSelector('.subagent .toolcard.asking');
  same(await page.locator('.subagent > header .name').innerText(), 'Note keeper', 'its display name');
  await page.locator('.subagent [data-key=a]').click();
  await page.waitForSelector('.said.agent:has-text("The note keeper says: Done: note 37 is gone")');
  await clean(page);
  await page.context().close();
};

export const several_threads_are_kept = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'chat');
  await page.waitForSelector('.intro');
  await say(page, 'hello there');
  await page.waitForSelector('.said.agent');
  await page.locator('.head .button').click();
  await page.waitForSelector('.intro');
  await say(page, 'good morning');
  await page.waitForSelector('.said.agent');
  same(await page.locator('.thread').count(), 2, 'threads');
  await page.locator('.thread', { hasText: 'hello there' }).click();
  await until(() => page.locator('.said.user').innerText().then((text) => text === 'hello there'), 'the first thread is shown');
  await clean(page);
  await page.context().close();
};

export const what_an_agent_says_is_only_text = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway, 'chat');
  await page.waitForSelector('.intro');
  await page.selectOption('.head select', 'mean');
  await say(page, 'go <script>window.harmed=12</script>');
  await page.waitForSelector('.said.agent:has-text("<b>over</b>")');
  await clean(page);
  await page.context().close();
};
