import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createCodecs } from '../../../chains/codecs';
import { addToWhitelist } from '../../../db/wallets/whitelist';
import { parseConfig } from '../../../domain/config';
import { newId } from '../../../domain/ids';
import { type Dashboard, inspect, Person } from '../person';

/** Mass payouts in Chromium: rows that are checked at their place, sent once, followed line by line, and cancelled. */

const mischief = '<img src=x onerror=alert(1)>';

export const payouts = (opened: () => Dashboard): void =>
  describe('mass payouts', () => {
    let dashboard: Dashboard;
    let ann: Person;
    let ben: Person; // may look
    let addresses: string[];
    beforeAll(async () => {
      dashboard = opened();
      const { world } = dashboard;
      ann = await Person.sitsDown(dashboard, 'ann');
      await ann.hasJoined();
      await ann.openShop();
      await ann.earns('ETH', 400);
      const { merchantId } = await ann.asks('GET', '/api/v1/auth/me');
      const { ethereum } = createCodecs(parseConfig(world.stack.env).chain);
      addresses = Array.from({ length: 20 }, () => ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!);
      for (const address of addresses)
        await addToWhitelist(
          world.db,
          merchantId,
          { id: newId(), email: ann.email },
          { type: 'wallet', currency: 'ETH', address, destinationTag: null },
        );
      ben = await Person.sitsDown(dashboard, 'ben');
      await ben.joinsTeamOf(ann, ['mass-payouts:view']);
    }, 400_000);
    afterAll(() => dashboard.everybodyLeaves());

    const csv = (rows: ReadonlyArray<readonly [address: string, amount: string]>): string =>
      ['currency,address,amount', ...rows.map(([address, amount]) => `ETH,${address},${amount}`)].join('\n');
    const pastes = async (text: string): Promise<void> => {
      await ann.opens('/money/payouts/new', 'New mass payout');
      await ann.page.getByLabel('Rows', { exact: true }).first().fill(text);
      await ann.press('Check the rows');
    };
    const total = async (): Promise<number> => (await ann.asks('GET', '/api/v1/mass-payouts')).total;

    it('say what to do first, and why a member may not', async () => {
      await ann.opens('/money/payouts', 'Mass payouts');
      await ann.sees('No mass payout yet.');
      await ben.opens('/money/payouts', 'Mass payouts');
      expect(await ben.reasonOf('New mass payout')).toMatch(/^You need the permission mass-payouts:manage/);
      await ben.opens('/money/payouts/new', 'New mass payout');
      await ben.sees('You need the permission mass-payouts:manage.');
      expect(await ben.page.getByRole('textbox').count()).toBe(0);
    });

    it('show what is wrong at its row, and send nothing until all can be paid', async () => {
      await pastes('address,amount\n0x,1');
      await ann.sees('the columns currency, address and amount are needed');
      await pastes(
        csv([
          [addresses[0]!, '0.001'],
          [`0x${randomBytes(20).toString('hex')}`, '0.001'],
          [mischief, 'much'],
        ]),
      );
      await ann.sees('2 rows cannot be paid. Correct them.');
      await ann.row(mischief).waitFor();
      await ann.row('Can be paid').waitFor();
      expect(await ann.reasonOf('Pay 3 rows')).toBe('2 rows cannot be paid. Correct them.');
      await inspect(ann, 'payout-refused');
      await pastes(csv([[addresses[0]!, '99']]));
      await ann.sees('Your balance does not cover the total in ETH.');
      await dashboard.world.db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('ETH', 'drill')`);
      await pastes(csv([[addresses[0]!, '0.001']]));
      await ann.sees('Money cannot be sent at the moment.');
      expect(await ann.reasonOf('Pay 1 row')).toBe('Money cannot be sent at the moment.');
      await dashboard.world.db.query(`DELETE FROM egress_freeze WHERE currency = 'ETH'`);
    });

    it('are sent once, on a double click after a wrong code, and followed line by line', async () => {
      await ann.opens('/money/payouts/new', 'New mass payout');
      const file = csv(addresses.map((address) => [address, '0.001'] as const));
      await ann.page
        .getByLabel('Or choose a CSV file')
        .setInputFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
      await ann.press('Check the rows');
      await ann.sees('20 rows checked');
      await ann.page.getByLabel('Name').fill(mischief);
      await inspect(ann, 'payout-new');
      await ann.press('Pay 20 rows');
      await ann.fill('Code from your authenticator', '000000');
      await ann.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await ann.sees('This code or passkey is wrong, was used already, or has expired.');
      await ann.fill('Code from your authenticator', await ann.code());
      await ann.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await ann.title('Mass payout');
      await ann.sees(mischief);
      await ann.page.getByText('20 of 20 paid').waitFor({ timeout: 120_000 });
      await inspect(ann, 'payout');
      expect(await total()).toBe(1);
      const sum = await Promise.all(addresses.map((address) => dashboard.world.etherAt(address)));
      expect(sum.every((wei) => wei > 0n)).toBe(true);
      const [result] = await Promise.all([ann.page.waitForEvent('download'), ann.press('Result as CSV')]);
      expect(readFileSync(await result.path(), 'utf8').match(/completed/g)).toHaveLength(20);
    });

    it('wait for a second person above a limit, and return what is cancelled', async () => {
      const emailCode = await ann.mailedCode('/api/v1/auth/mfa/send-email-code', { action: 'egress_limits' });
      await ann.asks('PATCH', '/api/v1/settings/egress-limits', { approvalUsd: '1', emailCode });
      const { available } = await ann.balance('ETH');
      await pastes(csv([[addresses[0]!, '0.002']]));
      await ann.press('Pay 1 row');
      await ann.fill('Code from your authenticator', await ann.code());
      await ann.press('Confirm');
      await ann.sees('A second person of your team must approve it.');
      expect(await ann.reasonOf('Approve')).toBe('You have queued it: somebody else must approve it.');
      await inspect(ann, 'payout-waits');
      await ben.goTo(new URL(ann.page.url()).pathname.replace('/dashboard', ''));
      await ben.title('Mass payout');
      await ben.sees('A second person of your team must approve it.');
      for (const name of ['Approve', 'Cancel the rest'])
        expect(await ben.reasonOf(name)).toMatch(/^You need the permission mass-payouts:manage/);
      // As who did not queue it would see it.
      await ann.page.route('**/api/v1/mass-payouts/*', async (route) => {
        const answer = await route.fetch();
        const text = (await answer.text()).replaceAll(ann.email, 'another@shop.example');
        await route.fulfill({ response: answer, body: text });
      });
      await ann.page.reload();
      await ann.press('Approve');
      await inspect(ann, 'payout-approve');
      await ann.dialog('Approve').getByRole('button', { name: 'Back' }).click();
      await ann.page.unroute('**/api/v1/mass-payouts/*');
      await ann.press('Cancel the rest');
      await inspect(ann, 'payout-cancel');
      await ann.dialog('Cancel the rest').getByRole('button', { name: 'Cancel the rest' }).click();
      await ann.sees('The rest is cancelled');
      expect((await ann.balance('ETH'))['available']).toBe(available);
      await ann.follow('All mass payouts');
      await ann.row(mischief).waitFor();
      await inspect(ann, 'payouts');
      await ann.page.getByLabel('Status').selectOption('Cancelled');
      await ann.page.waitForURL(`${dashboard.url}/money/payouts?status=cancelled`);
    });
  });
