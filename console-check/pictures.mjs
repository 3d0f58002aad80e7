// The pictures of the README: the demo workspace with some calls, as it looks.

import { join } from 'node:path';
import { enter, go } from './stage.mjs';

const CALLS = [
  ['search', { query: 'refund' }], ['wiki__search', { query: 'refund' }], ['get_issue', { number: 4 }], ['read_page', { title: 'Refund policy' }], ['list_tables', {}], ['search_regulations', { query: 'hygiene' }],
  ['read_query', { query: 'SELECT id, status FROM orders LIMIT 5' }], ['check_company_exists', { kvk_number: '12345678' }], ['read_query', { query: 'DELETE FROM users' }], ['list_messages', {}], ['describe_table', { table: 'orders' }],
  ['create_issue', { title: 'Refund is late' }],
];

export async function pictures({ browser, gateway, folder }) {
  const take = async (page, name, options = {}) => page.screenshot({ path: join(folder, `${name}.png`), ...options });
  const some = async (count) => {
    for (let at = 0; at < count; at++) {
      await gateway.call(...CALLS[(at * 5) % CALLS.length]);
      await new Promise((done) => setTimeout(done, 20 + ((at * 37) % 90)));
    }
  };

  const live = await browser.page({ theme: 'dark', width: 1200, height: 720 });
  await enter(live, gateway);
  await some(240);
  await live.mouse.move(5, 5);
  const call = gateway.call('read_query', { query: 'DELETE FROM users' });
  await call;
  await live.waitForTimeout(1500);
  await live.locator('.calls .item', { hasText: 'denied' }).first().click();
  await live.waitForSelector('.stages');
  await live.waitForTimeout(1200);
  await take(live, 'console-live');

  const asks = ['DELETE FROM orders', 'UPDATE users SET active = 0', 'UPDATE products SET stock = 0'].map((query) => gateway.call('write_query', { query }));
  const desk = await browser.page({ width: 1200, height: 720 });
  await Promise.allSettled(asks);
  await enter(desk, gateway, 'approvals');
  await desk.waitForSelector('.decide');
  await desk.waitForTimeout(600);
  await take(desk, 'console-approvals');
  await go(desk, 'confusables');
  await desk.waitForSelector('.figure');
  await take(desk, 'console-confusables');
  await go(desk, 'catalog/shop.read_query');
  await desk.waitForSelector('.identity');
  await desk.waitForTimeout(300);
  await take(desk, 'console-catalog');
  await go(desk, 'chat');
  await desk.waitForSelector('.intro');
  await desk.fill('.say textarea', 'clean up');
  await desk.keyboard.press('Enter');
  await desk.waitForSelector('.toolcard.asking');
  await desk.waitForTimeout(400);
  await take(desk, 'console-chat');

  const phone = await browser.page({ width: 390, height: 780, locale: 'nl-NL' });
  await enter(phone, gateway, 'approvals');
  await phone.locator('.list .item').first().click();
  await phone.waitForSelector('.decide');
  await phone.waitForTimeout(400);
  await take(phone, 'console-phone');
}
