import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, FrameLocator, Page } from 'playwright-core';
import { createWidget, settingsOf } from '../../commands/widgets/settings';
import { findMerchant, publishableKeyOf } from '../../db/access/merchants';
import { deleteWidgetRow, updateWidget } from '../../db/widgets/widgets';
import { defaultBranding, defaultSettings, type WidgetSettings } from '../../domain/widgets/widget';
import { startShop } from '../../sandbox/parts/shop';
import { samples } from '../samples/runner';
import { freePort } from '../../sandbox/ports';
import type { Part } from '../../sandbox/parts/part';
import { World, type Shop } from '../world';
import { violationsOf } from './axe';
import { startBrowser } from './chromium';
import { withBrowser } from './with-browser';

/** Widgets as payers meet them: on a shop's page of another port, under a strict policy, paid on the real chain. */

let world: World;
let shop: Shop;
let site: Part;
let browser: Browser;
const faults: string[] = [];

const base: WidgetSettings = {
  ...defaultSettings,
  type: 'payment',
  name: 'Button',
  amountMode: 'fixed',
  fixedAmount: '25',
  allowedOrigins: ['127.0.0.1'],
};

withBrowser('A3: widgets in a shop', () => {
  beforeAll(async () => {
    world = await World.start({ services: { checkout: 1 } });
    shop = await world.shop();
    const { apiUrl, checkoutUrl } = world.stack;
    const publishableKey = await publishableKeyOf(world.db, shop.id);
    site = await startShop({ port: await freePort(), apiUrl, checkoutUrl, publishableKey, widgets: [] });
    browser = await startBrowser();
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await world?.stop();
  }, 60_000);
  beforeEach(async () => {
    faults.length = 0;
    await world.db.query('DELETE FROM rate_limit');
  });

  const make = async (over: Partial<WidgetSettings> = {}) => {
    const merchant = (await findMerchant(world.db, shop.id))!;
    const rules = { allowInsecureCallbacks: true, byLightning: false };
    return createWidget(world.db, merchant, { ...base, ...over }, rules);
  };
  async function visit(path: string, host = '127.0.0.1'): Promise<Page> {
    const context: BrowserContext = await browser.newContext({ viewport: { width: 390, height: 844 } });
    context.setDefaultTimeout(30_000);
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(`${site.url.replace('127.0.0.1', host)}${path}`);
    return page;
  }
  const checkouts = async (widgetId: string) =>
    world.db.query<
      Array<{ id: string; slug: string; status: string; fiat_amount: string; donor: object | null; origin: string }>
    >(
      `SELECT p.id, slug, status, trim_scale(fiat_amount)::text AS fiat_amount, d.donor, widget_origin AS origin
         FROM payment p LEFT JOIN payment_donor d ON d.payment_id = p.id WHERE widget_id = $1 ORDER BY created_at`,
      [widgetId],
    );
  const log = (page: Page, text: string) => page.locator('#log', { hasText: text }).waitFor();
  async function isAccessible(page: Page, name: string): Promise<void> {
    expect([name, await violationsOf(page)]).toEqual([name, []]);
    if (!process.env.SHOTS) return;
    mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.SHOTS, `widget-${name}.png`) });
  }
  /** Pays what the frame asks for, in ether, until it says so. */
  async function payIn(frame: FrameLocator | Page, slug: string): Promise<void> {
    await frame.getByRole('button', { name: /^Ether .* on Ethereum/ }).click();
    await frame.getByRole('heading', { name: /^Send exactly/ }).waitFor();
    const [row] = await world.db.query<Array<{ id: string; address: string; amount: string }>>(
      'SELECT id, deposit_address AS address, trim_scale(amount)::text AS amount FROM payment WHERE slug = $1',
      [slug],
    );
    await world.payer.pay('ETH', row!.address, row!.amount);
    await world.sees(shop, row!.id, 'SETTLED', { mine: 'ETH' });
  }

  it('A7: redirect leads to the checkout', async () => {
    const widget = await make({ branding: { ...defaultBranding, buttonLabel: 'Buy now', accentColor: '#ffee00' } });
    const page = await visit(`/w/${widget.id}`);
    const button = page.getByRole('button', { name: 'Buy now' });
    await button.waitFor();
    const color =
      'getComputedStyle(document.querySelector("crypto-pay-button").shadowRoot.querySelector("button")).color';
    expect(await page.evaluate(color)).toBe('rgb(0, 0, 0)');
    await isAccessible(page, 'button');
    await button.click();
    await page.waitForURL(/\/i\/[2-9a-z]{20}$/);
    await page.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    expect((await checkouts(widget.id)).map(({ fiat_amount }) => fiat_amount)).toEqual(['25']);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it.each(['redirect', 'inline'] as const)('A7: a double click opens one checkout: %s', async (displayMode) => {
    const widget = await make({ displayMode });
    const page = await visit(`/w/${widget.id}`);
    await page.getByRole('button', { name: 'Pay with crypto' }).dblclick();
    const place = displayMode === 'inline' ? page.frameLocator('iframe') : page;
    await place.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    expect(await page.locator('iframe').count()).toBe(displayMode === 'inline' ? 1 : 0);
    expect(await checkouts(widget.id)).toHaveLength(1);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('A7: after the back button the same checkout is found', async () => {
    const widget = await make();
    const page = await visit(`/w/${widget.id}`);
    const addresses: string[] = [];
    for (const isBack of [false, true]) {
      if (isBack) await page.goBack();
      await page.getByRole('button', { name: 'Pay with crypto' }).click();
      await page.waitForURL(/\/i\/[2-9a-z]{20}$/);
      addresses.push(page.url());
    }
    expect(new Set(addresses).size).toBe(1);
    expect(await checkouts(widget.id)).toHaveLength(1);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('A7: two tabs have a checkout each; the one that is paid says thanks, the other goes on', async () => {
    const widget = await make({ thankYouText: 'Thank you\nfor the tea' });
    const first = await visit(`/w/${widget.id}`);
    const second = await first.context().newPage();
    await second.goto(first.url());
    for (const page of [first, second]) {
      await page.getByRole('button', { name: 'Pay with crypto' }).click();
      await page.waitForURL(/\/i\/[2-9a-z]{20}$/);
    }
    const slugs = [first, second].map((page) => new URL(page.url()).pathname.slice(3));
    expect((await checkouts(widget.id)).map(({ slug }) => slug).sort()).toEqual([...slugs].sort());
    await payIn(first, slugs[0]!);
    await first.getByRole('heading', { name: 'Payment complete' }).waitFor();
    expect(await first.locator('.thanks').innerText()).toBe('Thank you\nfor the tea');
    await isAccessible(first, 'thanks');
    await second.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    expect(await second.locator('.thanks').count()).toBe(0);
    // What is paid in one tab is paid in every tab that shows it.
    await second.goto(first.url());
    await second.locator('.thanks').waitFor();
    expect((await checkouts(widget.id)).map(({ status }) => status).sort()).toEqual(['AWAITING_CURRENCY', 'SETTLED']);
    expect(faults).toEqual([]);
    await first.context().close();
  }, 180_000);

  it('the script alone makes a button too', async () => {
    const widget = await make();
    const page = await visit(`/s/${widget.id}`);
    await page.getByRole('button', { name: 'Pay with crypto' }).click();
    await page.waitForURL(/\/i\/[2-9a-z]{20}$/);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  it('A7: inline is paid to the end in a frame of the shop’s page, which the sample is told', async () => {
    const widget = await make({
      displayMode: 'inline',
      successUrl: `${site.url}/thanks`,
      thankYouText: 'See you soon!',
    });
    const page = await visit(`/w/${widget.id}`);
    const followed: string[] = [];
    page.on('console', (message) => followed.push(message.text()));
    await page.evaluate(readFileSync(join(samples, 'widget/follow.js'), 'utf8'));
    await page.getByRole('button', { name: 'Pay with crypto' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    await log(page, 'open AWAITING_CURRENCY');
    const [checkout] = await checkouts(widget.id);
    expect(checkout!.origin).toBe(site.url);
    await isAccessible(page, 'inline');
    await payIn(frame, checkout!.slug);
    await frame.getByRole('heading', { name: 'Payment complete' }).waitFor();
    await log(page, 'paid SETTLED');
    expect(followed).toContain(`${widget.id} ${checkout!.slug} SETTLED paid`);
    await page.getByText('See you soon!').waitFor();
    await frame.getByRole('link', { name: /Return to/ }).click();
    await page.waitForURL(/\/thanks\?/);
    expect(new URL(page.url()).search).toBe(
      `?status=paid&invoice_id=${checkout!.slug}&source=widget&widget_id=${widget.id}&widget_type=payment`,
    );
    expect(faults).toEqual([]);
    await page.context().close();
  }, 180_000);

  it('inline: the modal keeps the focus, and Escape and the button close it', async () => {
    const widget = await make({ displayMode: 'inline' });
    const page = await visit(`/w/${widget.id}`);
    const button = page.getByRole('button', { name: 'Pay with crypto' });
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Close' }).click(),
      // Escape inside of the frame, too.
      async () => {
        await page.frameLocator('iframe').locator('button.choice').first().focus();
        await page.keyboard.press('Escape');
      },
    ]) {
      await button.click();
      await page.frameLocator('iframe').getByRole('heading', { name: 'Choose how to pay' }).waitFor();
      expect(await page.evaluate('document.querySelector("h1").matches(":focus-within")')).toBe(false);
      await close();
      await page.locator('dialog').waitFor({ state: 'detached' });
      const focused = await page.evaluate('document.activeElement.localName');
      expect(focused).toBe('crypto-pay-button');
    }
    expect(await checkouts(widget.id)).toHaveLength(1);
    expect(await page.locator('#log').innerText()).toContain('closed');
    await page.context().close();
  });

  it('inline: messages of strangers change nothing', async () => {
    const widget = await make({ displayMode: 'inline' });
    const page = await visit(`/w/${widget.id}`);
    await page.getByRole('button', { name: 'Pay with crypto' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    const { checkoutUrl } = world.stack;
    // Of the page itself, with the right words; and an event that lies about its origin.
    await page.evaluate(`{
      const data = { source: 'svc-widget', type: 'status', status: 'SETTLED' };
      window.postMessage(data, '*');
      window.postMessage({ source: 'svc-widget', type: 'close' }, '*');
      window.dispatchEvent(new MessageEvent('message', { data, origin: '${checkoutUrl}', source: window }));
    }`);
    await page.waitForTimeout(500);
    expect(await page.locator('#log').innerText()).not.toContain('SETTLED');
    expect(await page.locator('dialog[open]').count()).toBe(1);
    await page.context().close();
  });

  it('inline: only pages of the widget frame its invoices, and no other page of the checkout is framed', async () => {
    const widget = await make({ displayMode: 'inline', allowedOrigins: ['shop.example', '127.0.0.1'] });
    const page = await visit(`/w/${widget.id}`);
    await page.getByRole('button', { name: 'Pay with crypto' }).click();
    await page.frameLocator('iframe').getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    const [{ slug } = { slug: '' }] = await checkouts(widget.id);
    const policyOf = async (path: string) => {
      const answer = await fetch(`${world.stack.checkoutUrl}${path}`);
      const [, sources] = /frame-ancestors ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '') ?? [];
      return [answer.status, sources, answer.headers.get('x-frame-options') === null];
    };
    expect(await policyOf(`/embed/${slug}`)).toEqual([200, 'shop.example:* *.shop.example:* 127.0.0.1:*', true]);
    expect((await policyOf(`/i/${slug}`)).slice(0, 2)).toEqual([200, "'none'"]);
    const plain = await world.invoice(shop, { amount: 25 });
    expect((await policyOf(`/embed/${plain.slug}`)).slice(0, 2)).toEqual([404, "'none'"]);
    await page.context().close();
  });

  it('A4: a donation asks for an amount and the donor, within its limits, and says thanks', async () => {
    const widget = await make({
      type: 'donation',
      amountMode: 'variable',
      fixedAmount: null,
      suggestedAmounts: ['5', '10'],
      minAmount: '5',
      maxAmount: '50',
      donorFields: ['name', 'email', 'comment'],
      requiredDonorFields: ['email'],
      displayMode: 'inline',
      thankYouText: 'Thank you\nso much',
      branding: { ...defaultBranding, layout: 'heart' },
    });
    const page = await visit(`/w/${widget.id}`);
    await page.getByRole('button', { name: 'Donate crypto' }).click();
    const next = page.getByRole('button', { name: 'Continue' });
    const amount = page.getByLabel(/^Amount/);
    expect(await amount.inputValue()).toBe('5');
    await page.getByRole('button', { name: '10 USD' }).click();
    expect(await amount.inputValue()).toBe('10');
    await isAccessible(page, 'donation');
    await next.click(); // the e-mail address is missing: nothing is sent
    expect(await checkouts(widget.id)).toHaveLength(0);
    await page.getByLabel(/^E-mail/).fill('ann@donor.example');
    await page.getByLabel(/^Name/).fill('<b>Ann</b>');
    await amount.fill('51');
    await next.click();
    const validity = `document.querySelector('crypto-pay-button').shadowRoot.querySelector('[name=amount]')`;
    expect(await page.evaluate(`${validity}.validationMessage`)).toBe('≥ 5, ≤ 50');
    expect(await checkouts(widget.id)).toHaveLength(0);
    await amount.fill('12.5');
    await next.click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    const [checkout] = await checkouts(widget.id);
    expect([checkout!.fiat_amount, checkout!.donor]).toEqual([
      '12.5',
      { name: '<b>Ann</b>', email: 'ann@donor.example' },
    ]);
    await payIn(frame, checkout!.slug);
    await log(page, 'paid');
    expect(await page.locator('dialog p').innerText()).toBe('Thank you\nso much');
    await frame.getByRole('heading', { name: 'Receipt' }).waitFor();
    const file = frame.getByRole('link', { name: 'Receipt as PDF' });
    const receipt = await fetch(new URL((await file.getAttribute('href'))!, world.stack.checkoutUrl));
    expect([receipt.status, receipt.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    // Another gift is another checkout.
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Donate crypto' }).click();
    await page.getByLabel(/^E-mail/).fill('ann@donor.example');
    await next.click();
    await frame.getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    expect((await checkouts(widget.id)).map(({ fiat_amount }) => fiat_amount)).toEqual(['12.5', '5']);
    expect(faults).toEqual([]);
    await page.context().close();
  }, 180_000);

  it('A7: a page of another host opens nothing', async () => {
    const widget = await make();
    const elsewhere = await visit(`/w/${widget.id}`, 'localhost');
    await elsewhere.getByRole('button', { name: 'No connection' }).click();
    await elsewhere.getByRole('button', { name: 'No connection' }).waitFor();
    expect(await checkouts(widget.id)).toHaveLength(0);
    await elsewhere.context().close();
  });

  it('A7: a widget that is off or gone says so, also where it is switched off while its page is open', async () => {
    const off = await make({ isActive: false });
    const page = await visit(`/w/${off.id}`);
    const none = page.getByRole('button', { name: 'Not available at present' });
    await none.waitFor();
    expect(await none.isDisabled()).toBe(true);
    await page.context().close();

    const gone = await make({ allowedOrigins: ['127.0.0.1'] });
    await deleteWidgetRow(world.db, shop.id, gone.id);
    const deleted = await visit(`/w/${gone.id}`);
    await deleted.getByRole('button', { name: 'Not available at present' }).waitFor();
    await deleted.context().close();

    const widget = await make();
    const late = await visit(`/w/${widget.id}`);
    // Before that it has the words, and waits for the widget.
    await late.getByRole('button', { name: 'Pay with crypto', disabled: false }).waitFor();
    await updateWidget(world.db, widget.id, { ...settingsOf(widget), isActive: false });
    await late.getByRole('button', { name: 'Pay with crypto' }).click();
    await late.getByRole('button', { name: 'Not available at present' }).waitFor();
    expect(await checkouts(widget.id)).toHaveLength(0);
    await late.context().close();
  });

  it('A7: without a network the button says so, and works once there is one', async () => {
    const widget = await make();
    const page = await visit(`/w/${widget.id}`);
    await page.getByRole('button', { name: 'Pay with crypto', disabled: false }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Pay with crypto' }).click();
    await page.getByRole('button', { name: 'No connection' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'No connection' }).click();
    await page.waitForURL(/\/i\/[2-9a-z]{20}$/);
    expect(await checkouts(widget.id)).toHaveLength(1);
    await page.context().close();
  });

  it('A3: clickjacking: no page frames the hosted checkout, and a stranger not even the frame', async () => {
    const widget = await make({ displayMode: 'inline' });
    const page = await visit(`/w/${widget.id}`);
    await page.getByRole('button', { name: 'Pay with crypto' }).click();
    await page.frameLocator('iframe').getByRole('heading', { name: 'Choose how to pay' }).waitFor();
    const [{ slug } = { slug: '' }] = await checkouts(widget.id);
    const isFramed = async (host: string, path: string): Promise<boolean> => {
      const shopPage = await visit('/', host);
      await shopPage.evaluate(`{
        const frame = document.createElement('iframe');
        frame.src = '${world.stack.checkoutUrl}${path}';
        window.loaded = new Promise((resolve) => (frame.onload = resolve));
        document.body.append(frame);
        window.loaded;
      }`);
      const found = await shopPage.frameLocator('iframe').locator('main#invoice').count();
      await shopPage.context().close();
      return found > 0;
    };
    expect([
      await isFramed('127.0.0.1', `/embed/${slug}`),
      await isFramed('localhost', `/embed/${slug}`),
      await isFramed('127.0.0.1', `/i/${slug}`),
    ]).toEqual([true, false, false]);
    await page.context().close();
  });
});
