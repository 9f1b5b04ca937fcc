import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Locator, Page } from 'playwright-core';
import { freeze, unfreeze } from '../../../db/limits/outbound';
import { fundTreasury } from '../../../sandbox/seed';
import { guestPages, pages } from '../pages';
import { type Dashboard, Person } from '../person';

/** A newcomer's whole path, through the pages alone: no call of the API beside them, no row written by hand. The payer
 *  and the treasury of the platform act on the chain, and its operators stop a currency. */

/** A server of the newcomer: `/hook` takes webhooks, every other path is the page with the button. */
class OwnServer {
  readonly heard: string[] = [];
  html = '';
  private readonly server: Server;
  private constructor() {
    this.server = createServer((request, response) => {
      if (request.url !== '/hook') return void response.setHeader('content-type', 'text/html').end(this.html);
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        this.heard.push((JSON.parse(body) as { type: string }).type);
        response.end('ok');
      });
    });
  }
  static async start(): Promise<OwnServer> {
    const own = new OwnServer();
    await new Promise<void>((resolve) => own.server.listen(0, '127.0.0.1', resolve));
    return own;
  }
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

export const newcomer = (opened: () => Dashboard): void =>
  describe('a newcomer', () => {
    let dashboard: Dashboard;
    let own: OwnServer;
    let ann: Person;
    const address = `0x${randomBytes(20).toString('hex')}`;
    beforeAll(async () => {
      dashboard = opened();
      own = await OwnServer.start();
      await fundTreasury(dashboard.world.db, dashboard.world.payer);
      ann = await Person.sitsDown(dashboard, 'ann');
    }, 240_000);
    afterAll(async () => {
      own?.stop();
      await dashboard.everybodyLeaves();
    });

    it('goes the whole way from registering to a widget that is paid', async () => {
      await ann.joins();
      await ann.addsPasskey();
      await makesKey(ann);
      await addsWallet(ann, 'ETH');
      await earns(ann);
      await converts(ann);
      await whitelists(ann, 'ETH', address, 'Vault');
      await withdraws(ann);
      await whitelists(ann, 'USDT_ERC20', address, 'Supplier');
      await paysOut(ann, address);
      await invites(ann);
      await listens(ann, own);
      await embeds(ann, own);
      await dashboard.world.until('the shop was told', () => own.heard.includes('payment.settled'), 120_000);
      expect((await dashboard.world.audit()).map(({ what }) => what)).toEqual([]);
    }, 600_000);
  });

async function makesKey(ann: Person): Promise<void> {
  await ann.follow('Developers');
  await ann.press('Create a key');
  const form = ann.dialog('Create a key');
  await form.getByLabel('Name').fill('Shop');
  await form.getByLabel('payments:read', { exact: true }).check();
  await form.getByRole('button', { name: 'Create a key' }).click();
  await ann.sees('This is shown this once.');
  await ann.page.getByLabel('I have kept it in a safe place.').check();
  await ann.press('Continue');
  await ann.row('Shop').waitFor();
}

async function addsWallet(ann: Person, currency: string): Promise<void> {
  await ann.follow('Money');
  await ann.follow('Wallets');
  await ann.press('Add a wallet');
  const form = ann.dialog('Add a wallet');
  await form.getByLabel('Currency').selectOption(currency);
  await form.getByRole('button', { name: 'Add a wallet' }).click();
  await ann.sees('Wallet added');
}

async function earns(ann: Person): Promise<void> {
  await ann.follow('Payments');
  await ann.press('Create a payment');
  await ann.dialog('Create a payment').getByLabel('Price').fill('900');
  await ann.dialog('Create a payment').getByLabel('Currency').selectOption('ETH');
  await ann.press('Create');
  await ann.sees('Send this link to your customer');
  const [amount] = (await ann.fact('Amount').textContent())!.split(' ');
  const deposit = (await ann.fact('Deposit address').locator('[dir=ltr]').textContent())!;
  await ann.dashboard.world.payer.pay('ETH', deposit, amount!);
  await ann.page.locator('main').getByText('Settled', { exact: true }).first().waitFor({ timeout: 120_000 });
}

async function converts(ann: Person): Promise<void> {
  await ann.follow('Money');
  await ann.follow('Convert');
  await ann.title('Convert');
  await ann.page.getByLabel('From', { exact: true }).first().selectOption('ETH');
  await ann.page.getByLabel('Into').selectOption('USDT_ERC20');
  await ann.fill('Amount', '0.05');
  await ann.press('Get a quote');
  await ann.sees(/This quote counts for \d+ seconds more/);
  await ann.press('Convert now');
  await ann.title('Conversion');
  await ann.page.locator('main').getByText('Completed').first().waitFor();
}

async function whitelists(ann: Person, currency: string, address: string, name: string): Promise<void> {
  await ann.follow('Whitelist');
  await ann.press('Add an address');
  const form = ann.dialog('Add an address');
  await form.getByLabel('Currency').selectOption(currency);
  await form.getByLabel('Address', { exact: true }).fill(address);
  await form.getByLabel('Name').fill(name);
  await form.getByRole('button', { name: 'Add an address' }).click();
  await ann.row(name).getByText('Active').waitFor();
}

async function withdraws(ann: Person): Promise<void> {
  await ann.follow('Withdrawals');
  await ann.press('Withdraw');
  const form = ann.dialog('Withdraw');
  await form.getByLabel('Currency').selectOption('ETH');
  await form.getByLabel('To', { exact: true }).selectOption({ index: 1 });
  await form.getByLabel('Amount in ETH').fill('0.02');
  await form.getByText('The address gets').waitFor();
  await form.getByRole('button', { name: 'Withdraw', exact: true }).click(); // the passkey answers by itself
  await ann.title('Withdrawal');
  await ann.page.locator('main').getByText('Completed').first().waitFor({ timeout: 120_000 });
}

/** Pays 20 rows of a file. Operators stop one of the two currencies: 8 rows are paid, the other 12 cancelled. */
async function paysOut(ann: Person, address: string): Promise<void> {
  const { world } = ann.dashboard;
  const rows = [
    ...Array.from({ length: 8 }, (_, at) => `ETH,${address},0.00${at + 1}`),
    ...Array.from({ length: 12 }, (_, at) => `USDT_ERC20,${address},${at + 1}`),
  ];
  await ann.follow('Mass payouts');
  await ann.press('New mass payout');
  await ann.title('New mass payout');
  await ann.page.getByLabel('Or choose a CSV file').setInputFiles({
    name: 'rows.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(['currency,address,amount', ...rows].join('\n')),
  });
  await ann.press('Check the rows');
  await ann.sees('20 rows checked');
  // Nothing is signed before the currency is stopped.
  await world.stack.part('signer-1').stop();
  await ann.press('Pay 20 rows');
  await ann.sees('Mass payout queued');
  await freeze(world.db, 'USDT_ERC20', 'drill');
  await world.stack.part('signer-1').start();
  const lines = (status: string): Locator => ann.page.locator('tbody tr', { hasText: status });
  const count = (status: string, expected: number): Promise<void> =>
    world.until(`${expected} rows: ${status}`, async () => (await lines(status).count()) === expected, 120_000);
  await count('Paid', 8);
  await count('sending this currency is paused', 12);
  await ann.sees('8 of 20 paid');
  await ann.press('Cancel the rest');
  await ann.dialog('Cancel the rest').getByRole('button', { name: 'Cancel the rest' }).click();
  await ann.sees('The rest is cancelled');
  await ann.dialog('Cancel the rest').waitFor({ state: 'detached' });
  await ann.sees('8 of 20 paid, 12 cancelled');
  await Promise.all([count('Paid', 8), count('Cancelled', 12)]);
  expect(await ann.page.getByRole('button', { name: 'Cancel the rest' }).count()).toBe(0);
  await unfreeze(world.db, 'USDT_ERC20');
}

async function invites(ann: Person): Promise<void> {
  const bob = await Person.sitsDown(ann.dashboard, 'bob');
  const since = Date.now();
  await ann.follow('Team');
  await ann.press('Invite a member');
  const form = ann.dialog('Invite a member');
  await form.getByLabel('E-mail address').fill(bob.email);
  await form.getByLabel('Payments', { exact: true }).selectOption('See payments and refunds');
  await form.getByLabel('API keys').selectOption('See, and also create and revoke them');
  await form.getByRole('button', { name: 'Send the invitation' }).click();
  await ann.sees('Invitation on its way');
  await bob.acceptsInvitation(since);
  await seesHisOwn(bob);
  await seesWhy(bob);
}

const itsOwn = ['/', '/payments', '/payments/refunds', '/developers/keys', '/developers/requests', '/account'];

/** The pages of who may see payments and manage keys: the others are not offered, and say why where they are opened. */
async function seesHisOwn(bob: Person): Promise<void> {
  const offered = async (name: string): Promise<string[]> => {
    const found = bob.page.getByRole('navigation', { name, exact: true }).getByRole('link');
    const paths = await Promise.all((await found.all()).map((link) => link.getAttribute('href')));
    return paths.map((path) => path!.replace(/^\/dashboard\/?/, '/'));
  };
  expect(await offered('Pages')).toEqual(['/', '/payments', '/developers', '/account']);
  await bob.follow('Payments');
  await bob.title('Payments');
  const tabs = await offered('Pages on payments');
  await bob.follow('Developers');
  await bob.title('Developers');
  expect([...tabs, ...(await offered('Pages for developers'))]).toEqual(
    itsOwn.filter((path) => path.split('/').length > 2 || path === '/payments'),
  );
  const refusal =
    /You need the permission|not have the permission|no permission for these|for operators of the platform/;
  const main = bob.page.locator('main');
  const notice = main.locator('[class*=notice]').filter({ hasText: refusal });
  for (const path of itsOwn) {
    await bob.goTo(path);
    await main.getByRole('heading', { level: 1 }).waitFor();
    await bob.rests();
    expect([path, await notice.count()]).toEqual([path, 0]);
  }
  // Two lead on to the first page that he may see.
  const foreign = pages.filter(
    (path) => !/\$|^\/operators\//.test(path) && ![...guestPages, ...itsOwn, '/money', '/developers'].includes(path),
  );
  for (const path of foreign) {
    await bob.goTo(path);
    await notice.first().waitFor();
  }
}

/** What the same person may not do on pages that he may see. */
async function seesWhy(bob: Person): Promise<void> {
  await bob.opens('/payments', 'Payments');
  await bob.row('Settled').waitFor();
  const create = bob.page.getByRole('button', { name: 'Create a payment' });
  expect(await create.getAttribute('aria-disabled')).toBe('true');
  expect(await bob.reasonOf('Create a payment')).toMatch(/^You need the permission payments:manage/);
  await create.click({ force: true });
  expect(await bob.page.getByRole('dialog').count()).toBe(0);
  await bob.row('Settled').getByRole('link').first().click();
  expect(await bob.reasonOf('Refund')).toMatch(/^You need the permission payments:manage/);
  await bob.opens('/developers/keys', 'Developers');
  expect(await bob.reasonOf('Create a key')).toBeNull();
}

async function listens(ann: Person, own: OwnServer): Promise<void> {
  await ann.follow('Developers');
  await ann.follow('Webhooks');
  await ann.press('Add an endpoint');
  const form = ann.dialog('Add an endpoint');
  await form.getByLabel('Address').fill(`${own.url}/hook`);
  await form.getByRole('button', { name: 'Add an endpoint' }).click();
  await ann.sees('This is shown this once.');
  await ann.page.getByLabel('I have kept it in a safe place.').check();
  await ann.press('Continue');
  await ann.page.getByRole('link', { name: /^http:/ }).click();
  await ann.press('Send a test event');
  await ann.press('Send');
  await ann.dashboard.world.until('the test event', () => own.heard.length === 1);
  await ann.page.getByRole('button', { name: /^Delivery \w+ of webhook.test$/ }).click();
  const delivery = ann.dialog('webhook.test');
  await delivery.getByText('Delivered').waitFor();
  await delivery.getByRole('button', { name: 'Send it again now' }).click();
  await ann.dashboard.world.until('the test event again', () => own.heard.length === 2);
  expect(own.heard).toEqual(['webhook.test', 'webhook.test']);
  await delivery.getByRole('button', { name: 'Back' }).click();
}

/** Puts the snippet of a new widget into a page of another host, where a stranger pays. */
async function embeds(ann: Person, own: OwnServer): Promise<void> {
  await ann.follow('Widgets');
  await ann.press('Create a widget');
  await ann.page.getByLabel('Name', { exact: true }).first().fill('Book');
  await ann.page.getByLabel('Price in USD').fill('12.50');
  await ann.page.getByLabel('Your pages').fill(own.url);
  await ann.page.getByRole('button', { name: 'Create a widget' }).click();
  await ann.sees('Put this into your page where the button belongs.');
  const snippet = (await ann.page.getByText('<crypto-pay-button widget=').textContent())!;
  own.html = `<!doctype html><html lang="en"><title>Books</title><h1>Books</h1>${snippet}</html>`;
  const context = await ann.dashboard.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(own.url);
  await page.getByRole('button', { name: 'Pay with crypto' }).click();
  await paysAsStranger(page, ann);
  await ann.follow('Payments');
  await ann.row('12.50').getByText('Settled').waitFor({ timeout: 60_000 });
}

async function paysAsStranger(page: Page, ann: Person): Promise<void> {
  await page.waitForURL(/\/i\/[2-9a-z]{20}$/);
  await page.getByRole('button', { name: /^Ether .* on Ethereum/ }).click();
  const asked = await page.getByRole('heading', { name: /^Send exactly/ }).textContent();
  const [, amount] = /Send exactly ([\d.]+)/.exec(asked!) ?? [];
  const deposit = await page
    .getByText(/^0x[0-9a-fA-F]{40}$/)
    .first()
    .textContent();
  await ann.dashboard.world.payer.pay('ETH', deposit!.trim(), amount!);
  await page.getByRole('heading', { name: 'Payment complete' }).waitFor({ timeout: 120_000 });
  await page.context().close();
}
