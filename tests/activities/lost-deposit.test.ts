import { createCodecs } from '../../chains/codecs';
import { post } from '../../db/ledger/ledger';
import { depositJournal } from '../../domain/ledger/ledger';
import { startHarness, type Harness } from '../api/harness';
import { settledPayment } from '../api/refundable';
import { paymentsAt } from './run-payment';

/** A settled payment whose deposit the chain no longer has, and has again: the books follow, each time. Invariants: 3,
 *  row 23. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h?.stop());

it('books the loss, and takes it back when the deposit returns, however often', async () => {
  const shop = await h.shop();
  const { id, paid } = await settledPayment(h, shop, { credit: '0' });
  const deposit = { network: 'ethereum', txId: '0xd', index: -1, currency: 'ETH', amount: paid };
  await h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at, allocation)
     SELECT 'ethereum', '0xd', -1, deposit_address, 'deposit', id, 'ETH', amount_paid, amount_paid, false, 'confirmed',
       now(), 'settled' FROM payment WHERE id = $1`,
    [id],
  );
  await h.db.transaction((tx) => post(tx, depositJournal({ ...deposit, merchantId: shop.id })));
  const { config } = h.api.deps;
  const { runPayment } = paymentsAt({ db: h.db, config, codecs: createCodecs(config.chain) });
  const lost = async (): Promise<string> =>
    (
      await h.db.query(
        `SELECT trim_scale(coalesce(sum(CASE WHEN debit = 'E:loss' THEN amount ELSE -amount END), 0))::text AS sum
           FROM posting WHERE 'E:loss' IN (debit, credit)`,
      )
    )[0].sum;
  const becomes = async (status: string): Promise<void> => {
    await h.db.query('UPDATE deposit SET status = $2 WHERE payment_id = $1', [id, status]);
    for (let n = 0; n < 2; n += 1) expect((await runPayment(id)).status).toBe('SETTLED');
  };

  await becomes('confirmed');
  expect(await lost()).toBe('0');
  for (let round = 0; round < 2; round += 1) {
    await becomes('orphaned');
    expect(await lost()).toBe(paid);
    await becomes('mined');
    expect(await lost()).toBe(paid);
    await becomes('confirmed');
    expect(await lost()).toBe('0');
  }
  const payment = (await h.call('GET', `/api/v1/payments/${id}`, { key: shop.key })).body;
  expect(payment).toMatchObject({ status: 'SETTLED', exceptions: ['reorged'] });
  // Operators look before anything of this asset leaves again.
  expect(await h.db.query('SELECT currency FROM egress_freeze')).toEqual([{ currency: 'ETH' }]);
  expect(await h.db.query(`SELECT kind FROM incident WHERE resolved_at IS NULL`)).toEqual([{ kind: 'deep-reorg' }]);
  const causes = await h.db.query('SELECT cause FROM payment_event WHERE payment_id = $1 ORDER BY id', [id]);
  expect(causes.map((row: { cause: string }) => row.cause).slice(-4)).toEqual([
    'reorg-after-settlement',
    'deposit-returned',
    'reorg-after-settlement',
    'deposit-returned',
  ]);
});
