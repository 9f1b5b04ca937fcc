import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { randomBytes, randomInt } from 'node:crypto';
import { registered, type Registered } from '../../chains/codecs';
import type { Currency, NetworkId } from '../../domain/chains/assets';
import {
  keyRoles,
  type Block,
  type ChainAdapter,
  type Transfer,
  type TransactionPlan,
} from '../../domain/chains/chain';
import { toUnits } from '../../domain/money';
import { freePort } from '../../sandbox/ports';
import { RpcProxy } from '../faults/rpc-proxy';

/** What a network's test file supplies: its adapter on a real node of its own, and hands that move the chain without
 *  the adapter. */
export type Fixture = Readonly<{
  adapter: ChainAdapter;
  /** Where the node is, and the same adapter at another place. */
  url: string;
  at(url: string): ChainAdapter;
  /** The address of a compressed public key, by other means than the adapter's. */
  addressOf(publicKey: Uint8Array): string;
  /** How else our addresses may be written. */
  respell(address: string): readonly string[];
  /** What is no address here: of other networks, with a broken checksum, a contract of the registry. */
  notAddresses: readonly string[];
  /** Somebody pays `amount` whole units; answers the transaction's id and mines nothing. */
  pay(currency: Currency, address: string, amount: string): Promise<string>;
  mine(blocks: number): Promise<unknown>;
  /** Replaces the newest blocks by others. */
  reorg(depth: number): Promise<unknown>;
  /** Who `pay` sends from. */
  payer(): Promise<string> | string;
  /** An id that no transaction has. */
  unknownId: string;
  stop(): Promise<void>;
}>;

/** The spending of one funded address: the same coins or nonce whatever the price, so that two of them exclude each
 *  other. */
type Spend = (to: string, price?: bigint) => TransactionPlan;

const seed = new Uint8Array(randomBytes(64));
const amount = '0.5';
/** Of what a node has in its pool already; Bitcoin Core takes it again. */
const again = { outcome: expect.stringMatching(/^(known|accepted)$/) as string };
const keyOf = ({ txId, index }: Transfer): string => `${txId}/${index}`;

/** What `ChainAdapter` promises, against a real node. Every network of the registry passes it; of another the entry is
 *  given. */
export function chainContract(
  network: NetworkId,
  start: () => Promise<Fixture>,
  { network: entry, assets }: Registered = registered(network),
): void {
  const { kind, native, hasMempool } = entry;
  const currencies = assets.map((asset) => asset.currency);
  const unitsOf = (currency: Currency): bigint =>
    toUnits(amount, assets.find((asset) => asset.currency === currency)!.decimals);
  let fixture: Fixture;
  let adapter: ChainAdapter;
  let used = 0;

  beforeAll(async () => {
    fixture = await start();
    adapter = fixture.adapter;
  });
  afterAll(() => fixture?.stop());

  const addressAt = (index: number): string => adapter.derive(adapter.extendedKey(seed, 'deposit'), index);
  const freshAddress = (): string => addressAt(used++);
  const newestBlock = async (): Promise<Block> => (await adapter.readBlock((await adapter.head()).height))!;
  const transfersTo = (block: Block, address: string): Transfer[] =>
    block.transfers.filter((transfer) => transfer.to === address);
  async function paid(currency: Currency): Promise<{ block: Block; transfer: Transfer }> {
    const address = freshAddress();
    await fixture.pay(currency, address, amount);
    await fixture.mine(1);
    const block = await newestBlock();
    return { block, transfer: transfersTo(block, address)[0]! };
  }

  /** Funds a fresh address; `Spend` plans what moves its value on. */
  async function funded(): Promise<Spend> {
    const key = { role: 'deposit', index: used } as const;
    const { transfer } = await paid(native);
    const size = adapter.sizeOf({ inputs: 1, outputs: 1, currency: native });
    if (kind === 'utxo') {
      const coin = { txId: transfer.txId, vout: transfer.index, units: transfer.units, address: transfer.to, key };
      return (to, price = 10n) => ({
        kind,
        coins: [coin],
        outputs: [{ address: to, units: coin.units - size * price }],
        feeUnits: size * price,
      });
    }
    const nonce = (await adapter.nextNonce(transfer.to))!;
    const usual = BigInt((await adapter.estimateFee())!.unitPrice);
    return (to, price = 10n) => ({
      kind,
      from: transfer.to,
      key,
      nonce,
      to,
      value: transfer.units / 2n,
      gasLimit: size,
      maxFeePerGas: (usual * price) / 10n,
      maxPriorityFeePerGas: (usual * price) / 10n,
    });
  }

  describe('keys and addresses', () => {
    it('derives what BIP 32 derives, from the public key alone', () => {
      for (const role of keyRoles) {
        const account = adapter.extendedKey(seed, role);
        expect(HDKey.fromExtendedKey(account).privateKey).toBeNull();
        for (const index of [0, 1, 2 ** 31 - 1, ...Array.from({ length: 200 }, () => randomInt(2 ** 31))]) {
          const branch = index % 3;
          const child = HDKey.fromExtendedKey(account).deriveChild(branch).deriveChild(index);
          const expected = fixture.addressOf(child.publicKey!);
          expect([role, index, adapter.derive(account, index, branch)]).toEqual([role, index, expected]);
          if (branch === 0) expect(adapter.derive(account, index)).toBe(expected);
        }
      }
    });

    it('gives each role addresses of its own', () => {
      const accounts = keyRoles.map((role) => adapter.extendedKey(seed, role));
      expect(new Set(accounts.map((account) => adapter.derive(account, 0))).size).toBe(keyRoles.length);
    });

    it('stores one spelling of an address', () => {
      const address = addressAt(0);
      expect(adapter.normalise(address)).toBe(address);
      const others = fixture.respell(address);
      expect(others).not.toContain(address);
      for (const other of others) expect([other, adapter.normalise(other)]).toEqual([other, address]);
    });

    it('refuses what is no address of the network', () => {
      const address = addressAt(0);
      const broken = [' ', `${address} `, `${address}0`, address.slice(0, -1), ''];
      for (const text of [...broken, ...fixture.notAddresses])
        expect([text, adapter.normalise(text)]).toEqual([text, null]);
    });
  });

  describe('blocks', () => {
    it('ends at the head, and each block names the one before', async () => {
      await fixture.mine(2);
      const head = await adapter.head();
      const [block, parent] = [await adapter.readBlock(head.height), await adapter.readBlock(head.height - 1)];
      expect(block).toMatchObject({ height: head.height, hash: head.hash, parentHash: parent!.hash });
      expect(block!.time).toBeGreaterThanOrEqual(parent!.time);
      expect(Number.isInteger(block!.time)).toBe(true);
      expect(await adapter.blockHash(head.height)).toBe(head.hash);
      expect(await adapter.readBlock(head.height + 1)).toBeNull();
      expect(await adapter.blockHash(head.height + 1)).toBeNull();
      expect(await adapter.readBlock(head.height + 1000)).toBeNull();
    });

    it.each(currencies)('finds a transfer of %s once, under one key however often it is read', async (currency) => {
      const address = freshAddress();
      const txId = await fixture.pay(currency, address, amount);
      await fixture.mine(1);
      const block = await newestBlock();
      expect(block.txIds).toContain(txId);
      expect(transfersTo(block, address)).toMatchObject([{ txId, currency, units: unitsOf(currency) }]);
      expect(new Set(block.transfers.map(keyOf)).size).toBe(block.transfers.length);
      await fixture.mine(1);
      expect(await adapter.readBlock(block.height)).toEqual(block);
      expect(await fixture.at(fixture.url).readBlock(block.height)).toEqual(block);
    });

    it('tells two payments to one address apart', async () => {
      const address = freshAddress();
      await fixture.pay(native, address, amount);
      await fixture.pay(native, address, amount);
      await fixture.mine(1);
      const found = transfersTo(await newestBlock(), address);
      expect(new Set(found.map(keyOf)).size).toBe(2);
      expect(found.map((transfer) => transfer.units)).toEqual([unitsOf(native), unitsOf(native)]);
    });

    it(`${hasMempool ? 'shows' : 'shows nothing of'} the pool`, async () => {
      const address = freshAddress();
      const txId = await fixture.pay(native, address, amount);
      const pool = await adapter.readMempool(new Set());
      const again = await adapter.readMempool(new Set([txId]));
      expect([...pool.ids]).toEqual(hasMempool ? [txId] : []);
      expect([...again.ids]).toEqual([...pool.ids]);
      expect(again.transfers).toEqual([]);
      const since = await adapter.pooledSince([txId, fixture.unknownId]);
      expect([...since.keys()]).toEqual(hasMempool ? [txId] : []);
      for (const time of since.values()) expect(Math.abs(Date.now() / 1000 - time)).toBeLessThan(120);
      await fixture.mine(1);
      const mined = transfersTo(await newestBlock(), address);
      expect(mined).toHaveLength(1);
      expect(pool.transfers.filter((transfer) => transfer.to === address)).toEqual(hasMempool ? mined : []);
      expect((await adapter.readMempool(new Set())).ids.size).toBe(0);
    });
  });

  describe('a transaction of ours', () => {
    it('is signed the same way every time, and reads back as what was signed', async () => {
      const plan = (await funded())(freshAddress());
      const signed = adapter.sign(seed, plan);
      expect(adapter.sign(seed, structuredClone(plan))).toEqual(signed);
      expect(fixture.at(fixture.url).sign(seed, plan)).toEqual(signed);
      expect(adapter.decode(signed.raw)).toEqual({
        txId: signed.txId,
        inputs: plan.kind === 'utxo' ? plan.coins.map((coin) => `${coin.txId}:${coin.vout}`) : [],
        nonce: plan.kind === 'utxo' ? null : plan.nonce,
      });
    });

    it('is not signed when its sums or its kind are wrong', async () => {
      const plan = (await funded())(freshAddress());
      const account = { role: 'deposit', index: 0 } as const;
      const faults: Array<[string, TransactionPlan]> =
        plan.kind === 'utxo'
          ? [
              ['PLAN_UNBALANCED', { ...plan, feeUnits: plan.feeUnits + 1n }],
              ['PLAN_UNBALANCED', { ...plan, feeUnits: plan.feeUnits - 1n }],
              ['PLAN_UNBALANCED', { ...plan, coins: [...plan.coins, ...plan.coins] }],
              ['PLAN_UNBALANCED', { ...plan, outputs: [] }],
              [
                'PLAN_UNBALANCED',
                { ...plan, outputs: [{ address: addressAt(0), units: plan.coins[0]!.units + 1n }], feeUnits: -1n },
              ],
              [
                'INTENT_MISMATCH',
                {
                  kind: 'account',
                  from: addressAt(0),
                  key: account,
                  nonce: 0,
                  to: addressAt(1),
                  value: 1n,
                  gasLimit: 1n,
                  maxFeePerGas: 1n,
                  maxPriorityFeePerGas: 1n,
                },
              ],
            ]
          : [
              // The native coin is not a token, and a token's transfer carries no value.
              ...currencies.map((currency): [string, TransactionPlan] => [
                'INTENT_MISMATCH',
                { ...plan, value: 1n, token: { currency, to: addressAt(1), units: 1n } },
              ]),
              ['INTENT_MISMATCH', { kind: 'utxo', coins: [], outputs: [], feeUnits: 0n }],
            ];
      for (const [code, fault] of faults)
        expect(() => adapter.sign(seed, fault)).toThrow(expect.objectContaining({ code }) as Error);
    });

    it('is not signed with a key of another address', async () => {
      const plan = (await funded())(freshAddress());
      const keys = [
        { role: 'deposit', index: used + 1 },
        { role: 'treasury', index: used - 2 },
      ] as const;
      const mismatch = expect.objectContaining({ code: 'KEY_MISMATCH' }) as Error;
      for (const key of keys) {
        const other =
          plan.kind === 'utxo' ? { ...plan, coins: plan.coins.map((coin) => ({ ...coin, key })) } : { ...plan, key };
        expect(() => adapter.sign(seed, other)).toThrow(mismatch);
      }
      expect(() => adapter.sign(new Uint8Array(64).fill(7), plan)).toThrow(mismatch);
    });

    it('is unknown, then in the pool, then mined at its fee with more and more confirmations', async () => {
      expect(await adapter.lookUp(fixture.unknownId)).toEqual({ state: 'unknown' });
      const plan = (await funded())(freshAddress());
      const { txId, raw } = adapter.sign(seed, plan);
      const before = await adapter.head();
      expect(await adapter.lookUp(txId)).toEqual({ state: 'unknown' });
      expect(await adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
      expect(await adapter.lookUp(txId)).toEqual({ state: 'pool' });
      await fixture.mine(1);
      const { height, hash } = await adapter.head();
      const paidFor =
        plan.kind === 'utxo'
          ? plan.feeUnits
          : (await adapter.holding(plan.from, native, before.height))! -
            (await adapter.holding(plan.from, native, height))! -
            plan.value;
      const mined = { state: 'mined', blockHash: hash, height, success: true, feeUnits: paidFor, moves: [] };
      expect(paidFor).toBeGreaterThan(0n);
      expect(await adapter.lookUp(txId)).toEqual({ ...mined, confirmations: 1 });
      await fixture.mine(2);
      expect(await adapter.lookUp(txId)).toEqual({ ...mined, confirmations: 3 });
    });

    it('is accepted once, then known; what spends the same is in conflict', async () => {
      const spend = await funded();
      const [first, other] = [spend(freshAddress()), spend(freshAddress())].map((plan) => adapter.sign(seed, plan));
      expect(await adapter.broadcast(first!.raw)).toEqual({ outcome: 'accepted' });
      expect(await adapter.broadcast(first!.raw)).toEqual(again);
      expect(await adapter.broadcast(other!.raw)).toMatchObject({ outcome: 'conflict', reason: expect.any(String) });
      await fixture.mine(1);
      expect(await adapter.lookUp(first!.txId)).toMatchObject({ state: 'mined' });
      expect((await adapter.broadcast(first!.raw)).outcome).toMatch(/^(known|conflict)$/);
      expect(await adapter.broadcast(other!.raw)).toMatchObject({ outcome: 'conflict' });
      expect(await adapter.lookUp(other!.txId)).toEqual({ state: 'unknown' });
    });

    it('may be replaced by one that pays more', async () => {
      const spend = await funded();
      const [first, better] = [10n, 20n].map((price) => adapter.sign(seed, spend(addressAt(0), price)));
      expect(await adapter.broadcast(first!.raw)).toEqual({ outcome: 'accepted' });
      expect(await adapter.broadcast(better!.raw)).toEqual({ outcome: 'accepted' });
      await fixture.mine(1);
      expect(await adapter.lookUp(better!.txId)).toMatchObject({ state: 'mined' });
      expect(await adapter.lookUp(first!.txId)).toEqual({ state: 'unknown' });
    });

    it('spends what the chain then counts as spent', async () => {
      const plan = (await funded())(freshAddress());
      const { raw } = adapter.sign(seed, plan);
      const left = async (): Promise<unknown> =>
        plan.kind === 'utxo' ? adapter.unspent(plan.coins[0]!.txId, plan.coins[0]!.vout) : adapter.nextNonce(plan.from);
      const before = await left();
      await adapter.broadcast(raw);
      // The pool counts for nonces and not for coins.
      expect(await left()).toBe(plan.kind === 'utxo' ? before : plan.nonce + 1);
      const { txId } = adapter.decode(raw);
      if (plan.kind === 'utxo') expect(await adapter.unspent(txId, 0)).toBe(false);
      await fixture.mine(1);
      if (plan.kind === 'utxo') {
        expect(await adapter.unspent(txId, 0)).toBe(true);
        expect([before, await left()]).toEqual([true, false]);
        expect((await newestBlock()).spent.get(`${plan.coins[0]!.txId}:${plan.coins[0]!.vout}`)).toBe(txId);
        expect(await adapter.nextNonce(addressAt(0))).toBeNull();
        expect(await adapter.holding(addressAt(0), native, 1)).toBeNull();
      } else {
        expect([before, await left()]).toEqual([plan.nonce, plan.nonce + 1]);
        expect(await adapter.unspent(fixture.unknownId, 0)).toBeNull();
      }
    });

    it('has a positive price', async () => {
      const { unitPrice, tipPrice } = (await adapter.estimateFee())!;
      expect(unitPrice).toMatch(/^\d+(\.\d+)?$/);
      expect(Number(unitPrice)).toBeGreaterThan(0);
      expect(tipPrice).toMatch(/^\d+(\.\d+)?$/);
      expect(Number(tipPrice)).toBeLessThanOrEqual(Number(unitPrice));
    });
  });

  describe('the second look before credit', () => {
    it.each(currencies)('gives the units of a transfer of %s, and nothing for what is not it', async (currency) => {
      const { block, transfer } = await paid(currency);
      const wanted = { txId: transfer.txId, index: transfer.index, to: transfer.to, currency };
      expect(await adapter.verify(wanted, block.hash)).toBe(unitsOf(currency));
      expect(await adapter.verify({ ...wanted, to: addressAt(used + 9) }, block.hash)).toBeNull();
      expect(await adapter.verify({ ...wanted, index: 9 }, block.hash)).toBeNull();
      expect(await adapter.verify({ ...wanted, txId: fixture.unknownId }, block.hash)).toBeNull();
      expect(await adapter.verify(wanted, block.parentHash)).toBeNull();
      for (const other of currencies.filter((candidate) => candidate !== currency))
        expect(await adapter.verify({ ...wanted, currency: other }, block.hash)).toBeNull();
      if (kind === 'account') {
        expect(await adapter.holding(transfer.to, currency, block.height)).toBe(unitsOf(currency));
        expect(await adapter.holding(transfer.to, currency, block.height - 1)).toBe(0n);
      }
    });

    it.each(currencies)('gives nothing for %s whose block is no longer of the chain', async (currency) => {
      const { block, transfer } = await paid(currency);
      const wanted = { txId: transfer.txId, index: transfer.index, to: transfer.to, currency };
      await fixture.mine(1);
      expect(await adapter.verify(wanted, block.hash)).toBe(unitsOf(currency));
      await fixture.reorg(2);
      expect(await adapter.blockHash(block.height)).not.toBe(block.hash);
      expect(await adapter.verify(wanted, block.hash)).toBeNull();
      const now = await adapter.lookUp(transfer.txId);
      expect(now.state === 'mined' && now.blockHash === block.hash).toBe(false);
      // Where it was mined again, it is the same transfer in another block.
      if (now.state !== 'mined') return;
      const again = await adapter.readBlock(now.height);
      expect(transfersTo(again!, transfer.to).map(keyOf)).toEqual([keyOf(transfer)]);
      expect(await adapter.verify(wanted, now.blockHash)).toBe(unitsOf(currency));
    });
  });

  it.each(currencies)('names who sent %s, and nobody for what is not there', async (currency) => {
    const { transfer } = await paid(currency);
    expect(await adapter.sources(transfer)).toEqual([await fixture.payer()]);
    expect(await adapter.sources({ txId: fixture.unknownId, index: transfer.index })).toEqual([]);
  });

  describe('a node that does not answer', () => {
    const away = expect.objectContaining({ code: 'NODE_UNREACHABLE' }) as Error;
    const transfer = () => ({ txId: fixture.unknownId, index: 0, to: addressAt(0), currency: native });
    const questions: Array<[string, (chain: ChainAdapter) => Promise<unknown>]> = [
      ['head', (chain) => chain.head()],
      ['readBlock', (chain) => chain.readBlock(1)],
      ['blockHash', (chain) => chain.blockHash(1)],
      ['lookUp', (chain) => chain.lookUp(fixture.unknownId)],
      ['sources', (chain) => chain.sources({ txId: fixture.unknownId, index: 0 })],
      ['verify', (chain) => chain.verify(transfer(), hex.encode(randomBytes(32)))],
      ['estimateFee', (chain) => chain.estimateFee()],
      ['broadcast', (chain) => chain.broadcast('00')],
    ];
    if (hasMempool) questions.push(['readMempool', (chain) => chain.readMempool(new Set())]);
    if (kind === 'utxo') questions.push(['unspent', (chain) => chain.unspent(fixture.unknownId, 0)]);
    if (kind === 'account') {
      questions.push(['nextNonce', (chain) => chain.nextNonce(addressAt(0))]);
      for (const currency of currencies)
        questions.push([`holding of ${currency}`, (chain) => chain.holding(addressAt(0), currency, 1)]);
    }

    it.each(questions)('%s throws NODE_UNREACHABLE', async (_name, ask) => {
      const gone = new URL(fixture.url);
      gone.port = String(await freePort());
      await expect(ask(fixture.at(gone.href))).rejects.toThrow(away);
      const proxy = await RpcProxy.before(fixture.url);
      try {
        for (const fault of [
          { kind: 'dropBefore' },
          { kind: 'status', status: 503 },
          { kind: 'rewrite', answer: () => ({}) },
        ] as const) {
          proxy.heal();
          proxy.arm(fault);
          await expect(ask(fixture.at(proxy.url))).rejects.toThrow(away);
        }
      } finally {
        await proxy.close();
      }
    });

    it('leaves open what became of a broadcast, which is known the next time', async () => {
      const signed = adapter.sign(seed, (await funded())(freshAddress()));
      const proxy = await RpcProxy.before(fixture.url);
      try {
        proxy.arm({ kind: 'dropAfter' }, [], 1);
        const chain = fixture.at(proxy.url);
        await expect(chain.broadcast(signed.raw)).rejects.toThrow(away);
        expect(await chain.broadcast(signed.raw)).toEqual(again);
      } finally {
        await proxy.close();
      }
      await fixture.mine(1);
      expect(await adapter.lookUp(signed.txId)).toMatchObject({ state: 'mined', confirmations: 1 });
    });
  });
}
