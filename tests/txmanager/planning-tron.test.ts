/** @jest-environment node */
import { treasuryActivities } from '../../activities/treasury/treasury';
import { planConsolidation } from '../../txmanager/kinds/consolidation';
import { tronNetwork } from '../chain/expiring-networks';
import type { TronWorld } from '../chain/tron-world';
import type { ExpiringShop } from './expiring-shop';
import { addressOf, TronStage } from './tron-stage';

/** What is planned on TRON is what is burned: accounts that a transfer makes, and the TRX that a token needs. */

let stage: TronStage;
let world: TronWorld;
let shop: ExpiringShop;
beforeAll(async () => {
  stage = await TronStage.start(1_010_000_000n, () => ({}));
  ({ world } = stage);
});
beforeEach(async () => {
  shop = await stage.open();
});
afterEach(() => shop.stop());
afterAll(() => stage?.end());

async function mined(intentId: string): Promise<void> {
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await shop.send(intentId);
  await world.mine(25);
  await shop.follow(intentId);
  expect(await shop.rows(intentId)).toMatchObject([{ status: 'final', success: true }]);
}

it('charges the merchant for the account that his withdrawal makes, above the quoted fee', async () => {
  const to = world.addressAt(77);
  const { id, intentId } = await shop.withdraw(to, '5', null);
  const [intent] = await shop.db.query('SELECT gas_limit::int AS work FROM intent WHERE id = $1', [intentId]);
  // 1.1 TRX at 100 sun for an energy.
  expect(intent.work).toBe(11_000);
  await mined(intentId);
  expect(await shop.statusOf(id)).toBe('completed');
  const [row] = await shop.db.query('SELECT network_fee::text AS quoted FROM withdrawal WHERE id = $1', [id]);
  expect(Number(row.quoted)).toBe(0.35);
  const [fee] = await shop.db.query(
    `SELECT amount::float AS amount FROM posting WHERE credit = 'I:network' AND debit LIKE 'L:available:%'`,
  );
  expect(fee.amount).toBe(0.75);
  const [attempt] = await shop.rows(intentId);
  expect(attempt!.fee_units).toBe('1100000');
  expect(await world.adapter.holding(to, 'TRX', 'newest')).toBe(5_000_000n);
});

it('brings a token the TRX that its transfer burns, and little more', async () => {
  const network = tronNetwork.id;
  const [gas, from] = [addressOf(world, 'gas'), addressOf(world, 'treasury', 1)];
  const { db } = shop;
  await world.fund(gas, 500_000_000n);
  await world.fund(from, 0n, 70_000_000n);
  await db.query(
    `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'gas', 0), ($1, $3, 'treasury', 1)`,
    [network, gas, from],
  );
  for (const [address, role, currency, amount, n] of [
    [gas, 'gas', 'TRX', '500', 2],
    [from, 'treasury', 'USDT_TRC20', '70', 3],
  ] as const)
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
         first_seen_at, allocation)
       VALUES ($1, $2, -1, $3, $4, $5, $6, $6, false, 'confirmed', now(), 'own')`,
      [network, `0x0${n}`, address, role, currency, amount],
    );
  const source = { address: from, free: 70_000_000n };
  const ref = await db.transaction((tx) => planConsolidation(tx, 'USDT_TRC20', shop.treasury, source, '100'));
  const moves = treasuryActivities({ db, nodes: shop.nodes });
  const topUp = (await moves.nextConsolidation(ref)) as { id: string };
  const rows = await db.query(
    `SELECT kind, gas_limit::int AS work, max_unit_price::int AS price, outputs->0->>'units' AS units FROM intent
      WHERE owner_id = $1 ORDER BY id`,
    [ref],
  );
  expect(rows).toEqual([
    // Its address has no account: the top-up makes it.
    { kind: 'gas', work: 11_000, price: 420, units: String(102 * rows[1].work) },
    { kind: 'consolidate', work: expect.any(Number), price: 102, units: '70000000' },
  ]);
  await mined(topUp.id);
  const { id } = (await moves.nextConsolidation(ref)) as { id: string };
  await mined(id);
  const [attempt] = await shop.rows(id);
  const burned = attempt!.fee_units!;
  expect(await world.adapter.holding(shop.treasury, 'USDT_TRC20', 'newest')).toBe(70_000_000n);
  const left = BigInt(rows[0].units) - BigInt(burned);
  expect(await world.adapter.holding(from, 'TRX', 'newest')).toBe(left);
  expect(left * 20n).toBeLessThan(BigInt(rows[0].units));
});
