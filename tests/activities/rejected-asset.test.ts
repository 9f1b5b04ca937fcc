import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { setLimits } from '../../db/limits/outbound';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { paymentsAt } from './run-payment';

/** What becomes of a part in the right coin where another asset came too, and when another asset is taken by itself.
 *  Invariants: 3, rows 19, 21. */

let h: Harness;
let db: DataSource;
let shop: Shop;
let act: ReturnType<typeof paymentsAt>;
beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  const { config } = h.api.deps;
  act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
  shop = await h.shop({}, ['ETH', 'USDT_ERC20']);
});
afterAll(() => h?.stop());

type Made = { id: string; address: string; amount: number };
/** A payment of 40 dollars in ETH, with these settings of its day. */
async function open(settings: Record<string, unknown> = {}): Promise<Made> {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'ETH' } });
  for (const [column, value] of Object.entries(settings))
    await db.query(`UPDATE payment SET ${column} = $2 WHERE id = $1`, [body.paymentId, value]);
  return { id: body.paymentId, address: body.depositAddress, amount: body.amount };
}
const deposit = ({ id, address }: Made, currency: string, amount: string): Promise<unknown> =>
  db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height,
       first_seen_at, confirmed_at) VALUES ('ethereum', $1, 0, $2, 'deposit', $3, $4, $5, $5, false, 'confirmed', '0xb',
         90, clock_timestamp(), now())`,
    [randomBytes(32).toString('hex'), address, id, currency, amount],
  );
const read = async (id: string) =>
  (
    await db.query(
      `SELECT status, exceptions, cross_chain_auto_accept_at AS "acceptAt",
              (SELECT array_agg(currency || ' ' || coalesce(allocation, '-') ORDER BY currency) FROM deposit d
                WHERE d.payment_id = p.id) AS allocations,
              (SELECT count(*)::int FROM payment c WHERE c.parent_payment_id = p.id) AS children,
              (SELECT array_agg(r.currency || ' ' || r.status) FROM refund r WHERE r.payment_id = p.id) AS refunds
         FROM payment p WHERE id = $1`,
      [id],
    )
  )[0];
const clean = async () => {
  const wrong = await audit(db, { settleMs: 1 });
  expect(wrong.filter(({ invariant }) => ['I1', 'I2', 'I3', 'I6', 'I12'].includes(invariant))).toEqual([]);
};

/** Half of it in its own coin, then another asset. */
async function halfAndOther(settings: Record<string, unknown> = {}): Promise<Made> {
  const made = await open(settings);
  await deposit(made, 'ETH', '0.006');
  expect((await act.runPayment(made.id)).status).toBe('PARTIALLY_PAID');
  await deposit(made, 'USDT_ERC20', '40');
  expect((await act.runPayment(made.id)).status).toBe('CROSS_CHAIN_PENDING');
  return made;
}

describe('a part in the right coin, when another asset that came too is not taken', () => {
  const held = { status: 'FAILED', exceptions: ['underpaid', 'wrongCurrency'], children: 0 };

  it('is held with it where the merchant rejects that, and can be accepted after all', async () => {
    const { id } = await halfAndOther();
    expect(await act.rejectCrossChain(id)).toEqual({ status: 'FAILED' });
    await act.runPayment(id);
    expect(await read(id)).toMatchObject({ ...held, allocations: ['ETH unallocated', 'USDT_ERC20 unallocated'] });
    await clean();
    expect(await act.acceptUnderpaid(id)).toEqual({ status: 'FAILED' });
    expect(await read(id)).toMatchObject({ children: 1, allocations: ['ETH -', 'USDT_ERC20 unallocated'] });
  });

  it('is held where nobody takes that within a day', async () => {
    const { id } = await halfAndOther();
    await db.query(`UPDATE deposit SET first_seen_at = first_seen_at - interval '30 hours' WHERE payment_id = $1`, [
      id,
    ]);
    await db.query(`UPDATE payment SET expires_at = clock_timestamp() - interval '25 hours' WHERE id = $1`, [id]);
    await act.runPayment(id);
    expect(await read(id)).toMatchObject({ ...held, allocations: ['ETH unallocated', 'USDT_ERC20 unallocated'] });
    await clean();
  });

  it('goes back by the policy refund; the other asset waits for the merchant', async () => {
    const { id } = await halfAndOther({ underpaid_policy: 'refund' });
    await act.rejectCrossChain(id);
    await act.runPayment(id);
    expect(await read(id)).toMatchObject({
      ...held,
      allocations: ['ETH refunded', 'USDT_ERC20 unallocated'],
      refunds: ['ETH awaiting_address'],
    });
    await clean();
  });

  it('is none where nothing came in it', async () => {
    const made = await open();
    await deposit(made, 'USDT_ERC20', '40');
    await act.runPayment(made.id);
    await act.rejectCrossChain(made.id);
    await act.runPayment(made.id);
    expect(await read(made.id)).toMatchObject({
      exceptions: ['wrongCurrency'],
      allocations: ['USDT_ERC20 unallocated'],
    });
  });
});

describe('another asset is taken by itself', () => {
  const settings = { auto_accept_cross_chain_hours: 1, fee_bearer: 'customer', fee_bps: 1000, tolerance_pct: 1 };
  it.each([
    ['not where only the price is covered and the customer bears the fee', '40', false],
    ['where the fee is covered too', '45', true],
  ])('%s', async (_what, amount, isTaken) => {
    const made = await open(settings);
    await deposit(made, 'USDT_ERC20', amount);
    expect((await act.runPayment(made.id)).status).toBe('CROSS_CHAIN_PENDING');
    expect((await read(made.id)).acceptAt !== null).toBe(isTaken);
  });
});

it('a refund by policy waits for the limits before it takes the event counter of its merchant', async () => {
  const made = await open({ underpaid_policy: 'refund' });
  await deposit(made, 'ETH', '0.006');
  await act.runPayment(made.id);
  await setLimits(db, shop.id, { dailyUsd: '1000', hourlyCount: null, approvalUsd: null }, 'test', 0);
  await db.query('UPDATE payment SET expires_at = clock_timestamp() WHERE id = $1', [made.id]);
  await db.query('UPDATE chain_cursor SET scanned_through = clock_timestamp()');
  let advanced: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await tx.query('SELECT FROM egress_limit WHERE scope = $1 FOR UPDATE', [shop.id]);
    advanced = act.runPayment(made.id);
    for (;;) {
      const [{ n }] = await db.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'
           AND query LIKE '%egress_limit%'`,
      );
      if (n > 0) break;
    }
    await tx.query('SELECT FROM merchant_counter WHERE merchant_id = $1 FOR UPDATE NOWAIT', [shop.id]);
  });
  await advanced;
  expect(await read(made.id)).toMatchObject({ status: 'FAILED', refunds: ['ETH awaiting_address'] });
});
