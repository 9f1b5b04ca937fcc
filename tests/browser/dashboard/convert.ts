import { fundTreasury } from '../../../sandbox/seed';
import { type Dashboard, inspect, Person } from '../person';

/** Conversions in Chromium: a quote with its minute, its execution once, and a market that moved meanwhile. */

export const conversions = (opened: () => Dashboard): void =>
  describe('converting a balance', () => {
    let dashboard: Dashboard;
    let ann: Person;
    let ben: Person; // may look
    let dan: Person; // may convert
    beforeAll(async () => {
      dashboard = opened();
      const { world } = dashboard;
      await fundTreasury(world.db, world.payer);
      ann = await Person.sitsDown(dashboard, 'ann');
      await ann.hasJoined();
      await ann.openShop();
      await ann.earns('ETH', 900);
      const liquidity = async () => (await ann.asks('GET', '/api/v1/conversions/liquidity')).liquidity;
      await world.until('the treasury is booked', async () => (await liquidity())['USDT_ERC20'] === true, 120_000);
      ben = await Person.sitsDown(dashboard, 'ben');
      await ben.joinsTeamOf(ann, ['conversions:view']);
      dan = await Person.sitsDown(dashboard, 'dan');
      await dan.joinsTeamOf(ann, ['conversions:manage', 'balances:view']);
    }, 400_000);
    afterAll(() => dashboard.everybodyLeaves());

    const asks = async (person: Person, amount: string): Promise<void> => {
      await person.opens('/money/conversions', 'Convert');
      await person.page.getByLabel('From', { exact: true }).first().selectOption('ETH');
      await person.page.getByLabel('Into').selectOption('USDT_ERC20');
      await person.fill('Amount', amount);
      await person.press('Get a quote');
    };
    const total = async (): Promise<number> => (await ann.asks('GET', '/api/v1/conversions')).total;

    it('says what is wrong with an amount, and by how much it is too little', async () => {
      await dan.opens('/money/conversions', 'Convert');
      await dan.sees('No conversion yet.');
      expect(await dan.reasonOf('Get a quote')).toBe('Enter an amount first.');
      await dan.fill('Amount', '1,5');
      await dan.sees('Enter an amount like 0.25.');
      await asks(dan, '0.0001');
      await dan.sees('Too little: convert at least');
      await inspect(dan, 'convert-refused');
    });

    it('shows the fee and the minute of a quote, and converts once on a double click after a wrong code', async () => {
      const before = await ann.balance('ETH');
      await asks(dan, '0.05');
      await dan.sees(/This quote counts for \d+ seconds more/);
      await dan.fact('You give').getByText('0.05 ETH').waitFor();
      const gets = await dan.fact('You get').textContent();
      await inspect(dan, 'convert');
      await dan.press('Convert now');
      await dan.fill('Code from your authenticator', '000000');
      expect(await dan.page.getByRole('button', { name: 'E-mail code' }).count()).toBe(0);
      await dan.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await dan.sees('This code or passkey is wrong, was used already, or has expired.');
      await dan.fill('Code from your authenticator', await dan.code());
      await dan.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await dan.title('Conversion');
      await dan.page.locator('main').getByText('Completed').first().waitFor();
      await inspect(dan, 'conversion');
      expect(await total()).toBe(1);
      const held = (await ann.balance('USDT_ERC20'))['available'];
      expect(gets!.replaceAll(',', '')).toBe(`${held} USDT_ERC20`);
      expect(Number(before['available']) - Number((await ann.balance('ETH'))['available'])).toBeCloseTo(0.05, 12);
    });

    it('shows the new price where the market has moved, and converts at it only when that is accepted', async () => {
      await dan.page.route('**/api/v1/conversions/quote?*', async (route) => {
        const answer = await route.fetch();
        const quote = (await answer.json()) as { exchangeRate: number; toAmountStr: string };
        const [whole] = quote.toAmountStr.split('.');
        await route.fulfill({
          response: answer,
          json: { ...quote, exchangeRate: quote.exchangeRate * 2, toAmountStr: String(parseInt(whole!, 10) * 2) },
        });
      });
      await asks(dan, '0.02');
      await dan.press('Convert now');
      await dan.fill('Code from your authenticator', await dan.code());
      await dan.press('Confirm');
      await dan.sees('Nothing was converted.');
      expect(await total()).toBe(1);
      await inspect(dan, 'convert-drift');
      await dan.press('Convert at the new price');
      await dan.fill('Code from your authenticator', await dan.code());
      await dan.press('Confirm');
      await dan.title('Conversion');
      expect(await total()).toBe(2);
      await dan.page.unroute('**/api/v1/conversions/quote?*');
    });

    it('compares routes and targets, and lists what was converted', async () => {
      await dan.opens('/money/conversions', 'Convert');
      await dan.row('Completed').waitFor();
      await dan.page.getByLabel('Into').selectOption('USDC_ERC20');
      await dan.press('Which balance gets to USDC_ERC20 for the least?');
      await dan.page.getByRole('button', { name: 'Take ETH', exact: true }).waitFor();
      await inspect(dan, 'conversions');
      await dan.press('Take ETH');
      await dan.sees(/This quote counts for/);
      await dan.press('Which targets cost less?');
      await dan.sees(/None: USDC_ERC20 is the cheapest|Saves/);
      await dan.opens('/money/conversions?status=failed', 'Convert');
      await dan.sees('No conversion fits these filters.');
      await dan.opens('/money/conversions/nothing', 'Conversion');
      await dan.sees('There is nothing at this address.');
    });

    it('lets a quote expire, and says why a member may not convert', async () => {
      await ben.page.clock.install();
      await asks(ben, '0.05');
      await ben.sees(/This quote counts for/);
      expect(await ben.reasonOf('Convert now')).toMatch(/^You need the permission conversions:manage/);
      await ben.page.clock.fastForward(61_000);
      await ben.sees('This quote has expired.');
    });
  });
