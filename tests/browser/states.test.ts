import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { refundStatuses } from '../../domain/refunds/refund';
import { aClaim } from '../web/claims';
import { anInvoice, branding, invoices, lightningInvoice, txOf } from '../web/invoices';
import { violationsOf } from './axe';
import { startBrowser } from './chromium';
import { StubApi } from './stub-api';
import { withBrowser } from './with-browser';

/** Every state of the hosted checkout in Chromium, and how a page follows its payment. SHOTS names a folder: then the
 *  whole matrix of pictures is taken. */

const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const schemes = ['light', 'dark'] as const;
const shots = process.env.SHOTS;
let stub: StubApi;
let browser: Browser;
const faults: string[] = [];

withBrowser('the checkout', () => {
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
    const permissions = options.javaScriptEnabled === false ? [] : ['clipboard-read', 'clipboard-write'];
    const context = await browser.newContext({ viewport: sizes.phone, permissions, ...options });
    const page = await listenedTo(context);
    await page.goto(url);
    return page;
  }
  async function listenedTo(context: BrowserContext): Promise<Page> {
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    return page;
  }
  function shotOf(name: string): string {
    mkdirSync(shots!, { recursive: true });
    return join(shots!, `${name}.png`);
  }
  /** `name`: of its picture. */
  async function isGood(page: Page, name: string | null): Promise<void> {
    expect([name, await violationsOf(page)]).toEqual([name, []]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    if (shots && name !== null) await page.screenshot({ path: shotOf(name), fullPage: true });
  }

  /** How a page can be looked at. */
  type Look = Readonly<{
    size: keyof typeof sizes;
    colorScheme: (typeof schemes)[number];
    locale: 'en' | 'ar';
    javaScriptEnabled: boolean;
  }>;
  /** A page in each language that all states share: opening one costs more than looking. */
  const shared = new Map<string, Promise<Readonly<{ page: Page; cdp: CDPSession }>>>();
  async function pageIn(locale: string) {
    const context = await browser.newContext({ locale });
    const page = await listenedTo(context);
    return { page, cdp: await context.newCDPSession(page) };
  }
  /** The page at `url`, looked at in this way. Scripts that are disabled may run again once it is there: axe is one,
   *  and the parts for browsers without them stay in place. */
  async function at(url: string, { size, colorScheme, locale, javaScriptEnabled }: Look): Promise<Page> {
    if (!shared.has(locale)) shared.set(locale, pageIn(locale));
    const { page, cdp } = (await shared.get(locale))!;
    await page.context().clearCookies();
    await page.setViewportSize(sizes[size]);
    await page.emulateMedia({ colorScheme });
    await cdp.send('Emulation.setScriptExecutionDisabled', { value: !javaScriptEnabled });
    await page.goto(url);
    await cdp.send('Emulation.setScriptExecutionDisabled', { value: false });
    return page;
  }
  const looks = (Object.keys(sizes) as Array<keyof typeof sizes>).flatMap((size) =>
    schemes.flatMap((colorScheme) =>
      (['en', 'ar'] as const).flatMap((locale) =>
        [true, false].map((javaScriptEnabled): Look => ({ size, colorScheme, locale, javaScriptEnabled })),
      ),
    ),
  );
  // A light phone in English with JavaScript, and all that differ from it in three of the four: each value of a look
  // meets each value of every other one. The pictures are of all sixteen.
  const few = looks.filter(({ size, colorScheme, locale, javaScriptEnabled }) => {
    const differs = [size !== 'phone', colorScheme !== 'light', locale !== 'en', !javaScriptEnabled];
    return [0, 3].includes(differs.filter(Boolean).length);
  });
  const nameOf = (name: string, { size, colorScheme, locale, javaScriptEnabled }: Look): string =>
    [name, size, colorScheme, locale, ...(javaScriptEnabled ? [] : ['plain'])].join('-');

  /** In each look: readable, in its own direction, of one heading, no wider than the screen, accessible. */
  async function isGoodEverywhere(url: string, name: string): Promise<void> {
    for (const look of shots ? looks : few) {
      const page = await at(url, look);
      const html = page.locator('html');
      expect([await html.getAttribute('lang'), await html.getAttribute('dir')]).toEqual([
        look.locale,
        look.locale === 'ar' ? 'rtl' : 'ltr',
      ]);
      expect(await page.locator('h1').count()).toBe(1);
      if (!look.javaScriptEnabled) await isPlain(page, look);
      await isGood(page, nameOf(name, look));
    }
    expect(faults).toEqual([]);
  }

  /** A page without scripts shows what is meant for it, and fits the smallest screens too. */
  async function isPlain(page: Page, { size }: Look): Promise<void> {
    expect(await page.locator('noscript:not(:has(*))').count()).toBe(0);
    // A browser whose scripts may run again hides what is meant for others.
    await page.evaluate("document.querySelectorAll('noscript').forEach((part) => part.replaceWith(...part.children))");
    await page.setViewportSize({ width: 320, height: sizes[size].height });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await page.setViewportSize(sizes[size]);
  }

  it('has looks that meet in pairs', () => {
    const values = (look: Look) => Object.entries(look).map(([name, value]) => `${name} ${String(value)}`);
    const pairs = (all: readonly Look[]) =>
      new Set(all.flatMap((look) => values(look).flatMap((a) => values(look).map((b) => `${a} / ${b}`))));
    expect([few.length, looks.length]).toEqual([5, 16]);
    expect(pairs(few)).toEqual(pairs(looks));
  });

  it.each(Object.keys(invoices) as Array<keyof typeof invoices>)('B14: %s is accessible on every screen', (name) =>
    isGoodEverywhere(stub.show(name, invoices[name]), name),
  );

  it.each(refundStatuses)('B13: a refund, %s, is accessible on every screen', (status) => {
    const sent = ['broadcast', 'completed', 'failed'].includes(status);
    const claim = aClaim(status, {
      branding,
      ...(status === 'awaiting_address' ? {} : { address: invoices.waiting.depositAddress }),
      ...(sent ? { txId: txOf('c') } : {}),
    });
    return isGoodEverywhere(stub.showClaim(claim), `claim-${status}`);
  });

  it('B13: the address of a refund is asked for twice, on accessible pages', async () => {
    const claim = aClaim('awaiting_address', { branding, address: invoices.waiting.depositAddress });
    for (const options of [{}, { locale: 'ar', colorScheme: 'dark' as const, viewport: sizes.desktop }]) {
      const page = await open(stub.showClaim(claim), options);
      await page.locator('#address').fill(claim.address!);
      await page.locator('.claim button').click();
      await page.locator('form.sure').waitFor();
      await isGood(page, `claim-sure-${'locale' in options ? 'ar' : 'en'}`);
      await page.context().close();
    }
  });

  it('B8: the switch is a link, and the choice lasts while the page follows its payment', async () => {
    const page = await open(stub.show('speaks', invoices.waiting), { locale: 'fr', viewport: sizes.desktop });
    await page.getByRole('heading', { name: 'Nous attendons votre paiement' }).waitFor();
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Wir warten auf Ihre Zahlung' }).waitFor();
    stub.show('speaks', invoices.confirming);
    await page.getByRole('heading', { name: 'Zahlung eingegangen, wird bestätigt' }).waitFor();
    expect(await page.locator('main').innerText()).toContain('5 von 12 Bestätigungen');
    await page.context().close();
    expect(faults).toEqual([]);
  });

  /** What a phone shows without scrolling. */
  async function isAtHand(page: Page, parts: readonly string[]): Promise<void> {
    for (const part of parts) {
      const box = (await page.locator(part).first().boundingBox())!;
      expect([part, box.y + box.height <= sizes.phone.height]).toEqual([part, true]);
    }
  }
  const toPay = ['.clock', '#value-amount', 'a.button', '#value-address'];

  it('B6: a phone shows amount, wallet, address and time without scrolling, and the code when asked', async () => {
    const page = await open(stub.show('fold', invoices.waiting));
    await isAtHand(page, toPay);
    expect(await page.locator('.qr').isVisible()).toBe(false);
    await page.getByText('Show the QR code').click();
    expect(await page.locator('.qr').isVisible()).toBe(true);
    await isGood(page, 'waiting-code');
    await page.setViewportSize(sizes.desktop);
    expect(await page.locator('.qr').isVisible()).toBe(true);
    await page.context().close();

    const plain = await open(stub.show('fold', invoices.waiting), { javaScriptEnabled: false });
    await plain.getByText('Show the QR code').click();
    expect(await plain.locator('.qr').isVisible()).toBe(true);
    await plain.context().close();
  });

  it('B6: a Lightning invoice is shown by its ends, and copied whole; without scripts it is all there', async () => {
    const page = await open(stub.show('ends', invoices.lightning));
    await isAtHand(page, [...toPay, '[for=show-code]']);
    const heightOn = async (one: Page) => (await one.locator('#value-address').boundingBox())!.height;
    expect(await heightOn(page)).toBeLessThan(100);
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#value-address bdi'))");
    expect(await page.evaluate('String(getSelection())')).toBe(lightningInvoice);
    await page.getByRole('button', { name: 'Copy the invoice' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(lightningInvoice);
    await page.context().close();

    const plain = await open(stub.show('ends', invoices.lightning), { javaScriptEnabled: false });
    expect(await heightOn(plain)).toBeGreaterThan(200);
    await plain.context().close();

    const claim = aClaim('pending', { currency: 'BTC_LN', network: 'bitcoin', address: lightningInvoice });
    const claimed = await open(stub.showClaim(claim));
    expect((await claimed.locator('.card').boundingBox())!.height).toBeLessThan(350);
    await claimed.context().close();
    expect(faults).toEqual([]);
  });

  it('B14: what is touched on a phone is 44 pixels high, but for links within text', async () => {
    const urls = [
      ...Object.entries(invoices).map(([name, invoice]) => stub.show(`touch${name}`, invoice)),
      ...refundStatuses.map((status) => stub.showClaim(aClaim(status))),
    ];
    for (const url of urls) {
      const page = await at(url, looks[0]!);
      const low = await page.evaluate(
        `[...document.querySelectorAll('button, summary, input:not([type=hidden], .unseen), label.button, a')]
           .filter((one) => one.checkVisibility() && getComputedStyle(one).display !== 'inline')
           .filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)`,
      );
      expect([url, low]).toEqual([url, []]);
    }
  });

  it('B7: a page that changes keeps selection, focus, open parts and "Copied", and the rest of itself', async () => {
    const url = stub.show('keeps', invoices.part);
    const page = await open(url);
    // "Copied" lasts until the test lets time go on.
    await page.clock.install();
    await page.reload();
    await page.evaluate(
      "window.kept = [...document.querySelectorAll('.frame, .card, #value-address, .qr svg, .copy')]",
    );
    await page.clock.pauseAt(new Date(Date.now() + 2000));
    await page.getByText('Show the QR code').click();
    const copy = page.getByRole('button', { name: 'Copy the address' });
    await copy.click();
    await copy.getByText('Copied').waitFor();
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('#value-address bdi'))");
    for (const confirmations of [1, 2, 3])
      stub.show('keeps', anInvoice({ ...invoices.part, confirmations, networkDelayed: confirmations === 3 }));
    await page.getByText('We do not see new transactions').waitFor();
    expect(await copy.innerText()).toBe('Copied');
    expect(await page.evaluate('window.kept.every((element) => element.isConnected)')).toBe(true);
    expect(await page.evaluate('String(getSelection())')).toBe(invoices.part.depositAddress);
    expect(await page.evaluate('document.activeElement.dataset.copy')).toBe(invoices.part.depositAddress);
    expect(await page.locator('#show-code').isChecked()).toBe(true);
    await page.clock.runFor(2500);
    await copy.getByText('Copy', { exact: true }).waitFor();

    stub.show('keeps', invoices.confirming);
    await page.getByRole('heading', { name: 'Payment received, confirming' }).waitFor();
    expect(await page.locator('.qr').count()).toBe(0);
    expect(await page.evaluate('document.activeElement.id')).toBe('state');
    expect(await page.evaluate('window.kept.slice(0, 2).every((element) => element.isConnected)')).toBe(true);
    await page.context().close();
    expect(faults).toEqual([]);
  });

  it('B10: a wallet of the browser pays the exact amount on the right network, once', async () => {
    const context = await browser.newContext({ viewport: sizes.phone });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(error.message));
    await page.addInitScript(`
      window.asked = [];
      let chain = '0x89';
      let refusals = 1;
      const provider = { async request({ method, params }) {
        window.asked.push([method, params?.[0]]);
        if (method === 'eth_requestAccounts') return ['0x' + '1'.repeat(40)];
        if (method === 'eth_chainId') return chain;
        if (method === 'wallet_switchEthereumChain') return void (chain = params[0].chainId);
        if (refusals-- > 0) throw { code: 4001 };
        return '0x' + 'f'.repeat(64);
      } };
      const info = { uuid: 'test', name: '<b>Test wallet</b>', icon: 'javascript:alert(1)', rdns: 'test' };
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
      addEventListener('eip6963:requestProvider', announce);`);
    await page.goto(stub.show('wallet', invoices.waiting));
    const button = page.getByRole('button', { name: 'Pay with <b>Test wallet</b>' });
    await button.waitFor();
    expect(await page.locator('#wallets img').count()).toBe(0);
    await isGood(page, 'wallet-phone');
    stub.show('wallet', anInvoice({ networkDelayed: true }));
    await page.getByText('We do not see new transactions').waitFor();
    expect(await button.count()).toBe(1);
    await button.click();
    await page.locator('#wallets').getByText('The wallet did not send the payment.').waitFor();
    await button.click();
    await page.locator('#wallets').getByText('Sent from your wallet.').waitFor();
    expect(await button.isDisabled()).toBe(true);
    const asked = (await page.evaluate('window.asked')) as Array<[string, Record<string, string>]>;
    expect(asked.filter(([method]) => method === 'wallet_switchEthereumChain')).toEqual([
      ['wallet_switchEthereumChain', { chainId: '0x1' }],
    ]);
    const sent = asked.filter(([method]) => method === 'eth_sendTransaction').map(([, call]) => call);
    const units = 1263868066n.toString(16).padStart(64, '0');
    const recipient = invoices.waiting.depositAddress!.slice(2).toLowerCase().padStart(64, '0');
    const call = {
      from: `0x${'1'.repeat(40)}`,
      to: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
      value: '0x0',
      data: `0xa9059cbb${recipient}${units}`,
    };
    expect(sent).toEqual([call, call]);
    stub.show('wallet', invoices.seen);
    await page.getByRole('heading', { name: 'We have seen your payment' }).waitFor();
    expect(await page.locator('#wallets').count()).toBe(0);
    await context.close();
    expect(faults).toEqual([]);
  });

  it('B1: says at once that a payment was seen, and asks for nothing any more', async () => {
    const page = await open(stub.show('follows', invoices.waiting), { viewport: sizes.desktop });
    await page.locator('.qr svg').waitFor();
    stub.show('follows', invoices.seen);
    await page.getByRole('heading', { name: 'We have seen your payment' }).waitFor({ timeout: 2000 });
    expect(await page.locator('.qr, [data-copy], a[href^="ethereum:"]').count()).toBe(0);
    expect(await page.getByText(txOf('a')).isVisible()).toBe(true);
    await page.locator('#announcer', { hasText: 'We have seen your payment' }).waitFor({ state: 'attached' });
    await page.context().close();
  });

  it('B5: shows times in the zone of the payer, and one clock', async () => {
    const page = await open(stub.show('zone', invoices.waiting), { timezoneId: 'Asia/Kolkata', locale: 'en' });
    expect(await page.locator('.clock').innerText()).toMatch(/held for 10:\d\d, until \d+:\d\d.[AP]M GMT\+5:30\./);
    expect(await page.locator('[data-countdown]').count()).toBe(1);
    await page.context().close();
  });
});
