import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { catalogues } from '../../web/checkout/texts';
import { invoices, manyChoices } from '../web/invoices';
import { violationsOf } from './axe';
import { startBrowser } from './chromium';
import { StubApi } from './stub-api';
import { withBrowser } from './with-browser';

/** Choosing a coin and its network among all that the registry has, in Chromium. SHOTS names a folder for pictures. */

const widths = { small: 320, phone: 390, desktop: 1280 };
const shots = process.env.SHOTS;
let stub: StubApi;
let browser: Browser;
const faults: string[] = [];

withBrowser('choosing among all assets', () => {
  beforeAll(async () => {
    stub = await StubApi.start();
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    stub?.stop();
  });
  beforeEach(() => void (faults.length = 0));

  async function open(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: widths.phone, height: 844 }, ...options });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(url);
    return page;
  }
  /** Accessible, and no wider than the screen. */
  async function isGood(page: Page, name: string): Promise<void> {
    expect([name, await page.evaluate('document.documentElement.scrollWidth - innerWidth')]).toEqual([name, 0]);
    expect([name, await violationsOf(page)]).toEqual([name, []]);
    if (!shots) return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
  }
  /** The currency that an act of the payer chooses; the page that follows stands. Chromium may never close a page which
   *  it is just leaving, nor say that a key was pressed which leaves it. */
  async function chosenBy(page: Page, act: () => Promise<void>): Promise<string | null> {
    const next = page.waitForEvent('load');
    await Promise.race([next, act().then(() => next)]);
    return stub.chosen;
  }
  const usdc = (page: Page) => page.locator('#coin-USDC summary');

  /** Each size and each scheme is looked at closely in one language; pictures are of all. */
  const looks = Object.keys(widths).flatMap((size) => (['light', 'dark'] as const).map((scheme) => [size, scheme]));
  it.each(catalogues.map(({ language }) => language))(
    '%s: is good on every screen, closed and open',
    async (locale) => {
      const page = await open(stub.show('many', invoices.choose, manyChoices), { locale });
      const [small, phone] = [looks[0]!, looks[2]!];
      for (const look of shots || locale === 'en' ? looks : [small, phone]) {
        const [size, colorScheme] = look as [keyof typeof widths, 'light' | 'dark'];
        await page.setViewportSize({ width: widths[size], height: 844 });
        await page.emulateMedia({ colorScheme });
        await isGood(page, `coins-${locale}-${size}-${colorScheme}`);
        await usdc(page).click();
        await isGood(page, `networks-${locale}-${size}-${colorScheme}`);
        await usdc(page).click();
      }
      await page.context().close();
      expect(faults).toEqual([]);
    },
  );

  it.each([true, false])(
    'with scripts %s: a coin opens to its networks, and closes the one before',
    async (javaScriptEnabled) => {
      const page = await open(stub.show(`opens${javaScriptEnabled}`, invoices.choose, manyChoices), {
        javaScriptEnabled,
      });
      const networks = (asset: string) => page.locator(`#coin-${asset} .networks button`);
      await usdc(page).click();
      expect(await networks('USDC').first().isVisible()).toBe(true);
      await page.locator('#coin-ETH summary').click();
      expect(await networks('ETH').first().isVisible()).toBe(true);
      expect(await networks('USDC').first().isVisible()).toBe(false);
      const arbitrum = networks('ETH').filter({ hasText: 'Arbitrum One' });
      expect(await chosenBy(page, () => arbitrum.click())).toBe('ETH_ARBITRUM');
      expect(stub.acts.at(-1)).toMatch(/\/select-currency$/);
      await page.context().close();
    },
  );

  it('goes by the keyboard alone, past what cannot be chosen', async () => {
    const page = await open(stub.show('keys', invoices.choose, manyChoices));
    await usdc(page).focus();
    await page.keyboard.press('Enter');
    const order: string[] = [];
    for (let n = 0; n < 5; n++) {
      await page.keyboard.press('Tab');
      order.push((await page.evaluate('document.activeElement.closest("li").id')) as string);
    }
    expect(order).toEqual([...['POLYGON', 'BASE', 'ARBITRUM', 'ERC20'].map((one) => `choice-USDC_${one}`), 'coin-LTC']);
    await page.keyboard.press('Shift+Tab');
    expect(await chosenBy(page, () => page.keyboard.press('Enter'))).toBe('USDC_ERC20');
    await page.context().close();
  });

  it('stays open where the page takes news, which it shows', async () => {
    const page = await open(stub.show('news', invoices.choose, manyChoices));
    await usdc(page).click();
    const late = manyChoices.map((one) => ({ ...one, status: 'delayed' as const }));
    stub.show('news', invoices.choose, late);
    await page.locator('#choice-USDC_POLYGON').getByText('noticed late').waitFor();
    expect(await page.locator('#choice-USDC_POLYGON button').isVisible()).toBe(true);
    await page.context().close();
  });

  it('changes the coin of an invoice that waits for its payment', async () => {
    const page = await open(stub.show('change', invoices.waiting, manyChoices));
    await page.getByText('Pay with another coin').click();
    await usdc(page).click();
    await isGood(page, 'change-phone');
    const polygon = page.locator('#choice-USDC_POLYGON button');
    expect(await chosenBy(page, () => polygon.click())).toBe('USDC_POLYGON');
    await page.context().close();
  });
});
