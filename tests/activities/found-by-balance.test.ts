import { createAdapter } from '../../chains/adapters';
import { reconcileAssets, storePositions } from '../../db/audit/reconciliation';
import { storeFoundByBalance } from '../../db/chains/found-by-balance';
import { fromUnits } from '../../domain/money';
import { reorgEthereum } from '../../sandbox/chain-tools';
import { call } from '../../sandbox/parts/json-rpc';
import { FollowedChain, depth, type Invoice } from './followed-chain';

/** Money on a deposit address that no transfer tells of is a deposit like every other, once. */

let chain: FollowedChain;
beforeAll(async () => {
  chain = await FollowedChain.start();
});
afterAll(() => chain?.stop());

/** Ether by a way that no block shows. */
const gift = (address: string, units: bigint): Promise<unknown> =>
  call(chain.node.url, 'anvil_setBalance', [address, `0x${units.toString(16)}`]);

/** Looks at the balance at the block that the follower stands on. */
async function lookAt({ address }: Invoice, over: Partial<{ hash: string }> = {}): Promise<string | null> {
  const [block] = await chain.db.query<Array<{ height: number; hash: string }>>(
    `SELECT height::int, hash FROM chain_cursor WHERE network = 'ethereum'`,
  );
  const adapter = createAdapter('ethereum', { ...chain.config, ETH_RPC_URL: chain.node.url });
  const held = fromUnits((await adapter.holding(address, 'ETH', block!.height))!, 18);
  return chain.db.transaction((tx) =>
    storeFoundByBalance(tx, { network: 'ethereum', address, currency: 'ETH', held, block: { ...block!, ...over } }),
  );
}

it('is a deposit once, which pays its invoice at depth and names no transaction', async () => {
  const invoice = await chain.invoice();
  await gift(invoice.address, 10n ** 18n);
  await chain.mine();
  await chain.look();
  expect(await chain.deposits(invoice)).toEqual([]);
  expect(await lookAt(invoice, { hash: '0xother' })).toBeNull();
  expect(await lookAt(invoice)).toEqual(expect.any(String));
  expect(await lookAt(invoice)).toBeNull();
  expect(await chain.deposits(invoice)).toMatchObject([{ status: 'mined', amount: '1', foundBy: 'balance' }]);
  expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMING', txIds: [], amountPaid: 1 });
  await chain.mine(depth);
  await chain.look();
  expect(await lookAt(invoice)).toBeNull();
  expect(await chain.deposits(invoice)).toMatchObject([{ status: 'confirmed', amount: '1' }]);
  expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMED', txIds: [] });
});

it('is what transfers do not explain, and nothing where they explain it', async () => {
  const invoice = await chain.invoice();
  await chain.payer.pay('ETH', invoice.address, '0.25');
  await chain.mine();
  await chain.look();
  expect(await lookAt(invoice)).toBeNull();
  await gift(invoice.address, 10n ** 18n);
  await chain.mine();
  await chain.look();
  expect(await lookAt(invoice)).not.toBeNull();
  expect(await chain.deposits(invoice)).toMatchObject([
    { amount: '0.25', foundBy: 'transfer' },
    { amount: '0.75', foundBy: 'balance' },
  ]);
});

it('is verified by balance: what is not there at depth is void', async () => {
  const invoice = await chain.invoice();
  await gift(invoice.address, 10n ** 18n);
  await chain.mine();
  await chain.look();
  await lookAt(invoice);
  await gift(invoice.address, 0n);
  await chain.mine(depth);
  await chain.look();
  expect(await chain.deposits(invoice)).toMatchObject([{ status: 'void', amount: '0' }]);
});

it('is the same deposit again after a reorganisation', async () => {
  const invoice = await chain.invoice();
  await chain.mine();
  await chain.look();
  await gift(invoice.address, 10n ** 18n);
  await chain.mine();
  await chain.look();
  await lookAt(invoice);
  await reorgEthereum(chain.node.url, 1);
  await chain.look();
  // Its block is gone: it is looked for at once, and the money is there.
  expect(await lookAt(invoice)).toBeNull();
  expect(await chain.deposits(invoice)).toMatchObject([{ status: 'mined', amount: '1' }]);
});

it('B3: is looked for again while a transaction of its address is not final', async () => {
  const invoice = await chain.invoice();
  await gift(invoice.address, 10n ** 18n);
  await chain.mine();
  await chain.look();
  const [{ id: intentId }] = await chain.db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs, payment_id,
                         merchant_id, owner_kind, owner_id, status)
     VALUES (1, 42000, 'sweep', $1 || '/1', 'ethereum', 'ETH', $2, '[]', $1, $3, 'sweep', $1, 'sent') RETURNING id`,
    [invoice.id, invoice.address, chain.shop.id],
  );
  await chain.db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price, max_fee_units,
                          moved_units, outputs, status, success, fee_units, block_hash, height)
     SELECT $1, 1, 'ethereum', '0xf', '0x', $2, 0, '{}', 1, 42000, 0, '[]', 'mined', true, 0, hash, height
       FROM chain_cursor WHERE network = 'ethereum'`,
    [intentId, invoice.address],
  );
  expect(await lookAt(invoice)).toBeNull();
  await chain.mine();
  await chain.look();
  expect(await chain.deposits(invoice)).toEqual([]);
  await chain.db.query(`UPDATE attempt SET status = 'final', final_at = now() WHERE intent_id = $1`, [intentId]);
  await chain.db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [intentId]);
  await chain.mine();
  await chain.look();
  expect(await chain.deposits(invoice)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
});

it('B7: on our own wallet it is booked as unexplained until the follower finds and books the transfer', async () => {
  const [key] = await chain.db.query<Array<{ xpub: string }>>(
    `SELECT xpub FROM extended_key WHERE network = 'ethereum' AND role = 'treasury'`,
  );
  const hot = chain.h.api.deps.codecs.ethereum.derive(key!.xpub, 0);
  const [before] = await chain.db.query<Array<{ height: number; hash: string }>>(
    `SELECT height::int, hash FROM chain_cursor WHERE network = 'ethereum'`,
  );
  // Nothing watches the address while its block is read.
  await chain.payer.pay('ETH', hot, '0.004');
  await chain.mine(depth);
  await chain.look();
  await chain.db.query(
    `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'treasury', 0)`,
    [hot],
  );
  const compared = async (): Promise<string> => {
    const adapter = createAdapter('ethereum', { ...chain.config, ETH_RPC_URL: chain.node.url });
    const { positions } = await reconcileAssets(chain.db, [adapter], () => depth, 1);
    expect(await storePositions(chain.db, positions, chain.config.unexplainedBounds)).toEqual([]);
    const [row] = await chain.db.query(
      `SELECT trim_scale(unexplained)::text AS unexplained FROM reconciliation WHERE currency = 'ETH'`,
    );
    return row.unexplained;
  };
  const booked = (account: string): Promise<Array<{ amount: string }>> =>
    chain.db.query(
      `SELECT trim_scale(sum(CASE WHEN credit = $1 THEN amount ELSE -amount END))::text AS amount FROM posting
        WHERE asset = 'ETH' AND $1 IN (credit, debit)`,
      [account],
    );
  expect(await compared()).toBe('0');
  expect(await booked('Q:unexplained')).toEqual([{ amount: '0.004' }]);
  // The follower reads the block again, as after a restore.
  await chain.db.query(`UPDATE chain_cursor SET height = $1, hash = $2 WHERE network = 'ethereum'`, [
    before!.height,
    before!.hash,
  ]);
  chain.restart();
  await chain.look();
  expect(await chain.db.query(`SELECT allocation, status FROM deposit WHERE address = $1`, [hot])).toEqual([
    { allocation: 'capital', status: 'confirmed' },
  ]);
  expect([await booked('Q:unexplained'), await booked('Q:capital')]).toEqual([
    [{ amount: '0' }],
    [{ amount: '0.004' }],
  ]);
  await chain.mine();
  await chain.look();
  expect(await compared()).toBe('0');
  expect([await booked('Q:unexplained'), await chain.incidents()]).toEqual([[{ amount: '0' }], []]);
});
