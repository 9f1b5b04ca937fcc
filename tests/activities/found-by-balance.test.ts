import { createAdapter } from '../../chains/adapters';
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
  expect(await chain.deposits(invoice)).toMatchObject([{ status: 'orphaned' }]);
  await gift(invoice.address, 10n ** 18n);
  await chain.mine();
  await chain.look();
  await lookAt(invoice);
  expect(await chain.deposits(invoice)).toMatchObject([{ status: 'mined', amount: '1' }]);
});
