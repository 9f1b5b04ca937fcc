import { readFileSync } from 'node:fs';
import type { Download, Locator } from 'playwright-core';
import { withBrowser } from './chromium';
import { Dashboard, inspect, Person } from './person';

/** The dashboard's section on money in Chromium, against the running service and real chains. */

const mischief = '<img src=x onerror=alert(1)>';

withBrowser('the section on money', () => {
  let dashboard: Dashboard;
  let ann: Person;
  let ben: Person;
  beforeAll(async () => {
    dashboard = await Dashboard.open({ miner: true });
    ann = await Person.sitsDown(dashboard, 'ann');
    await ann.joins();
    ben = await Person.sitsDown(dashboard, 'ben');
  }, 240_000);
  afterAll(() => dashboard?.close(), 60_000);

  const until = (what: string, condition: () => Promise<boolean>, ms?: number) =>
    dashboard.world.until(what, condition, ms);
  const balanceOf = async (currency: string): Promise<Record<string, string>> =>
    (await ann.asks('GET', '/api/v1/ledger/balances')).balances.find(
      (one: { currency: string }) => one.currency === currency,
    );
  const rowOf = (text: string): Locator => ann.page.locator('tbody tr', { hasText: text }).first();
  const goesTo = async (path: string, title: string): Promise<void> => {
    await ann.goTo(path);
    await ann.title(title);
  };

  async function settled(currency: string, amount: number): Promise<void> {
    const made = await ann.asks('POST', '/api/v1/payments', { amount, currency });
    await dashboard.world.payer.pay(currency, made.depositAddress, String(made.amount));
    const status = async () => (await ann.asks('GET', `/api/v1/payments/${made.paymentId}`)).status;
    await until(`the ${currency} is settled`, async () => (await status()) === 'SETTLED', 180_000);
  }

  describe('Balances and the ledger', () => {
    it('say what to do next while there is nothing', async () => {
      await ann.follow('Money');
      await ann.title('Balances');
      await ann.sees('No balance yet. It grows when the first payment settles.');
      await inspect(ann, 'balances-empty');
      await ann.openShop();
    });

    it('show exact amounts, what they are worth, and every change with the balance after it', async () => {
      await settled('ETH', 400);
      const { available, fiatAmount } = await balanceOf('ETH');
      await goesTo('/money', 'Balances');
      await rowOf('ETH').getByText(`${available} ETH`).waitFor();
      await rowOf('ETH').getByText(`$${fiatAmount}`).waitFor();
      await inspect(ann, 'balances');
      await ann.follow('ETH');
      await ann.title('Ledger of ETH');
      await rowOf('Payment credited').getByText(`+${available} ETH`).waitFor();
      await rowOf('Payment credited')
        .getByRole('cell', { name: `${available} ETH`, exact: true })
        .waitFor();
      await inspect(ann, 'ledger');
    });

    it('keep their filters in the address', async () => {
      await ann.page.getByLabel('What').selectOption('Refund final');
      await ann.sees('No entry fits these filters.');
      expect(ann.page.url()).toBe(`${dashboard.url}/money/balances/ETH?type=refund`);
      await ann.page.getByLabel('What').selectOption('Payment credited');
      await rowOf('Payment credited').waitFor();
      await ann.page.reload();
      await rowOf('Payment credited').waitFor();
      expect(await ann.page.getByLabel('What').inputValue()).toBe('payment_credit');
      await ann.press('Clear all filters');
      await ann.page.waitForURL(`${dashboard.url}/money/balances/ETH`);
    });

    it('can be had as a spreadsheet and as a statement', async () => {
      const takes = async (name: string): Promise<Download> => {
        const [file] = await Promise.all([ann.page.waitForEvent('download'), ann.press(name)]);
        return file;
      };
      const { available } = await balanceOf('ETH');
      const csv = await takes('Download as CSV');
      expect(csv.suggestedFilename()).toMatch(/^ledger-ETH-\d{4}-\d\d-\d\d\.csv$/);
      expect(readFileSync(await csv.path(), 'utf8')).toContain(`payment_credit,${available},${available},`);
      const pdf = await takes('Statement as PDF');
      expect(pdf.suggestedFilename()).toMatch(/^statement-ETH-.*\.pdf$/);
      expect(readFileSync(await pdf.path(), 'latin1')).toMatch(/^%PDF-/);
    });

    it('take an address that means nothing as text, and say what is wrong with it', async () => {
      await goesTo(`/money/balances/${encodeURIComponent(mischief)}`, `Ledger of ${mischief}`);
      await ann.sees('Something in this form does not fit.');
      await goesTo('/money/balances/ETH?type=nonsense&from=yesterday&before=-1', 'Ledger of ETH');
      await rowOf('Payment credited').waitFor();
      await goesTo('/payments?status=nonsense&page=none', 'Payments');
      await rowOf('Settled').waitFor();
    });

    it('say why a member without the permission sees nothing', async () => {
      await ben.joinsTeamOf(ann, [
        ...['withdrawals:view', 'whitelist:view', 'wallets:view', 'settings:view'],
        ...['conversions:view', 'mass-payouts:view'],
      ]);
      await ben.goTo('/money/balances');
      await ben.sees('You need the permission balances:view.');
      expect(await ben.page.getByRole('link', { name: 'Balances' }).count()).toBe(0);
      await inspect(ben, 'balances-refused');
    });
  });

  it('has broken no rule of its policy, and thrown nothing', () => {
    ann.wasClean();
    ben.wasClean();
  });
});
