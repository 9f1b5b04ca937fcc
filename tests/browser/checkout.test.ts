import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { approveRefund } from '../../commands/refunds/approve';
import { violationsOf } from './axe';
import { startBrowser } from './chromium';
import { withBrowser } from './with-browser';
import { World, type Invoice, type Shop } from '../world';
import { anApprover } from '../approver';

/** The checkout as a payer meets it: real pages of the whole service in Chromium, paid on the real chain. */
const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
/** An invoice's page, or the page of a link. */
type Place = Invoice | string;
let world: World;
let shop: Shop;
let browser: Browser;
const faults: string[] = [];

withBrowser('the checkout', () => {
  beforeAll(async () => {
    world = await World.start({ services: { checkout: 1 } });
    shop = await world.shop();
    browser = await startBrowser();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  }, 60_000);
  beforeEach(() => void (faults.length = 0));

  const url = (place: Place): string =>
    typeof place === 'string' ? place : `${world.stack.checkoutUrl}/i/${place.slug}`;
  async function open(place: Place, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: sizes.phone,
      permissions: options.javaScriptEnabled === false ? [] : ['clipboard-read', 'clipboard-write'],
      ...options,
    });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('response', (answer) => answer.status() >= 400 && faults.push(`${answer.status()} ${answer.url()}`));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(url(place));
    return page;
  }
  /** Accessible; a picture where SHOTS names a folder. */
  async function isGood(page: Page, name: string): Promise<void> {
    expect([name, await violationsOf(page)]).toEqual([name, []]);
    if (!process.env.SHOTS) return;
    mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
  }
  /** What a page is told that asks for a price while nobody can answer; it asks again. */
  const noPriceNow = /^503 .*\/refresh$|status of 503/;
  /** Good in both schemes and sizes, with no sideways scrolling down to 320 px. `tolerated`: what the page may be told
   *  meanwhile. */
  async function looksRight(place: Place, name: string, tolerated = /^$/): Promise<void> {
    const page = await open(place);
    for (const [size, viewport] of Object.entries(sizes))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await isGood(page, `${name}-${size}-${colorScheme}`);
      }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await page.context().close();
    expect(faults.filter((fault) => !tolerated.test(fault))).toEqual([]);
  }
  const textOf = (page: Page): Promise<string> => page.locator('main').innerText();

  it('lets the payer choose a currency without JavaScript', async () => {
    const invoice = await world.invoice(shop, { amount: 25 });
    await looksRight(invoice, 'choose');
    const page = await open(invoice, { javaScriptEnabled: false });
    expect(await textOf(page)).toContain('Choose how to pay');
    await page.locator('button.choice', { hasText: 'Tether' }).click();
    expect(await textOf(page)).toContain('Send exactly 25 USDT');
    const payment = await world.payment(shop, invoice.id);
    expect(await textOf(page)).toContain(payment.publicKey);
    expect(await page.locator('.qr svg').count()).toBe(1);
    await page.getByRole('link', { name: 'Reload the page' }).click();
    expect(await textOf(page)).toContain('Send exactly 25 USDT');
    await page.context().close();
    await looksRight(invoice, 'waiting');
  });

  it('follows a payment from waiting to its receipt without a reload, and copies what is asked', async () => {
    const invoice = await world.invoice(shop, {
      amount: 25,
      currency: 'ETH',
      invoiceCallbackUrl: 'https://shop.example/thanks?order=1',
    });
    const page = await open(invoice);
    await page.evaluate('window.isFirst = true');
    await page.getByRole('button', { name: 'Copy the address' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(invoice.address);
    await page
      .locator('[data-countdown]', { hasText: /\d+:\d\d/ })
      .first()
      .waitFor();

    await world.payer.pay('ETH', invoice.address, '0.003');
    await world.payer.mine('ETH');
    await page.getByRole('heading', { name: 'Part of the amount has arrived' }).waitFor();
    expect(await textOf(page)).toContain('Send the remaining 0.0048125 ETH');
    await looksRight(invoice, 'part');
    await world.payer.pay('ETH', invoice.address, '0.0048125');
    await world.payer.mine('ETH');
    await page.getByRole('heading', { name: 'Payment received, confirming' }).waitFor();
    await looksRight(invoice, 'confirming');
    await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
    await page.getByRole('heading', { name: 'Payment complete' }).waitFor();
    expect(await page.evaluate('window.isFirst')).toBe(true);
    expect(await page.getByRole('link', { name: /Return to/ }).getAttribute('href')).toBe(
      `https://shop.example/thanks?order=1&status=paid&invoice_id=${invoice.slug}`,
    );
    await page.context().close();
    await looksRight(invoice, 'settled');
  });

  it('renews a price that has run out, under the eyes of the payer and where none looks', async () => {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
    const endsIn = (seconds: number) =>
      world.db.query(
        `UPDATE payment SET quote_expires_at = now() + make_interval(secs => $2), amount = 0.5,
           state_version = state_version + 1
          WHERE id = $1`,
        [invoice.id, seconds],
      );
    await endsIn(20);
    const page = await open(invoice);
    await page.evaluate('window.isFirst = true');
    expect(await textOf(page)).toContain('Send exactly 0.5 BTC');
    await page.getByRole('heading', { name: `Send exactly ${invoice.amount} BTC` }).waitFor();
    expect(await page.evaluate('window.isFirst')).toBe(true);
    await page.locator('#announcer', { hasText: `Send exactly ${invoice.amount} BTC` }).waitFor({ state: 'attached' });
    expect(await textOf(page)).toMatch(/This price is held for\s+1[45]:\d\d/);
    await isGood(page, 'renewed-phone');
    await page.context().close();

    await endsIn(-1);
    const plain = await open(invoice, { javaScriptEnabled: false });
    expect(await textOf(plain)).toContain('The price is no longer held');
    await plain.getByRole('button', { name: 'Get the current price' }).click();
    expect(await textOf(plain)).toContain(`Send exactly ${invoice.amount} BTC`);
    await plain.context().close();

    // Nobody is there to renew it.
    await endsIn(-1);
    await world.stack.part('payments-1').stop();
    let over: Page;
    try {
      await looksRight(invoice, 'price-over', noPriceNow);
      over = await open(invoice);
      expect(await textOf(over)).toContain('The price is no longer held');
      expect(await over.locator('.qr').count()).toBe(0);
    } finally {
      await world.stack.part('payments-1').start();
    }
    const current = over.getByRole('heading', { name: `Send exactly ${invoice.amount} BTC` });
    const button = over.getByRole('button', { name: 'Get the current price' });
    // The page asks by itself, too, every fifteen seconds.
    await button.click({ timeout: 10_000 }).catch(async () => current.waitFor());
    await current.waitFor();
    await over.context().close();
    expect(faults.filter((fault) => !noPriceNow.test(fault))).toEqual([]);
  }, 240_000);

  it('cancels after asking once more, and says what happens to late money', async () => {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
    const page = await open(invoice, { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Cancel this invoice' }).click();
    await page.getByRole('button', { name: 'Yes, cancel it' }).click();
    expect(await textOf(page)).toContain('This invoice was cancelled');
    expect(await textOf(page)).toContain('is not lost');
    await page.context().close();
    await looksRight(invoice, 'cancelled');
  });

  it('takes the address of a payer who gets money back, looked at twice, and says where the money is', async () => {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
    await world.payer.pay('ETH', invoice.address, String(invoice.amount));
    await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
    const asked = await world.call(shop, 'POST', `/api/v1/payments/${invoice.id}/refunds`, {
      type: 'partial',
      amount: '0.003',
    });
    expect(asked.status).toBe(201);
    const { _id: id, claimUrl } = asked.body.data as { _id: string; claimUrl: string };
    const link = `${world.stack.checkoutUrl}${new URL(claimUrl).pathname}`;
    await looksRight(link, 'claim');

    const address = `0x${randomBytes(20).toString('hex')}`;
    for (const [size, viewport] of Object.entries(sizes)) {
      const page = await open(link, { viewport });
      const field = page.getByLabel(/^Your ETH address/);
      await field.fill('0x12');
      await page.getByRole('button', { name: 'Continue' }).click();
      expect(await page.getByRole('alert').innerText()).toContain('cannot be used');
      expect(await field.inputValue()).toBe('0x12');
      expect(faults.splice(0).every((fault) => fault.includes('400'))).toBe(true);
      await isGood(page, `claim-refused-${size}`);
      await field.fill(address);
      await page.getByRole('button', { name: 'Continue' }).click();
      expect((await textOf(page)).toLowerCase()).toContain(address);
      await isGood(page, `claim-sure-${size}`);
      await page.getByRole('link', { name: 'No, change it' }).click();
      await field.waitFor();
      await page.context().close();
    }

    const page = await open(link);
    await page.getByLabel(/^Your ETH address/).fill(address);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Yes, send it there' }).click();
    await page.getByRole('heading', { name: 'Waiting for the merchant to approve' }).waitFor();
    await isGood(page, 'claim-asked-phone');
    await world.db.transaction((tx) => approveRefund(tx, shop.id, id, anApprover()));
    await page.getByRole('heading', { name: 'Your refund is on its way' }).waitFor({ timeout: 60_000 });
    await isGood(page, 'claim-sent-phone');
    await world.until(
      'the refund is completed',
      async () => {
        await world.payer.mine('ETH', 1);
        return (await world.call(shop, 'GET', `/api/v1/refunds/${id}`)).body.data.status === 'completed';
      },
      60_000,
    );
    // The page looks by itself.
    await page.getByRole('heading', { name: 'Your refund has arrived' }).waitFor();
    expect((await textOf(page)).toLowerCase()).toContain(address);
    await isGood(page, 'claim-done-phone');
    await page.setViewportSize(sizes.desktop);
    await isGood(page, 'claim-done-desktop');
    await page.context().close();
  }, 240_000);

  it('keeps to its own host, in text and in headers', async () => {
    const sly = await world.shop({ name: '<script>alert(1)</script>' });
    const invoice = await world.invoice(sly, { amount: 25, currency: 'BTC' });
    const page = await open(invoice);
    expect(await textOf(page)).toContain('<script>alert(1)</script>');
    await page.context().close();
    const answer = await fetch(url(invoice));
    expect(answer.headers.get('content-security-policy')).toBe(
      "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';" +
        "form-action 'self';base-uri 'none';frame-ancestors 'none'",
    );
    expect(await answer.text()).toContain('noindex');
    expect((await fetch(`${world.stack.checkoutUrl}/i/doesnotexist00000000`)).status).toBe(404);
    const forged = await fetch(`${url(invoice)}/cancel`, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
      redirect: 'manual',
    });
    expect(forged.status).toBe(403);
    const script = await (await fetch(`${world.stack.checkoutUrl}/static/checkout.js`)).text();
    expect(script.length).toBeLessThan(30_000);
    expect(faults).toEqual([]);
  });
});
