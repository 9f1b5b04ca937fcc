/** @jest-environment node */
import { newId, newSlug } from '../../domain/ids';
import type { TronWorld } from '../chain/tron-world';
import { unguarded } from '../unguarded';
import type { ExpiringShop } from './expiring-shop';
import { TronStage } from './tron-stage';

/** A sweep of all TRX that a deposit address holds: what it burns comes out of them. */

const network = 'tron';
let stage: TronStage;
let world: TronWorld;
let shop: ExpiringShop;
let key = 20;
let from: string;
let intentId: string;
beforeAll(async () => {
  stage = await TronStage.start(1_000_000n, () => ({}));
  ({ world } = stage);
});
beforeEach(async () => {
  shop = await stage.open();
  from = world.addressAt((key += 1));
});
afterEach(() => shop.stop());
afterAll(() => stage?.end());

const held = (): Promise<bigint> => world.adapter.holding(from, 'TRX', 'newest');

/** Five TRX of a payment on its address, and the sweep of them that is planned. */
async function aSweep(sun = 5_000_000n): Promise<void> {
  const paymentId = newId();
  const amount = (Number(sun) / 1e6).toString();
  await unguarded(shop.db, async (tx) => {
    await tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
         custody, expires_at, expires_in)
       VALUES ($1, $2, $3, 'SWEEP_QUEUED', 'api', 32, 'USD', 'merchant', 40, 1, 'hold', 'TRX', $4, 5, 1, 5, $5,
         'platform', now(), 60)`,
      [paymentId, shop.merchantId, newSlug(), network, shop.treasury],
    );
    await tx.query(
      `INSERT INTO address (network, address, role, key_index, merchant_id, payment_id, currency)
       VALUES ($1, $2, 'deposit', $3, $4, $5, 'TRX')`,
      [network, from, key, shop.merchantId, paymentId],
    );
  });
  const [deposit] = await shop.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust,
       status, first_seen_at, allocation, payment_id)
     VALUES ($1, $2, -1, $3, 'deposit', 'TRX', $4, $4, false, 'confirmed', now(), 'unsettled', $5) RETURNING id`,
    [network, `0x${key}`, from, amount, paymentId],
  );
  const [intent] = await shop.db.query(
    `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price, fee_budget,
       gas_limit, payment_id, merchant_id, owner_kind, owner_id)
     VALUES ('sweep', $1, $2, 'TRX', $3, jsonb_build_array(jsonb_build_object('address', $4::text, 'units', null)),
       ARRAY[$5::bigint], 1000, 1000000, 3500, $6, $7, 'sweep', $8) RETURNING id`,
    [`${paymentId}/1`, network, from, shop.treasury, deposit.id, paymentId, shop.merchantId, paymentId],
  );
  intentId = intent.id;
}
async function mined(): Promise<void> {
  await shop.send(intentId);
  await world.mine(25);
  await shop.follow(intentId, false);
}

it('moves all where its bandwidth is free', async () => {
  await world.fund(from, 5_000_000n);
  await aSweep();
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect(await shop.rows(intentId)).toMatchObject([{ moved_units: '5000000', max_fee_units: '1' }]);
  await mined();
  expect(await shop.rows(intentId)).toMatchObject([{ status: 'final', success: true, fee_units: '0' }]);
  expect(await held()).toBe(0n);
});

/** Uses up what is free in a day. */
async function useFree(): Promise<void> {
  for (let n = 0; n < 2; n += 1)
    await world.paid(key, { currency: 'TRX', to: world.addressAt(1), units: 1n + BigInt(n) });
  await world.mine(25);
}

it('moves all but what it burns, which the cap and the budget bound', async () => {
  await world.fund(world.addressAt(1), 1_000_000n);
  await world.fund(from, 5_000_003n);
  await useFree();
  await aSweep();
  expect(await held()).toBe(5_000_000n);
  const cap = (sun: number): Promise<unknown> =>
    shop.db.query('UPDATE intent SET max_unit_price = $2 WHERE id = $1', [intentId, sun]);
  await cap(50);
  expect(await shop.signer.signOnce(intentId)).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('above its cap'),
  });
  await cap(1000);
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  const [row] = await shop.rows(intentId);
  const [moved, most] = [BigInt(row!.moved_units!), BigInt(row!.max_fee_units)];
  expect(most).toBeGreaterThan(200_000n);
  expect(moved + most).toBe(5_000_000n);
  await mined();
  const [after] = await shop.rows(intentId);
  expect(after).toMatchObject({ status: 'final', success: true });
  // Its bytes may be fewer by those of the amount.
  const rest = await held();
  expect(moved + BigInt(after!.fee_units!) + rest).toBe(5_000_000n);
  expect(rest).toBeLessThan(5_000n);
});

it('is signed anew where it has expired, for what is left then', async () => {
  await world.fund(from, 5_000_000n);
  await aSweep();
  await shop.signer.signOnce(intentId);
  await world.order('fault', { kind: 'dropped' });
  await shop.send(intentId);
  await world.order('fault', { kind: 'none' });
  await world.mine(230);
  await shop.send(intentId);
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
  await mined();
  expect((await shop.rows(intentId)).map(({ status }) => status)).toEqual(['expired', 'final']);
  expect(await held()).toBe(0n);
});

it('waits while the fee would leave nothing', async () => {
  await world.fund(from, 100_003n);
  await world.fund(world.addressAt(1), 1_000_000n);
  await useFree();
  await aSweep(100_000n);
  expect(await shop.signer.signOnce(intentId)).toMatchObject({ state: 'waiting' });
  expect(await shop.rows(intentId)).toEqual([]);
});
