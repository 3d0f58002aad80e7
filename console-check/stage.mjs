// What a scenario needs: a gateway with real servers behind it, a client that calls tools, and a browser that writes down whatever goes wrong in it.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

/** Nothing is measured against this; it only ends what hangs. */
export const PATIENCE = 20_000;
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export class Gateway {
  /** Starts a gateway in a folder of its own, with the configuration of that name; without one it is the demo workspace. */
  static async start(config, variables = {}) {
    const work = join(process.env.WORK, config);
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { recursive: true });
    const written = new URL(`./configs/${config}/`, import.meta.url);
    const has = existsSync(written);
    if (has) cpSync(written, work, { recursive: true });
    const store = `sqlite://${join(work, 'store.db')}`;
    const gateway = new Gateway();
    gateway.said = '';
    const environment = { ...process.env, ...variables, NODE: process.execPath, SERVER: new URL('./server.mjs', import.meta.url).pathname, XDG_DATA_HOME: work, HOME: work };
    gateway.process = spawn(process.env.TOOLMARK, ['up', ...(has ? ['--config', join(work, 'toolmark.toml')] : []), '--listen', '127.0.0.1:0', '--store', store], { cwd: work, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    gateway.process.stderr.on('data', (data) => { gateway.said += data; });
    const known = new Promise((done, fail) => {
      createInterface({ input: gateway.process.stdout }).on('line', (line) => {
        gateway.said += `${line}\n`;
        const found = /^listening on (http:\/\/[^/]+)/.exec(line);
        if (found) {
          gateway.url = found[1];
          done();
        }
      });
      gateway.process.on('exit', (status) => fail(new Error(`the gateway ended with ${status}:\n${gateway.said}`)));
      setTimeout(() => fail(new Error(`the gateway printed no address:\n${gateway.said}`)), PATIENCE).unref();
    });
    try {
      await known;
      await until(async () => (await fetch(`${gateway.url}/readyz`)).ok, 'every pack is ready');
      // An address is shown to people at a terminal only; here it is made as anybody makes another one.
      const opening = spawnSync(process.env.TOOLMARK, ['console', '--url', '--at', gateway.url, '--store', store], { cwd: work, env: environment, encoding: 'utf8' });
      gateway.key = /#key=(\S+)/.exec(opening.stdout)?.[1];
      if (!gateway.key) throw new Error(`no address of the console: ${opening.stdout}${opening.stderr}`);
    } catch (error) {
      gateway.process.kill('SIGKILL');
      throw error;
    }
    return gateway;
  }

  stop() {
    return new Promise((done) => {
      this.process.removeAllListeners('exit');
      this.process.on('exit', done);
      this.process.kill('SIGTERM');
    });
  }

  address(page = '') {
    return `${this.url}/${page}`;
  }

  /** Calls a tool as a client of 2026-07-28 does that can ask nobody. */
  async call(name, given = {}, headers = {}) {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientInfo': { name: 'check', version: '1' }, 'io.modelcontextprotocol/clientCapabilities': {} };
    const answer = await fetch(`${this.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } }),
    });
    const body = await answer.text();
    const data = body.split('\n').filter((line) => line.startsWith('data:')).pop();
    const read = JSON.parse(data ? data.slice(5) : body);
    return read.result ?? read;
  }

  async api(path, options = {}) {
    const answer = await fetch(`${this.url}${path}`, { ...options, headers: { authorization: `Bearer ${this.key}`, ...options.headers } });
    return answer.json();
  }
}

export async function until(holds, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const last = await Promise.resolve().then(holds).catch(() => false);
    if (last) return last;
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export class Browser {
  static async start() {
    const browser = new Browser();
    browser.real = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
    return browser;
  }

  /** A page of its own, with nothing in it that another had. */
  async page({ width = 1280, height = 800, theme = 'light', locale = 'en-GB', motion = 'reduce' } = {}) {
    const context = await this.real.newContext({ viewport: { width, height }, colorScheme: theme, locale, reducedMotion: motion });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.wrong = [];
    page.on('pageerror', (error) => page.wrong.push(`error: ${error.stack ?? error.message}`));
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.wrong.push(`${message.type()}: ${message.text()} (${message.location().url})`); });
    page.on('dialog', (dialog) => { page.wrong.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('request', (request) => { const at = new URL(request.url()); if (at.hostname !== '127.0.0.1' && at.protocol !== 'data:') page.wrong.push(`asked elsewhere: ${request.url()}`); });
    if (process.env.PAGES) await page.route(/^http:\/\/127[^?#]*\/(console\/[^?#]*)?$/, (route) => fromFolder(route).catch(() => {}));
    await page.addInitScript(() => {
      window.violations = [];
      addEventListener('securitypolicyviolation', (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    });
    return page;
  }

  stop() {
    return this.real.close();
  }
}

/** For work on the pages: with `PAGES` they are taken from that folder, not from the binary, with the same headers. */
async function fromFolder(route) {
  const path = new URL(route.request().url()).pathname.replace(/^\/(console\/)?/, '') || 'index.html';
  const answer = await route.fetch();
  const kinds = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css', json: 'application/json', svg: 'image/svg+xml' };
  await route.fulfill({ status: 200, headers: { ...answer.headers(), 'content-type': kinds[path.split('.').pop()] }, body: readFileSync(join(process.env.PAGES, path)) });
}

/** Opens the console with its key, on a page. */
export async function enter(page, gateway, where = 'live') {
  await page.goto(`${gateway.url}/#key=${gateway.key}`);
  await page.waitForSelector('.shell');
  await go(page, where);
}

export async function go(page, where) {
  await page.evaluate((to) => { location.hash = `#/${to}`; }, where);
  await arrived(page, where);
}

/** Waits until a page is there, and not the one before it. */
export async function arrived(page, where) {
  await page.waitForSelector(`.page[data-page="${where.split('/')[0]}"]`);
}

/** What must be true of every page at any time: no script of strangers ran, nothing was stopped by the policy, nothing complained. */
export async function clean(page, allowed = []) {
  const harmed = await page.evaluate(() => [window.harmed ?? null, window.violations]);
  if (harmed[0] !== null) throw new Error(`a script of a stranger ran: ${harmed[0]}`);
  if (harmed[1].length) throw new Error(`stopped by the policy: ${harmed[1].join('; ')}`);
  const wrong = page.wrong.filter((one) => !allowed.some((pattern) => pattern.test(one)));
  if (wrong.length) throw new Error(wrong.join('\n'));
}

export function same(found, wanted, what) {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(`${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
}

export function holds(condition, what) {
  if (!condition) throw new Error(what);
}
