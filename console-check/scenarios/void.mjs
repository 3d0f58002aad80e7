// A gateway with nothing behind it: every page says what to do next.

import { clean, enter, go, holds } from '../stage.mjs';

export const every_empty_page_says_what_to_do_next = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway);
  for (const [where, hint] of [['live', 'toolmark init'], ['approvals', 'appear here'], ['catalog', 'toolmark init'], ['confusables', 'fills when'], ['policy', '[[rules]]'], ['chat', '[agents.assistant]'], ['health', 'toolmark init']]) {
    await go(page, where);
    await page.waitForSelector('.empty');
    const says = await page.locator('.empty').last().innerText();
    holds(says.includes(hint), `${where} says ${says}`);
  }
  await clean(page);
  await page.context().close();
};
