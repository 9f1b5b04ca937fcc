import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openIncident } from '../../db/incidents';
import { startShop } from '../../sandbox/parts/shop';
import { freePort } from '../../sandbox/ports';
import type { Part } from '../../sandbox/parts/part';
import { anOperator } from './dashboard/kit';
import { englishOn } from './hostile/english';
import { freeTexts, webAddresses } from './hostile/fields';
import { Planting } from './hostile/planting';
import { hostileAddresses, hostileAnswer } from './hostile/texts';
import { throughDialogs } from './hostile/through-dialogs';
import { look, lookAround } from './hostile/tour';
import { pages } from './pages';
import { aDashboard, type Dashboard, Person } from './person';
import { withBrowser } from './with-browser';

/** Texts of merchants, payers and donors that are markup, script, templates or worse, on every page that there is. */

let dashboard: Dashboard;
let ann: Person;
let olga: Person;
let planted: Planting;
let site: Part;
let invitation: string;
/** What a text of theirs has done. */
const hits: string[] = [];

/** They write what another field of the table has written, or nothing. */
const repeats = new Set([
  ...['reason', 'reference'].map((name) => `previewRefund ${name}`),
  ...['name', 'thankYouText', 'branding.buttonLabel', 'branding.subLabel'].map((name) => `changeWidget ${name}`),
  ...['changeWebhookEndpoint description', 'changeMe displayName', 'changeApiKey name'],
]);

/** What the page of each payment shows. */
const ofPayment = ['merchantOrderId', 'customerId', 'extraId'].map((name) => `createPayment ${name}`);

const ofDonor = ['name', 'phone', 'address', 'comment'].map((name) => `openWidgetCheckout donor.${name}`);

/** Which fields a page has to show, as they were written: what a page has of only some is looked at elsewhere. */
const shown: Readonly<Record<string, readonly string[]>> = {
  '/payments': ['createPayment merchantOrderId'],
  '/payments/refunds': ['createRefund reason', 'createRefund reference'],
  '/money/withdrawals/$withdrawalId': ['createWithdrawal note'],
  '/money/payouts': ['queuePayouts label'],
  '/money/payouts/$payoutId': ['queuePayouts label'],
  '/money/whitelist': ['whitelistWallet label', 'whitelistIp label'],
  '/developers/keys': ['createApiKey name'],
  '/developers/webhooks': ['createWebhookEndpoint description'],
  '/team/members': ['register displayName', 'createInvitation displayName', 'acceptInvitation displayName'],
  '/widgets': ['createWidget name'],
  '/account': ['passkeyRegister name', 'register displayName'],
  '/operators/merchants': ['register merchantName'],
  '/operators/merchants/$merchantId': ['register merchantName'],
};

/** Some of the dialogs that open by one button, so that none of the walks passes by having opened nothing. */
const germanTitles = {
  merchant: ['Auszahlen', 'Adresse hinzufügen', 'Schlüssel erstellen', 'Endpunkt hinzufügen', 'Überall abmelden'],
  operator: ['Sperren', 'Einladungscode erstellen', 'Ein Paar einstellen', 'Antrag stellen'],
} as const;

withBrowser('6: hostile texts', () => {
  const opened = aDashboard({ miner: true, services: { checkout: 1 } });
  beforeAll(async () => {
    dashboard = opened();
    ann = await Person.sitsDown(dashboard, 'ann', { viewport: { width: 320, height: 800 } });
    planted = new Planting(dashboard, ann);
    await ann.joins({ shop: planted.text('register merchantName', 3), name: planted.text('register displayName') });
    await ann.openShop();
    await ann.earns('ETH', 400);
    await planted.everything();
    invitation = await planted.team();
    olga = await anOperator(dashboard, 'olga');
    await olga.page.setViewportSize({ width: 390, height: 844 });
    for (const { page } of [ann, olga]) {
      await page.exposeFunction('hit', () => hits.push(page.url()));
      page.on('dialog', (dialog) => {
        hits.push(dialog.message());
        void dialog.dismiss();
      });
    }
    const { apiUrl, checkoutUrl } = dashboard.world.stack;
    const { publishableKey } = await ann.asks('GET', '/api/v1/api-keys/publishable');
    site = await startShop({ port: await freePort(), apiUrl, checkoutUrl, publishableKey, widgets: [] });
  }, 300_000);
  afterAll(() => site?.stop());

  const addressOf = (path: string): string =>
    dashboard.url + path.replace('$currency', 'ETH').replace(/\$(\w+)/g, (_, name: string) => planted.ids[name]!);
  /** What a page should show and does not. The page of one thing shows the one that was made last. */
  const missing = (page: string, text: string, fields: readonly string[]): string[] =>
    fields
      .flatMap((field) => planted.texts.get(field)!.slice(page.includes('$') ? -1 : 0))
      .filter((one) => !text.includes(one))
      .map((one) => `${page}: ${one}`);
  /** The English words on these pages and in their dialogs, and the titles of the dialogs. */
  const inGerman = async (who: Person, paths: readonly string[]): Promise<{ english: string[]; titles: string[] }> => {
    await who.asks('PATCH', '/api/v1/auth/me', { language: 'de' });
    await who.goTo('/account');
    await who.title('Konto');
    const [english, titles] = [new Set<string>(), new Set<string>()];
    for (const path of paths) {
      await look(who, addressOf(path));
      expect([path, await who.page.evaluate('document.documentElement.lang')]).toEqual([path, 'de']);
      const note = async (): Promise<void> => {
        for (const text of await englishOn(who)) english.add(`${path}: ${text}`);
      };
      await note();
      for (const title of await throughDialogs(who, who.page.url(), note)) titles.add(title);
    }
    return { english: [...english], titles: [...titles] };
  };

  it('are in every field that takes one', () => {
    expect(freeTexts.filter((field) => !planted.texts.has(field) && !repeats.has(field))).toEqual([]);
  });

  it.each(webAddresses)('that are no address of the web are refused: %s', async (field) => {
    await dashboard.forgetLimits();
    for (const address of hostileAddresses)
      expect([address, await planted.answerTo(field, address)]).toEqual([address, 400]);
  });

  it('stay texts on every page of a merchant', async () => {
    const lost: string[] = [];
    for (const path of pages.filter((one) => !one.startsWith('/operators'))) {
      const text = await look(ann, addressOf(path));
      lost.push(...missing(path, text, shown[path] ?? []));
    }
    for (const [round, id] of planted.payments.entries()) {
      const text = await look(ann, addressOf(`/payments/${id}`));
      const own = ofPayment.flatMap((field) => planted.texts.get(field)![round] ?? []);
      lost.push(...own.filter((one) => !text.includes(one)).map((one) => `payment ${round}: ${one}`));
    }
    for (const [round, id] of planted.donations.entries()) {
      const text = await look(ann, addressOf(`/payments/${id}`));
      const own = ofDonor.map((field) => planted.texts.get(field)![round]!);
      lost.push(...own.filter((one) => !text.includes(one)).map((one) => `donation ${round}: ${one}`));
    }
    expect(lost).toEqual([]);
  }, 120_000);

  it('stay texts where the receiver of a webhook answers them', async () => {
    const receiver = createServer((request, response) => {
      request.resume();
      response.setHeader('content-type', 'text/html').end(hostileAnswer);
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const { id } = await ann.asks('POST', '/api/v1/webhook-endpoints', { url, enabledEvents: ['payment.settled'] });
      await ann.asks('POST', `/api/v1/webhook-endpoints/${id}/test`, {});
      await dashboard.world.until('the receiver has answered', async () => {
        const { items } = await ann.asks('GET', `/api/v1/webhook-deliveries?endpointId=${id}`);
        return items[0]?.attempts.length > 0;
      });
      await look(ann, addressOf(`/developers/webhooks/${id}`));
      await ann.page.getByRole('button', { name: /^Delivery \w+ of webhook.test$/ }).click();
      const text = await lookAround(ann);
      expect(hostileAnswer.split('\n').filter((one) => !text.includes(one))).toEqual([]);
    } finally {
      receiver.close();
    }
  }, 180_000);

  it('stay a picture where a logo has them', async () => {
    const { logoUrl } = await ann.asks('GET', '/api/v1/settings/branding');
    const url = `${new URL(dashboard.url).origin}${logoUrl}`;
    const answer = await ann.context.request.get(url);
    expect(answer.headers()['content-security-policy']).toBe("default-src 'none'; sandbox");
    const drawing = await answer.text();
    expect(drawing).toMatch(/<rect/);
    expect(drawing).not.toMatch(/hit|script|evil|foreignObject|<a\b|onload|animate/i);
    for (const page of [addressOf('/settings'), dashboard.world.stack.checkoutUrl + planted.links[0]!]) {
      await look(ann, page);
      const drawn = ann.page.locator(`img[src*="${logoUrl}"]`);
      expect(await drawn.evaluate((one) => (one as unknown as { naturalWidth: number }).naturalWidth)).toBeGreaterThan(
        0,
      );
    }
  }, 60_000);

  it('stay texts on every page of an operator', async () => {
    const { merchantId } = await ann.asks('GET', '/api/v1/auth/me');
    planted.ids['merchantId'] = merchantId;
    await openIncident(dashboard.world.db, {
      kind: 'sweep-overdue',
      subject: { kind: 'payment', id: planted.payments[0]! },
      details: { why: planted.texts.get('createPayment description')![0]! },
    });
    const [incident] = await dashboard.world.db.query<Array<{ id: string }>>(
      `SELECT id FROM incident WHERE kind = 'sweep-overdue'`,
    );
    planted.ids['incidentId'] = incident!.id;
    const lost: string[] = [];
    for (const path of pages.filter((one) => one.startsWith('/operators'))) {
      const text = await look(olga, addressOf(path));
      lost.push(...missing(path, text, shown[path] ?? []));
    }
    for (const order of planted.texts.get('createPayment merchantOrderId')!) {
      const text = await look(olga, addressOf(`/operators/find?q=${encodeURIComponent(order)}`));
      if (!text.includes(order)) lost.push(order);
    }
    expect(lost).toEqual([]);
  }, 120_000);

  it('stay texts for payers, donors and who is invited', async () => {
    const lost: string[] = [];
    let all = '';
    for (const link of planted.links) {
      const text = await look(ann, dashboard.world.stack.checkoutUrl + link);
      lost.push(...missing(link, text, ['register merchantName']));
      all += text;
    }
    // Of every other payment nothing is open: it is cancelled.
    const described = planted.texts.get('createPayment description')!.filter((_, round) => round % 2);
    lost.push(...described.filter((one) => !all.includes(one)));
    lost.push(...missing('the invitation', await look(ann, invitation), ['register merchantName']));
    expect(lost).toEqual([]);
    const labels = ['createWidget branding.buttonLabel', 'createWidget branding.subLabel'];
    // A shop's page has its button once the script of the button has asked for it.
    await dashboard.world.until('the button of a shop has its words', async () => {
      const button = await look(ann, `${site.url}/w/${planted.ids['widgetId']}`);
      return labels.every((field) => button.includes(planted.texts.get(field)!.at(-1)!));
    });
  }, 120_000);

  it('stand among German alone where a merchant reads German', async () => {
    const { english, titles } = await inGerman(
      ann,
      pages.filter((one) => !one.startsWith('/operators')),
    );
    expect(english).toEqual([]);
    expect(titles).toEqual(expect.arrayContaining(germanTitles.merchant));
  }, 240_000);

  it('stand among German alone where an operator reads German', async () => {
    const { english, titles } = await inGerman(
      olga,
      pages.filter((one) => one.startsWith('/operators/')),
    );
    expect(english).toEqual([]);
    expect(titles).toEqual(expect.arrayContaining(germanTitles.operator));
  }, 240_000);

  it('have run nothing', () => {
    expect(hits).toEqual([]);
  });
});
