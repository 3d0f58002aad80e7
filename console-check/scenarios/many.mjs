// Five thousand tools, and calls as fast as they come: as fast as this gateway makes them, and five hundred a second sent to the page.

import { clean, enter, holds, until } from '../stage.mjs';

export const five_thousand_tools_are_found_while_one_types = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway);
  await page.waitForSelector('.state.open');
  await page.evaluate(() => { window.began = performance.now(); location.hash = '#/catalog'; });
  await page.waitForSelector('.list .item .title');
  const shown = await page.evaluate(() => performance.now() - window.began);
  const [asked, size] = await page.evaluate(() => { const [entry] = performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/api/catalog')); return [entry.responseEnd - entry.startTime, entry.encodedBodySize]; });
  const searched = await page.evaluate(() => {
    const field = document.querySelector('[data-search]');
    const began = performance.now();
    field.value = 'generic_49';
    field.dispatchEvent(new Event('input'));
    return performance.now() - began;
  });
  holds((await page.locator('.head .num').innerText()).startsWith('1'), 'some are found');
  holds(await page.locator('.list .item').count() < 60, 'only what is seen is drawn');
  await page.fill('[data-search]', '');
  await page.locator('.list').focus();
  await page.keyboard.press('End');
  await until(() => page.locator('.list .item[aria-selected=true]').count(), 'the last one is reached');
  await clean(page);
  await page.context().close();
  return `catalog shown in ${shown.toFixed(0)} ms, of which the gateway took ${asked.toFixed(0)} ms (${(size / 1024).toFixed(0)} KiB); searched in ${searched.toFixed(0)} ms`;
};

export const five_hundred_groups_are_a_map = async ({ browser, gateway }) => {
  const page = await browser.page();
  // No server here has so many; the page is given them as the gateway would.
  const behaviors = ['PURE|READ|DATA', 'MUTATES|UPDATE|ISSUE', 'MUTATES|DELETE|ACK', null];
  const groups = Array.from({ length: 500 }, (_, at) => {
    const tools = Array.from({ length: 2 + (at % 6) }, (_, place) => ({ canonical: `pack${at}.tool${place}`, shown: { name: `Tool ${place} of ${at}`, dir: 'ltr' }, behavior: behaviors[(at + place) % 4] }));
    const links = tools.flatMap((one, place) => tools.slice(place + 1).map((other, next) => [place, place + next + 1, one.behavior === other.behavior ? 'nothing' : 'v1']));
    return { kind: ['same-schema', 'same-name', 'look-alike-name', 'same-display-name'][at % 4], severity: ['critical', 'high', 'medium', 'low'][Math.floor(at / 125)], pack: `pack${at}`, key: `key-${at}`, parameters: [`argument${at}`], says: `group ${at}`, tools, links };
  });
  await page.route('**/api/confusables', (route) => route.fulfill({ json: { tools: 5000, left_off: 12, groups } }));
  await enter(page, gateway, 'confusables');
  await page.waitForSelector('.mini');
  holds(await page.locator('.mini').count() === 500, 'every group is on the map');
  await page.locator('.mini').nth(3).click();
  await page.waitForSelector('.second .figure');
  await page.keyboard.press('j');
  holds(await page.locator('.mini[aria-pressed=true]').count() === 1, 'one is chosen');
  await page.fill('[data-search]', 'pack77.tool0');
  await page.waitForSelector('.figures-large .figure');
  holds(await page.locator('.figure').count() === 1, 'one is found');
  await clean(page);
  await page.context().close();
};

/** Counts frames, and remembers the longest time in which the page did not answer. */
function watch() {
  window.frames = 0;
  window.longest = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration); }).observe({ entryTypes: ['longtask'] });
  const frame = () => { window.frames += 1; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}

export const the_live_page_takes_five_hundred_calls_a_second = async ({ browser, gateway }) => {
  await gateway.call('read_note', { id: 1 });
  const { calls: [call] } = await gateway.api('/api/calls?limit=1');
  const page = await browser.page();
  // The page reads its stream as always; what is in it comes from here, since a gateway that is built for tests is not that fast.
  await page.addInitScript((sample) => {
    const real = window.fetch;
    window.sent = 0;
    window.fetch = (address, options) => {
      if (!String(address).startsWith('/api/live')) return real(address, options);
      const bytes = new TextEncoder();
      const body = new ReadableStream({
        start(stream) {
          stream.enqueue(bytes.encode('event: hello\ndata: {"packs":[],"pending":[],"running":[]}\n\n'));
          setInterval(() => {
            let text = '';
            for (let at = 0; at < 25; at++) {
              window.sent += 1;
              text += `event: call\ndata: ${JSON.stringify({ ...sample, id: `made-${window.sent}`, time_us: Date.now() * 1000 })}\n\n`;
            }
            stream.enqueue(bytes.encode(text));
          }, 50);
        },
      });
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    };
  }, call);
  await enter(page, gateway);
  await page.waitForSelector('.state.open');
  await page.evaluate(watch);
  await page.waitForTimeout(3000);
  const { frames, longest, sent, drawn } = await page.evaluate(() => ({ frames: window.frames, longest: window.longest, sent: window.sent, drawn: document.querySelectorAll('.calls .item').length }));
  holds(drawn > 5 && drawn < 60, `only what is seen is drawn: ${drawn}`);
  const kept = await page.evaluate(async () => (await import('/console/js/feed.js')).all().length);
  holds(kept <= 2000, `the list is bounded: ${kept}`);
  // What is chosen stays, and the page answers.
  await page.locator('.calls .item').nth(3).click();
  await page.waitForSelector('.pill:not([hidden])');
  await clean(page, [/status of 404/]);
  await page.context().close();
  return `${sent} calls, ${(frames / 3).toFixed(0)} frames a second, longest task ${longest.toFixed(0)} ms`;
};

export const the_live_page_holds_what_comes = async ({ browser, gateway }) => {
  const page = await browser.page();
  await enter(page, gateway);
  await page.waitForSelector('.state.open');
  await page.evaluate(watch);
  const began = Date.now();
  let made = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    while (Date.now() - began < 4000) {
      await gateway.call('read_note', { id: made });
      made += 1;
      const due = began + made * 2;
      if (due > Date.now()) await new Promise((done) => setTimeout(done, due - Date.now()));
    }
  }));
  const seconds = (Date.now() - began) / 1000;
  await page.waitForSelector('.calls .item');
  const { frames, longest } = await page.evaluate(() => ({ frames: window.frames, longest: window.longest }));
  holds(await page.locator('.calls .item').count() < 60, 'only what is seen is drawn');
  // The page answers while calls come.
  await page.keyboard.press('p');
  await page.waitForSelector('.head .button.on');
  await clean(page);
  await page.context().close();
  return `${(made / seconds).toFixed(0)} calls a second, ${(frames / seconds).toFixed(0)} frames a second, longest task ${longest.toFixed(0)} ms`;
};
