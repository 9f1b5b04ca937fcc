import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { fundTreasury } from '../../../sandbox/seed';
import { type Dashboard, Person } from '../person';

/** A newcomer's whole path, through the pages alone: no call of the API beside them, no row written by hand. The payer
 *  and the treasury of the platform act on the chain. */

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
      await whitelists(ann, address);
      await withdraws(ann);
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

async function whitelists(ann: Person, address: string): Promise<void> {
  await ann.follow('Whitelist');
  await ann.press('Add an address');
  const form = ann.dialog('Add an address');
  await form.getByLabel('Currency').selectOption('ETH');
  await form.getByLabel('Address', { exact: true }).fill(address);
  await form.getByLabel('Name').fill('Vault');
  await form.getByRole('button', { name: 'Add an address' }).click();
  await ann.row('Vault').getByText('Active').waitFor();
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

/** Pays 20 rows of a file and calls back at once what can be called back: each row ends as paid or as cancelled. */
async function paysOut(ann: Person, address: string): Promise<void> {
  const rows = Array.from({ length: 20 }, (_, at) => `ETH,${address},0.00${String(at + 10)}`);
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
  await ann.press('Pay 20 rows');
  await ann.title('Mass payout');
  await ann.press('Cancel the rest');
  await ann.dialog('Cancel the rest').getByRole('button', { name: 'Cancel the rest' }).click();
  const ended = ann.page.locator('tbody tr', { hasText: /Completed|Paid|Cancelled/ });
  await ann.dashboard.world.until('each row has ended', async () => (await ended.count()) === 20, 120_000);
  // Nothing may have been left to call back: the dialog says so and stays.
  if (await ann.dialog('Cancel the rest').isVisible()) await ann.page.keyboard.press('Escape');
  await ann.dialog('Cancel the rest').waitFor({ state: 'detached' });
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
  const links = bob.page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link');
  expect(await links.allTextContents()).toEqual(['Home', 'Payments', 'Developers', 'Account']);
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
  await page.getByRole('button', { name: 'Ether on the Ethereum network' }).click();
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
