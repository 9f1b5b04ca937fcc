import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { defaultBranding, type WidgetSettings } from '../../domain/widgets/widget';
import { embedTexts } from '../../web/embed/texts';
import { invoices } from '../web/invoices';
import { violationsOf } from './axe';
import { startBrowser } from './chromium';
import { StubApi } from './stub-api';
import { withBrowser } from './with-browser';

/** The button of a shop in Chromium, before an API that says what a test tells it to: its languages, and what stands in
 *  it in each case. */

let stub: StubApi;
let browser: Browser;
let shop: Server;

const widget = {
  id: 'a'.repeat(24),
  type: 'payment',
  amountMode: 'fixed',
  fixedAmount: '25',
  suggestedAmounts: [] as string[],
  minAmount: null as string | null,
  maxAmount: null as string | null,
  donorFields: [] as WidgetSettings['donorFields'],
  requiredDonorFields: [] as WidgetSettings['donorFields'],
  displayMode: 'redirect',
  thankYouText: null,
  branding: defaultBranding,
  isActive: true,
  fiatCurrency: 'USD',
};
const donation = {
  type: 'donation',
  amountMode: 'variable',
  fixedAmount: null,
  suggestedAmounts: ['5', '10'],
  minAmount: '5',
  maxAmount: '50',
  donorFields: ['name', 'email', 'phone', 'address', 'comment'] as const,
  requiredDonorFields: ['email'] as const,
};
type Answer = Readonly<{ status?: number; body: unknown }>;
type Shown = Readonly<{
  /** Of the element, and of the page. */
  lang?: string;
  page?: string;
  browser?: string;
  widget?: object;
  isGone?: boolean;
  /** What the API answers to a click; none: it cannot be reached. */
  checkout?: Answer;
  look?: Parameters<Browser['newContext']>[0];
}>;

withBrowser('A3: the button', () => {
  beforeAll(async () => {
    stub = await StubApi.start();
    browser = await startBrowser();
    shop = createServer(({ url }, response) => {
      const asked = new URL(url ?? '', 'http://shop').searchParams;
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><html lang="${asked.get('page')}"><title>Shop</title><link rel="icon" href="data:,">` +
          '<meta name="viewport" content="width=device-width"><h1>Shop</h1>' +
          `<crypto-pay-button widget="${widget.id}" key="pk_live_x" lang="${asked.get('lang')}"></crypto-pay-button>` +
          `<script src="${stub.url}/embed.js"></script></html>`,
      );
    });
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    stub?.stop();
    shop?.close();
  });

  /** A page of a shop with one button. `asked`: the bodies that it sends. */
  async function visit(shown: Shown): Promise<{ page: Page; context: BrowserContext; asked: unknown[] }> {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      locale: shown.browser ?? 'en',
      ...shown.look,
    });
    context.setDefaultTimeout(10_000);
    const asked: unknown[] = [];
    const origin = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
    stub.embedding = { ...stub.embedding, origin, frameAncestors: ['127.0.0.1:*'] };
    const headers = { 'access-control-allow-origin': origin, 'access-control-allow-headers': '*' };
    await context.route('**/api/v1/public/widgets/**', (route) => {
      const request = route.request();
      if (shown.isGone) return route.fulfill({ headers, status: 404, json: { ok: false } });
      if (request.method() === 'GET')
        return route.fulfill({ headers, json: { ok: true, data: { ...widget, ...shown.widget } } });
      if (request.method() === 'OPTIONS') return route.fulfill({ status: 204, headers });
      asked.push(request.postDataJSON());
      if (!shown.checkout) return route.abort();
      return route.fulfill({ headers, status: shown.checkout.status ?? 201, json: shown.checkout.body });
    });
    const page = await context.newPage();
    await page.goto(
      `${origin}/?${new URLSearchParams({ lang: shown.lang ?? '', page: shown.page ?? 'nl' }).toString()}`,
    );
    return { page, context, asked };
  }
  async function isGood(page: Page, name: string): Promise<void> {
    expect([name, await violationsOf(page)]).toEqual([name, []]);
    if (!process.env.SHOTS) return;
    mkdirSync(process.env.SHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.SHOTS, `button-${name}.png`) });
  }
  /** Of the first element in the button's shadow that the selector finds. `what`: of `it`, or of its `style`. */
  const read = (page: Page, selector: string, what: string): Promise<unknown> =>
    page.evaluate(`{
      const it = document.querySelector('crypto-pay-button').shadowRoot.querySelector('${selector}');
      const style = getComputedStyle(it);
      ${what};
    }`);

  it.each<[what: string, shown: Shown, language: string]>([
    ['the lang of the element', { lang: 'pt-BR', page: 'de', browser: 'fr' }, 'pt'],
    ['the lang of its page', { page: 'de-AT', browser: 'fr' }, 'de'],
    ['the language of the browser', { browser: 'es-MX' }, 'es'],
    ['the page, where the element has a language that we do not speak', { lang: 'nl', page: 'fr' }, 'fr'],
    ['the browser, where neither has one of ours', { lang: 'constructor', page: 'nl', browser: 'ar-EG' }, 'ar'],
    ['English, where nothing else fits', { lang: 'nl', page: 'ja', browser: 'ko-KR' }, 'en'],
  ])('speaks %s', async (_, shown, language) => {
    const { page, context } = await visit(shown);
    await page.getByRole('button', { name: embedTexts[language]!.payment }).waitFor();
    expect([await read(page, 'button', 'it.lang'), await read(page, 'button', 'style.direction')]).toEqual([
      language,
      language === 'ar' ? 'rtl' : 'ltr',
    ]);
    await context.close();
  });

  it.each(Object.keys(embedTexts))('%s: asks, refuses and ends in one language', async (lang) => {
    const texts = embedTexts[lang]!;
    const { page, context, asked } = await visit({
      lang,
      widget: donation,
      checkout: { status: 400, body: { ok: false, error: { code: 'VALIDATION_ERROR', message: 'English' } } },
      look: lang === 'ar' || lang === 'de' ? { colorScheme: 'dark', viewport: { width: 1280, height: 900 } } : {},
    });
    await page.getByRole('button', { name: texts.donation }).click();
    const dialog = page.getByRole('dialog', { name: texts.donation });
    await dialog.waitFor();
    expect(await read(page, 'dialog', 'style.direction')).toBe(lang === 'ar' ? 'rtl' : 'ltr');
    for (const name of [texts.amount, texts.name, texts.email, texts.phone, texts.address, texts.comment])
      await dialog.getByLabel(name).first().waitFor();
    await isGood(page, `donation-${lang}`);
    const amount = dialog.locator('[name=amount]');
    const next = dialog.getByRole('button', { name: texts.next, exact: true });
    await dialog.locator('[name=email]').fill('ann@donor.example');
    for (const wrong of ['4.99', '51']) {
      await amount.fill(wrong);
      await next.click();
      expect(await read(page, '[name=amount]', 'it.validationMessage')).toBe('≥ 5, ≤ 50');
    }
    await dialog.getByRole('button', { name: '10 USD' }).click();
    await dialog.locator('[name=email]').fill('ann@donor');
    await next.click();
    expect(asked).toEqual([]);
    await dialog.locator('[name=email]').fill('ann@donor.example');
    await next.click();
    // What the API says is English, and is not shown.
    await dialog.getByRole('alert').filter({ hasText: texts.failed }).waitFor();
    expect(asked).toMatchObject([{ amount: '10', donor: { email: 'ann@donor.example' } }]);
    await dialog.getByRole('button', { name: texts.close, exact: true }).click();
    expect(await read(page, 'button', 'it.textContent')).toBe(texts.donation);
    await context.close();

    for (const shown of [{ widget: { isActive: false } }, { isGone: true }]) {
      const off = await visit({ lang, ...shown });
      await off.page.getByRole('button', { name: texts.off }).waitFor();
      expect(await off.page.locator('button.pay').isDisabled()).toBe(true);
      await off.context.close();
    }

    const away = await visit({ lang });
    await away.page.getByRole('button', { name: texts.payment }).click();
    await away.page.getByRole('button', { name: texts.away }).waitFor();
    expect(await away.page.locator('button.pay').isDisabled()).toBe(false);
    await away.context.close();
  });

  it.each([
    ['of the element goes along to the checkout', { lang: 'ar' }, 'rtl'],
    ['of the page does not: the checkout asks the browser', { page: 'ar' }, 'ltr'],
  ])('the language %s', async (_, shown, direction) => {
    const address = stub.show('framed', invoices.waiting);
    const invoiceId = address.split('/').pop()!;
    const data = { invoiceId, invoiceUrl: `/i/${invoiceId}`, status: 'WAITING', displayMode: 'inline' };
    const framed = { ...data, embedUrl: `${stub.url}/embed/${invoiceId}` };
    const inline = await visit({ ...shown, checkout: { body: { ok: true, data: framed } } });
    await inline.page.getByRole('button', { name: embedTexts['ar']!.payment }).click();
    const frame = inline.page.frameLocator('iframe');
    await frame.locator('h1').waitFor();
    expect(await frame.locator('html').getAttribute('dir')).toBe(direction);
    await isGood(inline.page, `frame-${direction}`);
    await inline.context.close();

    const redirected = await visit({ ...shown, checkout: { body: { ok: true, data: { ...data, embedUrl: null } } } });
    await redirected.page.getByRole('button', { name: embedTexts['ar']!.payment }).click();
    await redirected.page.waitForURL(/\/i\//);
    expect(await redirected.page.locator('html').getAttribute('dir')).toBe(direction);
    await redirected.context.close();
  });

  it.each([
    ['badge', 'bitcoin', 'sm', '#ffee00', 'rgb(0, 0, 0)'],
    ['stacked', 'ethereum', 'md', '#0a7cff', 'rgb(0, 0, 0)'],
    ['lightning', 'auto', 'lg', '#777777', 'rgb(0, 0, 0)'],
    ['multicoin', 'usdt', 'sm', '#123', 'rgb(255, 255, 255)'],
    ['coins', 'none', 'md', '#b00020', 'rgb(255, 255, 255)'],
    ['heart', 'coins', 'lg', '', 'rgb(255, 255, 255)'],
  ] as const)('layout %s, icon %s, size %s, colour %s can be read', async (layout, icon, size, accentColor, text) => {
    const fullWidth = size === 'md';
    const own = { layout, icon, size, accentColor, fullWidth, cornerRadius: 32 };
    const branding = { ...defaultBranding, ...own, buttonLabel: 'Buy tea', subLabel: 'in many coins' };
    const { page, context } = await visit({ widget: { branding } });
    const button = page.getByRole('button', { name: 'Buy tea in many coins' });
    await button.waitFor();
    expect(await read(page, 'button', 'style.color')).toBe(text);
    expect(await button.locator('svg').count()).toBe(icon === 'none' ? 0 : 1);
    const { width, height } = (await button.boundingBox())!;
    expect([width > 370, height >= 36]).toEqual([fullWidth, true]);
    await isGood(page, layout);
    await context.close();
  });
});
