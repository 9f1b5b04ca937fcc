/** @jest-environment node */
import { adapterOf } from '../../chains/adapters';
import { registered } from '../../chains/codecs';
import { checkNode } from '../../chains/node-check';
import { blockOf } from '../../chains/xrpl/adapter';
import { signFields } from '../../chains/xrpl/signing';
import type { ChainAdapter, TransactionPlan } from '../../domain/chains/chain';
import { xrplNetwork } from './expiring-networks';
import { simulatedXrpl, xrp, type Person, type SimulatedXrpl } from './xrpl-network';

/** What `ChainAdapter` promises, of the XRP Ledger: its own contract, for it has no reorganisations, no nonces and no
 *  pool that anybody could read. */

const settings = { chainNames: { xrpl: 'simulator' }, chainIds: {}, tokenContracts: {}, sweepers: {} };
const at = (url: string): ChainAdapter => adapterOf(registered('xrpl'), settings, { url });
let net: SimulatedXrpl;
let adapter: ChainAdapter;
let payer: Person;
let shop: Person;
beforeAll(async () => {
  net = await simulatedXrpl();
  adapter = at(net.part.url);
  payer = await net.funded(1, xrp(1000));
  shop = await net.funded(2);
});
afterAll(() => net.end());

const newest = async () => (await adapter.readBlock((await adapter.head()).height))!;

it('ends at the newest validated ledger, which is final, and each names the one before', async () => {
  await net.close(3);
  const head = await adapter.head();
  expect(await adapter.finalHeight()).toBe(head.height);
  const block = await newest();
  expect(block).toMatchObject({ height: head.height, hash: head.hash, time: head.time });
  expect(await adapter.blockHash(head.height)).toBe(head.hash);
  expect(await adapter.blockHash(head.height - 1)).toBe(block.parentHash);
  expect([await adapter.blockHash(head.height + 1), await adapter.readBlock(head.height + 1)]).toEqual([null, null]);
});

it('finds a payment with its tag and one without, under one key each', async () => {
  const tagged = await net.pay(payer, { to: shop.address, drops: xrp(3), tag: '7' });
  const plain = await net.pay(payer, { to: shop.address, drops: xrp(2) });
  await net.close();
  const { hash, transfers, txIds, traces } = await newest();
  const common = { to: shop.address, currency: 'XRP', inputs: [], index: expect.any(Number) };
  expect(transfers).toEqual([
    { ...common, txId: tagged.txId, tag: '7', units: xrp(3) },
    { ...common, txId: plain.txId, units: xrp(2) },
  ]);
  expect(txIds).toEqual([tagged.txId, plain.txId]);
  expect(traces).toBeUndefined();
  const [one, other] = transfers.map((transfer) => ({ ...transfer, currency: 'XRP' }));
  expect(await adapter.verify(one!, hash)).toBe(xrp(3));
  expect(await adapter.verify(other!, hash)).toBe(xrp(2));
  const { tag: _, ...untagged } = one!;
  for (const wrong of [untagged, { ...one!, tag: '8' }, { ...other!, tag: '7' }, { ...one!, to: payer.address }])
    expect(await adapter.verify(wrong, hash)).toBeNull();
  expect(await adapter.verify(one!, 'A'.repeat(64))).toBeNull();
  expect(await adapter.sources(one!)).toEqual([payer.address]);
  expect(await adapter.sources({ txId: 'A'.repeat(64), index: 0 })).toEqual([]);
});

it('knows of a transaction that it waits, is mined, or has failed in its ledger', async () => {
  expect(await adapter.lookUp('A'.repeat(64))).toEqual({ state: 'unknown' });
  const { txId } = await net.pay(payer, { to: shop.address, drops: xrp(1) });
  expect(await adapter.lookUp(txId)).toEqual({ state: 'pool' });
  await net.close(3);
  expect(await adapter.lookUp(txId)).toMatchObject({
    ...{ state: 'mined', success: true, feeUnits: 10n, confirmations: 3, moves: [] },
    blockHash: await adapter.blockHash((await adapter.head()).height - 2),
  });
  const failing = await net.pay(payer, { to: net.person(60).address, drops: 5n });
  expect(failing.result).toMatch(/^tec/);
  await net.close();
  expect(await adapter.lookUp(failing.txId)).toMatchObject({ state: 'mined', success: false, feeUnits: 10n });
  expect((await newest()).transfers).toEqual([]);
});

it('tells what an account held in a ledger of before', async () => {
  const { height } = await adapter.head();
  const before = (await adapter.holding(shop.address, 'XRP', height))!;
  await net.pay(payer, { to: shop.address, drops: xrp(4) });
  await net.close();
  expect(await adapter.holding(shop.address, 'XRP', height + 1)).toBe(before + xrp(4));
  expect(await adapter.holding(shop.address, 'XRP', height)).toBe(before);
  expect(await adapter.holding(net.person(61).address, 'XRP', height)).toBe(0n);
});

it('has no nonces, coins or pool to read, and signs nothing that does not end', async () => {
  const nothing = { ids: new Set(), read: new Set(), failed: new Map(), transfers: [] };
  expect(await adapter.readMempool(new Set())).toEqual(nothing);
  expect(await adapter.pooledSince([])).toEqual(new Map());
  expect([await adapter.nextNonce(payer.address), await adapter.unspent('A', 0)]).toEqual([null, null]);
  expect(() => adapter.sign(new Uint8Array(64), {} as TransactionPlan)).toThrow(
    expect.objectContaining({ code: 'INTENT_MISMATCH' }),
  );
});

it('reads back what it has sent, and puts the tag into the payment URI', async () => {
  const { raw, txId } = await net.sign(payer, { to: shop.address });
  expect(adapter.decode(raw)).toEqual({ txId, inputs: [], nonce: null });
  expect(await adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
  expect(adapter.paymentUri(shop.address, 'XRP', '1.5', undefined, '7')).toBe(`xrpl:${shop.address}?amount=1.5&dt=7`);
  expect(adapter.paymentUri(shop.address, 'XRP', '1.5')).toBe(`xrpl:${shop.address}?amount=1.5`);
});

it('says of what the node tells in two ways that it is nothing that anybody knows', async () => {
  const { height } = await adapter.head();
  const ledger = (await net.node.readLedger(height))!;
  const unclear = { txId: 'B'.repeat(64), index: 1, to: shop.address, units: 5n, tag: '7', reason: 'two amounts' };
  expect(blockOf('XRP', { ...ledger, transfers: [], unclear: [unclear] }).transfers).toEqual([
    { txId: unclear.txId, index: 1, to: shop.address, tag: '7', currency: null, units: 5n, inputs: [] },
  ]);
});

it('does not count as fresh while its node does not follow', async () => {
  expect(await adapter.sync()).toMatchObject({ missing: 0, isApart: false });
  await net.order({ order: 'stand_still' });
  expect(await adapter.sync()).toMatchObject({ isApart: true });
  await net.order({ order: 'go_on' });
});

it('is asked by the doctor whether it is of its network', async () => {
  const states = async (url: string) =>
    (await checkNode(xrplNetwork.id, settings, { url })).map(({ state, what }) => [state, what]);
  const other = await simulatedXrpl(2000);
  try {
    expect(await states(net.part.url)).toEqual([
      ['good', expect.stringContaining('The node is on network 55555')],
      ['good', 'It keeps the ledgers that a follower may have missed'],
    ]);
    expect(await states(other.part.url)).toEqual([['fault', 'The node is on network 2000, not on 55555']]);
  } finally {
    await other.end();
  }
});

it('throws where its node does not answer', async () => {
  const away = at('http://127.0.0.1:1');
  for (const asked of [() => away.head(), () => away.lookUp('A'.repeat(64)), () => away.estimateFee()])
    await expect(asked()).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
});

it('has its node refuse what is signed for another network', async () => {
  const fields = { TransactionType: 'Payment', Account: payer.address, Destination: shop.address, Amount: '1' };
  const { raw } = signFields({ ...fields, Fee: '10', Sequence: 1, NetworkID: 2000 }, payer.pair.privateKey);
  expect(await adapter.broadcast(raw)).toMatchObject({ outcome: 'refused' });
});
