import { maturingAttempts } from '../../db/chains/attempts';
import { richShop, type RichShop } from './rich-shop';

/** Transfers of a token that takes a fee of its own: each waits for operators, and they may be many. */

let shop: RichShop;
beforeAll(async () => {
  shop = await richShop('1');
});
afterAll(() => shop?.stop());

it('keep no other transaction from becoming final', async () => {
  const { db, hot, merchantId } = shop;
  const [{ id }] = await db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs, merchant_id,
                         owner_kind, owner_id, status)
     VALUES (1, 1, 'consolidate', 'many', 'ethereum', 'USDT_ERC20', $1, '[]', $2, 'consolidate', 'many', 'mined')
       RETURNING id`,
    [hot, merchantId],
  );
  await db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price, max_fee_units,
       moved_units, outputs, status, block_hash, height, differs_at)
     SELECT $1, n, 'ethereum', '0x' || n, '0x', $2, n, '{}', 1, 1, 1, '[]', 'mined', '0xb', 90,
            CASE WHEN n <= 500 THEN now() END FROM generate_series(1, 501) AS n`,
    [id, hot],
  );
  const [first, ...others] = await maturingAttempts(db.manager, 'ethereum', 90);
  expect(first!.tx_id).toBe('0x501');
  expect(others).toHaveLength(499);
});
