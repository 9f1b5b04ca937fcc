import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { loadDocs } from '../../api/docs/files';
import { startDocs, type DocsServer } from '../docs/server';
import { faintTextOf, violationsBeside, violationsButOfColours, violationsOf } from './axe';
import { startBrowser } from './chromium';
import { withBrowser } from './with-browser';

/** The documentation in a browser: no page breaks its policy, all can be read by everyone, and the search finds. */

let docs: DocsServer;
let browser: Browser;
const faults: string[] = [];

async function pageOf(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  return page;
}

const addresses = [...loadDocs()!.keys()]
  .filter((name) => name.endsWith('index.html'))
  .map((name) => `/docs/${name.replace(/index\.html$/, '')}`)
  .sort();
/** There is no such page: it answers 404, which browsers report. */
const missing = 'none/';
const isOfMissing = (fault: string): boolean => fault.includes(`/docs/${missing}: `) && / 404 /.test(fault);
/** One page of each kind; all pages have the same parts. */
const kinds = [
  '',
  'quickstart/',
  'payment-states/',
  'webhooks/',
  'errors/',
  'api/diagnostics/',
  'api/dashboard/whitelist/',
  missing,
];
/** Every page, a few to a test. */
const groups = Array.from({ length: Math.ceil(addresses.length / 20) }, (_, at) =>
  addresses.slice(at * 20, at * 20 + 20),
);

/** The list of all pages, which is on each of them: without the mark of where it is. */
const nameless = (list: string): string => list.replace(' aria-current="page"', '');
/** Those that were checked. */
const lists = new Set<string>();
const allButColours = (page: Page): Promise<string[]> => violationsButOfColours(page, 'best-practice');
const besideTheList = (page: Page): Promise<string[]> => violationsBeside('nav.pages', page, 'best-practice');

withBrowser('18.2: the documentation in a browser', () => {
  beforeAll(async () => {
    docs = await startDocs();
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await docs?.stop();
  });
  beforeEach(() => {
    faults.length = 0;
  });

  it.each(groups.map((group) => [group[0]!, group.length, group] as const))(
    'opens every page without a fault of its policy or its script, readable in both themes: from %s, %d pages',
    async (_first, _count, group) => {
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      const page = await pageOf(context);
      const violations: string[] = [];
      for (const address of group) {
        await page.goto(docs.url + address, { waitUntil: 'domcontentloaded' });
        expect(await page.locator('main h1').count()).toBe(1);
        expect(await page.getByRole('search').isVisible()).toBe(true);
        const pages = await page.locator('nav.pages').evaluate((list) => list.outerHTML);
        const found = await (lists.has(nameless(pages)) ? besideTheList : allButColours)(page);
        lists.add(nameless(pages));
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          found.push(...(await faintTextOf(page)));
        }
        violations.push(...found.map((one) => `${address}: ${one}`));
      }
      expect([violations, faults]).toEqual([[], []]);
      await context.close();
    },
  );

  it('notices faint text in one theme, and in one of many texts, and a picture without words', async () => {
    const context = await browser.newContext({ colorScheme: 'light' });
    const page = await context.newPage();
    const style = '<style>@media (prefers-color-scheme: dark) { .faint { color: #ddd } }</style>';
    await page.setContent(
      `<html lang="en"><title>Texts</title>${style}<main><p>one</p><p>two</p><p class="faint">three</p></main></html>`,
    );
    expect(await faintTextOf(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await faintTextOf(page)).toEqual([expect.stringMatching(/^color-contrast \.faint/)]);
    expect(await violationsButOfColours(page)).toEqual([]);
    await page.setContent(`<html lang="en"><main><img src="data:,"></main></html>`);
    expect(await violationsButOfColours(page)).toEqual([
      expect.stringMatching(/^document-title /),
      expect.stringMatching(/^image-alt img/),
    ]);
    await context.close();
  });

  /** Beside light on a wide screen, which the test before has looked at. */
  it.each([
    { colorScheme: 'light', width: 390 },
    { colorScheme: 'dark', width: 390 },
    { colorScheme: 'dark', width: 1280 },
  ] as const)('can be read by everyone: $colorScheme, $width px', async ({ colorScheme, width }) => {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 900 },
      reducedMotion: 'reduce',
    });
    const page = await pageOf(context);
    for (const kind of kinds) {
      await page.goto(`${docs.url}/docs/${kind}`);
      expect([kind, await violationsOf(page, 'best-practice')]).toEqual([kind, []]);
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      expect([kind, isWide]).toEqual([kind, false]);
      if (!process.env.SHOTS) continue;
      mkdirSync(process.env.SHOTS, { recursive: true });
      const name = `docs-${kind.replaceAll('/', '-') || 'first'}${colorScheme}-${width}.png`;
      await page.screenshot({ path: join(process.env.SHOTS, name) });
    }
    await page.goto(`${docs.url}/docs/`);
    await page.locator('#search').fill('refund');
    await page.locator('.results a').first().waitFor();
    expect(await violationsOf(page, 'best-practice')).toEqual([]);
    expect(faults.filter((fault) => !isOfMissing(fault))).toEqual([]);
    await context.close();
  });

  it('finds what is looked for, by the keyboard alone', async () => {
    const context = await browser.newContext();
    const page = await pageOf(context);
    await page.goto(`${docs.url}/docs/`);
    const results = page.locator('.results a');
    const look = async (words: string): Promise<string[]> => {
      await page.locator('body').press('/');
      await page.locator('#search').fill(words);
      await results.first().waitFor();
      const links = await results.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
      return links;
    };
    expect((await look('verify signature'))[0]).toMatch(/^\/docs\/webhooks\/#/);
    await page.keyboard.press('Escape');
    await results.first().waitFor({ state: 'detached' });
    expect((await look('refund')).some((href) => href.startsWith('/docs/refunds/'))).toBe(true);
    await page.keyboard.press('Escape');
    await results.first().waitFor({ state: 'detached' });
    expect((await look('INVALID_ID'))[0]).toBe('/docs/errors/#INVALID_ID');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/errors\/#INVALID_ID$/);
    await page.locator('tr#INVALID_ID').waitFor();
    await page.locator('#search').fill('xqzwvk');
    await page.getByText('Nothing found').waitFor({ state: 'attached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  it('lets a reader skip to the content, and fold the list of pages away on a phone', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await pageOf(context);
    await page.goto(`${docs.url}/docs/webhooks/`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction('document.activeElement.id === "content"');
    const link = page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Refunds', exact: true })
      .first();
    await link.waitFor({ state: 'hidden' });
    await page.getByText('All pages').click();
    await link.click();
    await page.waitForURL(/\/docs\/refunds\/$/);
    expect(faults).toEqual([]);
    await context.close();
  });
});
