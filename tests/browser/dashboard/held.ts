import { platformScope, setLimits } from '../../../db/limits/outbound';
import { newId } from '../../../domain/ids';
import { unguarded } from '../../unguarded';
import { lightningInvoice } from '../../web/invoices';
import { type Dashboard, inspect } from '../person';
import { anAdmin, anOperator } from './kit';

/** Money that is held, and the limits that hold it, in Chromium. */
export const heldMoney = (opened: () => Dashboard): void =>
  describe('money that is held', () => {
    let dashboard: Dashboard;
    beforeAll(() => {
      dashboard = opened();
    });
    afterAll(async () => {
      await dashboard.world.db.query(`DELETE FROM egress_limit WHERE scope = 'platform'`);
      await unguarded(dashboard.world.db, async (tx) => {
        await tx.query(`DELETE FROM intent WHERE from_address = 'of-a-test'`);
        await tx.query(`DELETE FROM withdrawal WHERE note = 'of a test'`);
        await tx.query(`DELETE FROM refund WHERE reason = 'of a test'`);
      });
      await dashboard.everybodyLeaves();
    });

    it('is told at home, and leads to the list of it', async () => {
      const ann = await anAdmin(dashboard, 'ann');
      await ann.sees('Nothing waits for you.');
      const { merchantId } = await ann.asks('GET', '/api/v1/auth/me');
      await unguarded(dashboard.world.db, async (tx) => {
        for (const cause of ['held', null]) {
          const id = newId();
          await tx.query(
            `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, fee_mode,
               amount, network_fee, gross_amount, net_amount, address, requested_by, requested_by_name, needs_approval,
               approved_at, note)
             VALUES ($1, $2, gen_random_uuid(), 'hash', 'pending', 'ETH', 'ethereum', 'deduct', 1, 0.1, 1, 0.9, $3, $1,
               'ann', false, now(), 'of a test')`,
            [id, merchantId, `0x${cause ?? 'free'}`],
          );
          await tx.query(
            `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget,
               merchant_id, owner_kind, owner_id, waits_for)
             VALUES ('withdrawal', $1, 'none', 'ETH', 'of-a-test', '[]', 1, 1, $2, 'withdrawal', $1, $3)`,
            [id, merchantId, cause],
          );
        }
      });
      await ann.goTo('/');
      await ann.sees('1 withdrawal is held');
      await inspect(ann, 'home-held');
      await ann.follow('1 withdrawal is held');
      await ann.title('Withdrawals');
      await ann.row('0xheld').waitFor();
      expect(await ann.page.locator('tbody tr').count()).toBe(1);
      expect(await ann.page.getByLabel('Held', { exact: true }).inputValue()).toBe('held');
      await inspect(ann, 'withdrawals-held');
      await ann.press('Clear all filters');
      await ann.row('0xfree').waitFor();
    }, 120_000);

    it('tells at home that all outgoing money is held, and on the limits since when', async () => {
      await dashboard.forgetLimits();
      const ann = await anAdmin(dashboard, 'ann');
      const { merchantId } = await ann.asks('GET', '/api/v1/auth/me');
      const hold = `UPDATE merchant SET held_because = $2, held_at = now() WHERE id = $1`;
      await dashboard.world.db.query(hold, [merchantId, 'of a test']);
      await ann.goTo('/');
      const told = 'Outgoing money of this account is held: nothing is sent until support lifts it';
      await ann.sees(told);
      await ann.follow(told);
      await ann.title('Limits');
      await ann.sees('Whatever the limits allow, nothing is sent');
      await inspect(ann, 'limits-held');
      const lift = 'UPDATE merchant SET held_because = NULL, held_at = NULL WHERE id = $1';
      await unguarded(dashboard.world.db, (tx) => tx.query(lift, [merchantId]));
    }, 120_000);

    /** An admin with a payment that waits. */
    async function aPayment(name: string) {
      await dashboard.forgetLimits();
      const person = await anAdmin(dashboard, name);
      const { merchantId } = await person.asks('GET', '/api/v1/auth/me');
      await person.openShop();
      const { paymentId } = await person.asks('POST', '/api/v1/payments', { amount: 20, currency: 'ETH' });
      return { person, merchantId, paymentId };
    }

    it('says on a refund why it is held', async () => {
      const { person: cleo, merchantId, paymentId } = await aPayment('cleo');
      const refund = newId();
      await unguarded(dashboard.world.db, async (tx) => {
        await tx.query(
          `INSERT INTO refund (id, merchant_id, payment_id, body_hash, type, status, currency, network, source, amount,
             network_fee, net_amount, gross_amount, fee_bearer, fiat_amount, fiat_currency, address, approved_at,
             reason)
           VALUES ($1, $2, $3, 'hash', 'partial', 'pending', 'ETH', 'ethereum', 'balance', 1, 0.1, 0.9, 1, 'payer', 1,
             'USD', '0xpayer', now(), 'of a test')`,
          [refund, merchantId, paymentId],
        );
        await tx.query(
          `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget,
             merchant_id, owner_kind, owner_id, waits_for)
           VALUES ('refund', $1, 'none', 'ETH', 'of-a-test', '[]', 1, 1, $2, 'refund', $1, 'limit')`,
          [refund, merchantId],
        );
      });
      const why = 'It waits: what may be sent within 24 hours is used up.';
      await cleo.opens('/payments/refunds?held=true', 'Refunds');
      await cleo.row(paymentId).getByText(why).waitFor();
      await cleo.goTo(`/payments/${paymentId}`);
      await cleo.sees(why);
      await inspect(cleo, 'refund-held');
    }, 120_000);

    it('shows an invoice by its ends where a refund by Lightning is approved', async () => {
      const { merchantId, paymentId, person } = await aPayment('finn');
      await unguarded(dashboard.world.db, (tx) =>
        tx.query(
          `INSERT INTO refund (id, merchant_id, payment_id, body_hash, type, status, currency, network, source, amount,
             network_fee, net_amount, gross_amount, fee_bearer, fiat_amount, fiat_currency, address, reason)
           VALUES ($1, $2, $3, 'hash', 'partial', 'awaiting_approval', 'BTC_LN', 'bitcoin', 'balance', 0.0002, 0.000001,
             0.0002, 0.000201, 'merchant', 12, 'USD', $4, 'of a test')`,
          [newId(), merchantId, paymentId, lightningInvoice],
        ),
      );
      await person.page.setViewportSize({ width: 390, height: 844 });
      await person.goTo(`/payments/${paymentId}`);
      await person.press('Approve the refund');
      const dialog = person.dialog('Approve the refund');
      await dialog.getByText('Lightning invoice of the payer').waitFor();
      const code = dialog.locator('[dir=ltr]');
      expect((await code.boundingBox())!.height).toBeLessThan(150);
      await person.page.evaluate("getSelection().selectAllChildren(document.querySelector('dialog [dir=ltr]'))");
      expect(await person.page.evaluate('String(getSelection())')).toBe(lightningInvoice);
      await inspect(person, 'refund-approve-lightning');
    }, 120_000);

    it('is released by a looser limit only once two operators have confirmed it', async () => {
      const eve = await anOperator(dashboard, 'eve');
      const before = { dailyUsd: '500000', hourlyCount: null, approvalUsd: null };
      await setLimits(dashboard.world.db, platformScope, before, 'another@operator.example', 0);
      await eve.goTo('/operators/limits');
      await eve.press('Change the limits of the platform');
      const dialog = eve.page.getByRole('dialog');
      await dialog.getByLabel('Dollars in 24 hours').fill('600000');
      await dialog.getByText('A limit gets looser').waitFor();
      await dialog.getByLabel('Reason').fill('A large sale');
      await inspect(eve, 'operators-looser-limits');
      await dialog.getByRole('button', { name: 'Ask for looser limits', exact: true }).click();
      await eve.page.getByLabel('Code from your authenticator').fill(await eve.code());
      await eve.press('Confirm');
      await eve.sees('Request filed. Two operators must confirm it.');
      await eve.goTo('/operators/requests');
      await eve.sees('Loosen what may leave of all merchants together: dollars in 24 hours from 500000 to 600000');
      await eve.goTo('/operators/limits');
      await eve.sees('$500,000.00 ($0.00 used)');
    }, 120_000);
  });
