// `npm run docs:check`: the built site in Chromium. Every link and anchor, the search, both themes, the width of a phone,
// axe, the weight of the first page, and no request to another host. With --shots FOLDER it leaves pictures there.
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { executablePath, launch, skip } from '../packages/lab/test/report/chromium.ts';
import { isInRepository } from './links.ts';
import { serve } from './serve.ts';

const dist = join(import.meta.dirname, 'dist');
const { shots } = parseArgs({ options: { shots: { type: 'string' } } }).values;
const wide = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };
/** Compressed, until the network is idle. */
const firstPageLimitKb = 200;
/** One page of each kind. */
const kinds = [
  'index',
  'guide/first-afternoon',
  'guide/measuring',
  'guide/stairs',
  'packages/defer',
  'packages/eslint-plugin',
  'examples/deferred-work',
  'rules/no-delete',
  'design/http',
  'api/index',
  'api/@redline/http',
];

/** For each wait: what does not come by then does not come. */
const waitMs = 30_000;

if (executablePath === undefined) {
  process.stderr.write(`${skip}\n`);
  process.exit(1);
}
if (!existsSync(join(dist, 'index.html'))) {
  process.stderr.write('The site is not built: npm run docs:build\n');
  process.exit(1);
}
const { server, origin } = await serve(dist);
const browser = await launch();
let complaints = 0;
const names = globSync('**/*.html', { cwd: dist })
  .map((file) => file.replace('.html', ''))
  .filter((name) => name !== '404')
  .toSorted();
for (const step of [weigh, search, switchTheme, followLinks, look]) {
  // A failure of one must not hide those of the others.
  await step(browser).catch((error: unknown) => complain(step.name, String(error)));
}
await browser.close();
server.close();
server.closeAllConnections();
process.exitCode = complaints > 0 ? 1 : 0;
say(complaints > 0 ? `${complaints} complaints` : `${names.length} pages: no complaint`);

/** Each page once, at the width of a phone: what it asks for, what it says to the console, where its links lead. */
async function followLinks(from: Browser): Promise<void> {
  const page = await newPage(from, phone, 'light');
  const anchors = new Map<string, Set<string>>();
  const links: { name: string; href: string }[] = [];
  for (const name of names) {
    await page.goto(`${origin}/${name}.html`);
    await page.waitForSelector('#VPContent');
    const found = await page.evaluate(() => ({
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
      hrefs: [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].map(({ href }) => href),
      overhang: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    }));
    anchors.set(name, new Set(found.ids));
    for (const href of new Set(found.hrefs)) links.push({ name, href });
    if (found.overhang > 0) complain(name, `is ${found.overhang} px wider than a phone`);
  }
  let count = 0;
  for (const { name, href } of links) {
    const { origin: host, pathname, hash } = new URL(href);
    if (!isInRepository(href)) complain(name, `links to ${href}, which is not in the repository`);
    if (host !== origin) continue;
    count++;
    const path = decodeURIComponent(pathname).slice(1);
    const target = path === '' || path.endsWith('/') ? `${path}index` : path.replace(/\.html$/, '');
    const ids = anchors.get(target);
    if (ids === undefined && !existsSync(join(dist, path)))
      complain(name, `links to ${href}, which is missing`);
    else if (hash !== '' && ids?.has(decodeURIComponent(hash.slice(1))) === false) {
      complain(name, `links to ${target}${decodeURIComponent(hash)}, an anchor that is missing`);
    }
  }
  await page.close();
  say(`${count} links between ${names.length} pages`);
}

/** axe, in both themes and both widths. */
async function look(from: Browser): Promise<void> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  for (const scheme of ['light', 'dark'] as const) {
    for (const viewport of [wide, phone]) {
      const page = await newPage(from, viewport, scheme);
      for (const name of kinds) {
        await page.goto(`${origin}/${name}.html`, { waitUntil: 'networkidle' });
        await page.addScriptTag({ path: axe });
        const violations = await page.evaluate(async () => {
          const run = (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe;
          return (await run.run()).violations.map(({ id, nodes }) => ({
            id,
            places: nodes.map(
              ({ target, failureSummary }) => `${target.join(' ')} (${failureSummary ?? ''})`,
            ),
          }));
        });
        for (const { id, places } of violations) {
          complain(
            `${name}, ${scheme}, ${viewport.width} px`,
            `axe: ${id}: ${places.slice(0, 3).join('; ')}`,
          );
        }
        if (shots !== undefined) {
          mkdirSync(shots, { recursive: true });
          const file = `${name.replaceAll('/', '-')}-${scheme}-${viewport.width}.png`;
          await page.screenshot({ path: join(shots, file), fullPage: name === 'index' });
        }
      }
      await page.close();
    }
  }
  say(`${kinds.length} pages in two themes and two widths, read by axe`);
}

interface AxeResult {
  violations: { id: string; nodes: { target: string[]; failureSummary?: string }[] }[];
}

async function search(from: Browser): Promise<void> {
  const page = await newPage(from, wide, 'light');
  await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
  await page.keyboard.press('Control+k');
  await page.locator('.VPLocalSearchBox input').fill('waterfall');
  const first = page.locator('.VPLocalSearchBox .result').first();
  await first.waitFor();
  if (shots !== undefined) await page.screenshot({ path: join(shots, 'search-light-1280.png') });
  await first.click();
  await page.waitForURL(`${origin}/guide/stairs.html*`);
  await page.close();
  say('the search finds, and leads there');
}

async function switchTheme(from: Browser): Promise<void> {
  const page = await newPage(from, wide, 'light');
  await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
  const background = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await background();
  await page.locator('.VPNavBarAppearance .VPSwitchAppearance').click();
  await page.waitForFunction(() => document.documentElement.classList.contains('dark'));
  assert.notEqual(await background(), before);
  await page.reload();
  assert.ok(await page.evaluate(() => document.documentElement.classList.contains('dark')));
  await page.close();
  say('the theme is switched, and kept');
}

async function weigh(from: Browser): Promise<void> {
  const page = await newPage(from, wide, 'light');
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(`${origin}/`, { waitUntil: 'networkidle' });
  const kb = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1_000;
  if (kb > firstPageLimitKb)
    complain('index', `takes ${kb.toFixed(0)} KB, more than ${firstPageLimitKb}`);
  await page.close();
  say(`the first page takes ${kb.toFixed(0)} KB in ${sizes.length} requests`);
}

async function newPage(
  from: Browser,
  viewport: typeof wide,
  colorScheme: 'light' | 'dark',
): Promise<Page> {
  const page = await from.newPage({ viewport, colorScheme });
  page.setDefaultTimeout(waitMs);
  page.on('request', (request) => {
    const { protocol, origin: host } = new URL(request.url());
    if (host !== origin && protocol !== 'data:') complain(page.url(), `asks ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') complain(page.url(), `says ${message.text()}`);
  });
  page.on('pageerror', (error) => complain(page.url(), `throws ${error.message}`));
  return page;
}

/** As soon as it is found: the rest takes a while. */
function complain(where: string, what: string): void {
  complaints++;
  process.stderr.write(`${where}: ${what}\n`);
}

function say(what: string): void {
  process.stdout.write(`${what}\n`);
}
