import { randomBytes } from 'node:crypto';
import { platformScope, setLimits } from '../../../db/limits/outbound';
import { newId } from '../../../domain/ids';
import { de } from '../../../web/dashboard/operators/texts/de';
import { en } from '../../../web/dashboard/operators/texts/en';
import { unguarded } from '../../unguarded';
import { pages } from '../pages';
import { type Dashboard, inspect, type Person } from '../person';
import { aMember, anAdmin, anOperator, hostile, showsAsText } from './kit';
import { everything, refusing, said } from './refused';

/** What operators set and see of the platform's own money, in Chromium, and what each of their pages refuses. */

const forgotten = '0x00000000000000000000000000000000000000f1';
const hash = () => `0x${randomBytes(32).toString('hex')}`;

export const platformMoney = (opened: () => Dashboard): void =>
  describe('the dashboard for operators: the money of the platform', () => {
    let dashboard: Dashboard;
    let eve: Person;
    beforeAll(async () => {
      dashboard = opened();
      eve = await anOperator(dashboard, 'eve');
    }, 120_000);
    afterAll(async () => {
      await unguarded(dashboard.world.db, async (tx) => {
        await tx.query(`DELETE FROM deposit WHERE allocation = 'unclaimed'`);
        await tx.query(`DELETE FROM attempt WHERE intent_id IN (SELECT id FROM intent WHERE owner_kind = 'lost')`);
        await tx.query(`DELETE FROM intent WHERE owner_kind = 'lost'`);
        await tx.query('DELETE FROM recovery');
      });
      await dashboard.everybodyLeaves();
    });
    const dialog = () => eve.page.getByRole('dialog');
    const region = (name: string) => eve.page.getByRole('region', { name, exact: true });

    it('limits what may leave the platform, with a factor whose wrong code loses nothing', async () => {
      const { page } = eve;
      await eve.goTo('/operators/limits');
      await region('What may leave the platform').getByText('No limit').first().waitFor();
      await inspect(eve, 'operators-platform-limits');
      await eve.press('Change the limits of the platform');
      const submit = dialog().getByRole('button', { name: 'Change the limits', exact: true });
      await dialog().getByLabel('Dollars in 24 hours').fill('a lot');
      await dialog().getByLabel('Reason').fill(hostile);
      expect(await submit.getAttribute('title')).toContain('Dollars with a point');
      await dialog().getByLabel('Dollars in 24 hours').fill('900000');
      const meanwhile = { dailyUsd: null, hourlyCount: 999_999, approvalUsd: null };
      await setLimits(dashboard.world.db, platformScope, meanwhile, 'another@operator.example', 0);
      await inspect(eve, 'operators-platform-limits-dialog');
      await submit.click();
      await page.getByLabel('Code from your authenticator').fill('000000');
      await eve.press('Confirm');
      await eve.sees('This code or passkey is wrong, was used already, or has expired.');
      await page.getByLabel('Code from your authenticator').fill(await eve.code());
      await eve.press('Confirm');
      await region('What may leave the platform').getByText('$900,000.00 ($0.00 used)').waitFor();
      const [{ before, after }] = await dashboard.world.db.query(
        `SELECT before, after FROM audit_log WHERE action = 'egress_limits.changed' AND target = 'platform'`,
      );
      expect(before).toMatchObject(meanwhile);
      expect(after).toMatchObject({ dailyUsd: '900000', hourlyCount: 999_999, reason: hostile });
    }, 120_000);

    it('bounds a position, and switches a pair off and on', async () => {
      await eve.addsPasskey();
      await eve.goTo('/operators/limits');
      await eve.press('Limit ETH');
      await dialog().getByLabel('Limit in dollars').fill('50000.00');
      await dialog().getByLabel('Beyond it').selectOption('At a swap provider');
      await dialog().getByLabel('Reason').fill('Enough of it');
      await inspect(eve, 'operators-limit-position');
      await dialog().getByRole('button', { name: 'Limit ETH', exact: true }).click();
      const positions = region('Positions by converting');
      await positions.getByRole('row', { name: /^ETH/ }).getByText('$50,000.00').waitFor();
      await eve.press('Set a pair');
      const set = dialog().getByRole('button', { name: 'Set a pair', exact: true });
      await dialog().getByLabel('From', { exact: true }).selectOption('ETH');
      await dialog().getByLabel('To', { exact: true }).selectOption('ETH');
      await dialog().getByLabel('Reason').fill('A drill');
      expect(await set.getAttribute('title')).toBe('Choose two currencies');
      await dialog().getByLabel('To', { exact: true }).selectOption('BTC');
      await inspect(eve, 'operators-pair');
      await set.click();
      const pair = region('Pairs').getByRole('row', { name: /ETH → BTC/ });
      await pair.getByText('Off', { exact: true }).waitFor();
      await eve.press('Change ETH to BTC');
      await dialog().getByLabel('How').selectOption('From our own balance sheet');
      await dialog().getByLabel('Most dollars in one conversion').fill('1000');
      await dialog().getByLabel('Reason').fill('The drill is over');
      await set.click();
      await pair.getByText('$1,000.00').waitFor();
      await inspect(eve, 'operators-limits-set');
    }, 120_000);

    it('shows what lies where, and asks for what a wallet needs', async () => {
      await eve.goTo('/operators/treasury');
      await region('Treasury').getByRole('row', { name: /^ETH/ }).waitFor();
      const wallets = region('Hot wallets');
      await wallets.getByText('Hot wallet 0').first().waitFor();
      const { db } = dashboard.world;
      const [{ address }] = await db.query(
        `SELECT address FROM address WHERE network = 'ethereum' AND role = 'gas' AND key_index = 0`,
      );
      const unfrozen = await db.query('SELECT * FROM wallet_sequence WHERE address = $1', [address]);
      await db.query(
        `INSERT INTO wallet_sequence (network, address, next_nonce, frozen_at, frozen_reason)
         VALUES ('ethereum', $1, 0, now(), $2)
         ON CONFLICT (network, address) DO UPDATE SET frozen_at = now(), frozen_reason = $2`,
        [address, hostile],
      );
      await eve.page.reload();
      await showsAsText(eve, `Frozen: ${hostile}`);
      await inspect(eve, 'operators-treasury');
      await eve.press(`Ask to unfreeze it: ${address}`);
      expect(await dialog().getByLabel('Act', { exact: true }).inputValue()).toBe('unfreeze-wallet');
      expect(await dialog().getByLabel('Address').inputValue()).toBe(address);
      await eve.page.keyboard.press('Escape');
      if (unfrozen.length)
        await db.query('UPDATE wallet_sequence SET frozen_at = NULL, frozen_reason = NULL WHERE address = $1', [
          address,
        ]);
      else await db.query('DELETE FROM wallet_sequence WHERE address = $1', [address]);
    }, 120_000);

    it('lists money without an owner, and what a recovery has lost; a refused claim keeps its form', async () => {
      const lostTx = hash();
      await unguarded(dashboard.world.db, async (tx) => {
        await tx.query('INSERT INTO recovery (epoch, reason, workflows_ended_at) VALUES (900, $1, now())', [hostile]);
        await tx.query(
          `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust,
             status, first_seen_at, confirmed_at, allocation)
           VALUES ('ethereum', $1, 0, $2, 'deposit', 'ETH', 3, 3, false, 'confirmed', now(), now(), 'unclaimed')`,
          [hash(), forgotten],
        );
        const [intent] = await tx.query<Array<{ id: string }>>(
          `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
             owner_kind, owner_id, lost_owner_kind, lost_owner_id, lost, booked) VALUES ('lost', 'withdrawal/none',
             'ethereum', 'ETH', $1, '[]', 1, 1, 'final', 'lost', 'withdrawal/none', 'withdrawal', 'none', $2, true)
             RETURNING id::text`,
          [forgotten, JSON.stringify({ txId: lostTx })],
        );
        await tx.query(
          `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
             moved_units, outputs, status, success, fee_units, height, block_hash) VALUES ($1, 1, 'ethereum', $2, '0x',
             $3, 0, 1, 1, 1, '[]', 'final', true, 1, 1, 'h')`,
          [intent!.id, lostTx, forgotten],
        );
      });
      await eve.goTo('/operators/recoveries');
      await region('Signed in the lost time').getByText(lostTx).waitFor();
      await showsAsText(eve, hostile);
      await inspect(eve, 'operators-recoveries');
      await region('Money without an owner')
        .getByRole('button', { name: /^Ask to give the whole address of deposit/ })
        .click();
      expect(await dialog().getByLabel('Act', { exact: true }).inputValue()).toBe('claim-address');
      expect(await dialog().getByLabel('Address').inputValue()).toBe(forgotten);
      await dialog().getByLabel('Id of the payment').fill(newId());
      await dialog().getByLabel('Reason').fill('They proved it');
      await inspect(eve, 'operators-claim');
      await dialog().getByRole('button', { name: 'Ask for an act', exact: true }).click();
      await dialog()
        .getByText(/^Request /)
        .first()
        .waitFor();
      expect(await dialog().getByLabel('Reason').inputValue()).toBe('They proved it');
      await eve.page.keyboard.press('Escape');
    }, 120_000);

    it('says what is not there, with the id of the request and another try', async () => {
      for (const [path, words] of [
        ['/operators/incidents/999999999', 'There is no such incident.'],
        [`/operators/merchants/${newId()}`, 'There is no such merchant.'],
      ] as const) {
        await eve.goTo(path);
        const alert = eve.page.getByRole('alert').filter({ hasText: words });
        await alert.getByText(/Request /).waitFor();
        await alert.getByRole('button', { name: 'Try again' }).waitFor();
      }
    }, 60_000);

    it.each([403, 503] as const)(
      'says on each of its pages what was answered with %d, and asks again',
      async (status) => {
        dashboard.faults.expects(/status of 503/);
        const own = pages.filter((path) => path.startsWith('/operators/'));
        const refuse = refusing(status);
        const isRefused = async (path: string): Promise<void> => {
          const page = await eve.context.newPage();
          await page.route(everything, refuse);
          await page.goto(
            `${dashboard.url}${path.replace(/\$\w+/g, '0'.repeat(24))}${path.endsWith('find') ? '?q=x' : ''}`,
          );
          const alert = page.getByRole('alert').filter({ hasText: said[status] }).first();
          await alert.getByText('Request req-of-test').waitFor();
          await page.unroute(everything);
          const asked = page.waitForResponse((answer) => answer.url().includes('/api/v1/platform/'));
          await alert.getByRole('button', { name: 'Try again' }).click();
          expect([path, (await asked).headers()['x-request-id']]).not.toEqual([path, 'req-of-test']);
          await page.close();
        };
        // A page asks again by itself before it gives up: all of them do at once.
        await Promise.all(own.map(isRefused));
      },
      120_000,
    );

    it('leads to each of its pages, and to anything that is looked for, by the keyboard alone', async () => {
      const { page } = eve;
      await eve.goTo('/operators/overview');
      const tabs = page.getByRole('navigation', { name: en.label });
      await tabs.waitFor();
      for (const name of [en.tabs.treasury, en.tabs.recoveries, en.tabs.limits, en.tabs.swaps]) {
        await page.keyboard.press('Control+k');
        await dialog().getByRole('combobox').fill(name);
        await page.getByRole('option', { name: `${en.title}: ${name}` }).waitFor();
        await page.keyboard.press('Enter');
        await tabs.locator('[aria-current=page]', { hasText: name }).waitFor();
      }
      await page.keyboard.press('Control+k');
      await dialog().getByRole('combobox').fill(eve.email);
      await page.getByRole('option', { name: `Find anything: ${eve.email}` }).waitFor();
      await page.keyboard.press('Enter');
      await region('Users').getByText(eve.email).waitFor();
    }, 60_000);

    it('speaks German on every page', async () => {
      await eve.asks('PATCH', '/api/v1/auth/me', { language: 'de' });
      await eve.goTo('/operators/overview');
      const tabs = eve.page.getByRole('navigation', { name: de.label });
      for (const name of Object.values(de.tabs)) {
        await tabs.getByRole('link', { name, exact: true }).click();
        await tabs.locator('[aria-current=page]', { hasText: name }).waitFor();
        await eve.page.getByRole('heading', { level: 1, name: de.title }).waitFor();
      }
      await inspect(eve, 'operators-german');
      await eve.asks('PATCH', '/api/v1/auth/me', { language: 'en' });
    }, 120_000);

    it('shows none of its pages to a merchant, or to a member with every right', async () => {
      const admin = await anAdmin(dashboard, 'nobody');
      await dashboard.forgetLimits();
      const member = await aMember(admin, 'member', ['audit:view', 'settings:manage']);
      for (const person of [admin, member]) {
        for (const to of pages.filter((one) => one.startsWith('/operators/') && !one.includes('$'))) {
          await person.goTo(to);
          await person.sees('These pages are for operators of the platform.');
        }
        await person.context.close();
      }
    }, 120_000);
  });
