// Plays every scenario, or those whose names hold a word that is given, and says which hold. `--pictures FOLDER` takes the pictures of the README instead.

import { resolve } from 'node:path';
import { Browser, Gateway } from './stage.mjs';
import { pictures } from './pictures.mjs';

const SCENARIOS = [
  [null, './scenarios/words.mjs'],
  ['desk', './scenarios/desk.mjs'],
  ['desk', './scenarios/chat.mjs'],
  ['void', './scenarios/void.mjs'],
  ['many', './scenarios/many.mjs'],
];

const wanted = process.argv.slice(2);
const began = Date.now();
const browser = await Browser.start();
const gateways = new Map();
let failed = 0;
let played = 0;

async function gateway(config) {
  if (!config) return null;
  // One that does not start does not start for the next scenario either.
  if (!gateways.has(config)) gateways.set(config, Gateway.start(config));
  return gateways.get(config);
}

try {
  if (wanted[0] === '--pictures') {
    await pictures({ browser, gateway: await gateway('demo'), folder: resolve(process.env.ROOT ?? '.', wanted[1]) });
  } else {
    for (const [config, file] of SCENARIOS) {
      for (const [name, play] of Object.entries(await import(file))) {
        if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
        const from = Date.now();
        played += 1;
        try {
          const figures = await play({ browser, gateway: await gateway(config) });
          console.log(`ok      ${name.replaceAll('_', ' ')} (${Date.now() - from} ms${figures ? `: ${figures}` : ''})`);
        } catch (error) {
          failed += 1;
          console.log(`FAILED  ${name.replaceAll('_', ' ')}\n${error.stack ?? error}`);
          for (const context of browser.real.contexts()) {
            const [page] = context.pages();
            if (page && process.env.WORK) await page.screenshot({ path: `${process.env.WORK}/${name}.png` }).catch(() => {});
            await context.close();
          }
        }
      }
    }
    console.log(`${played - failed} of ${played} hold, after ${((Date.now() - began) / 1000).toFixed(0)} s`);
  }
} finally {
  await browser.stop();
  for (const one of gateways.values()) await one.then((gateway) => gateway.stop(), () => {});
}
process.exit(failed || (!played && wanted[0] !== '--pictures') ? 1 : 0);
