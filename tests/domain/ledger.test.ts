import fc from 'fast-check';
import { assetOf, assets, networkOf } from '../../domain/chains/assets';
import {
  capitalJournal,
  depositJournal,
  depositKey,
  captureJournal,
  externalSweepJournal,
  gasJournal,
  depositRefundJournal,
  unallocatedJournal,
  holdJournal,
  lossJournal,
  reversal,
  reallocateJournal,
  releaseJournal,
  feeJournal,
  settleJournal,
  sweepJournal,
  type Account,
  type Journal,
} from '../../domain/ledger/ledger';
import { add, compare, fromUnits, isPositive, isZero, negate } from '../../domain/money';

type Given = {
  currency: string;
  native: string;
  network: string;
  amounts: [string, string, string];
  chainFee: string;
};
const units = fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 30n));
const given: fc.Arbitrary<Given> = fc.constantFrom(...assets).chain(({ currency, decimals, network }) =>
  fc.tuple(units, units, units, units).map(([a, b, c, fee]) => {
    const native = networkOf(currency).native;
    return {
      currency,
      native,
      network,
      amounts: [fromUnits(a, decimals), fromUnits(b, decimals), fromUnits(c, decimals)],
      chainFee: fromUnits(fee, assetOf(native).decimals),
    };
  }),
);

const merchantId = 'm';
const ref = ({ currency, network }: Given, amount: string) => ({ network, txId: 'tx', index: 3, currency, amount });
const makers: Record<string, (g: Given) => Journal> = {
  deposit: (g) => depositJournal({ ...ref(g, g.amounts[0]), merchantId }),
  hold: (g) => unallocatedJournal({ ...ref(g, g.amounts[0]), merchantId }),
  settle: ({ currency, amounts: [net, commission, network] }) =>
    settleJournal({ paymentId: 'p', merchantId, currency, net, commission, network }),
  sweep: ({ currency, native, chainFee, amounts: [moved] }) =>
    sweepJournal({ ref: 'i', currency, native, chainFee, moved }),
  externalSweep: ({ currency, native, chainFee, amounts: [net, feePart] }) =>
    externalSweepJournal({ ref: 'i', paymentId: 'p', currency, native, chainFee, merchantId, net, feePart }),
  gas: ({ native, chainFee }) => gasJournal({ intentId: 'i', native, chainFee, value: chainFee, to: 'A:deposit' }),
  reserve: ({ currency, amounts: [gross] }) => holdJournal({ kind: 'refund', id: 'r', merchantId, currency, gross }),
  release: ({ currency, amounts: [gross] }) => releaseJournal({ kind: 'refund', id: 'r', merchantId, currency, gross }),
  capture: ({ currency, native, chainFee, amounts: [net, fee] }) =>
    captureJournal({
      ...{ kind: 'refund', id: 'r', merchantId, currency, native, chainFee, net, gasFrom: 'A:treasury' },
      gross: add(net, fee),
    }),
  heldRefund: ({ currency, native, chainFee, amounts: [net, fee] }) =>
    depositRefundJournal({ id: 'r', merchantId, currency, native, chainFee, net, gross: add(net, fee) }),
  revertedFee: ({ native, chainFee }) => feeJournal({ txId: 'tx', native, chainFee, from: 'A:gas' }),
  capital: (g) => capitalJournal({ ...ref(g, g.amounts[0]), to: 'A:treasury', from: 'Q:capital' }),
  reallocate: (g) => reallocateJournal({ ...ref(g, g.amounts[0]), merchantId, from: 'unsettled' }),
  loss: (g) => lossJournal({ ...ref(g, g.amounts[0]), paymentId: 'p', from: 'A:deposit' }),
};
const names = Object.keys(makers);
const sample: Given = {
  currency: 'USDT_ERC20',
  native: 'ETH',
  network: 'ethereum',
  amounts: ['5', '3', '2'],
  chainFee: '0.1',
};

/** What each account gains, less what it loses, by account and asset. */
function changes({ postings }: Pick<Journal, 'postings'>): Map<string, string> {
  const all = new Map<string, string>();
  const move = (account: Account, asset: string, amount: string) => {
    const at = `${account} ${asset}`;
    all.set(at, add(all.get(at) ?? '0', amount));
  };
  for (const { debit, credit, asset, amount } of postings) {
    move(debit, asset, negate(amount));
    move(credit, asset, amount);
  }
  return all;
}
const run = <T>(property: fc.IProperty<T>) => fc.assert(property, { numRuns: 100 });

describe.each(names)('the %s journal', (name) => {
  const make = makers[name]!;

  it('is balanced in each asset', () => {
    run(
      fc.property(given, (g) => {
        const moved = changes(make(g));
        for (const asset of [g.currency, g.native]) {
          const ofAsset = [...moved].filter(([at]) => at.endsWith(` ${asset}`));
          expect(add('0', ...ofAsset.map(([, amount]) => amount))).toBe('0');
        }
      }),
    );
  });

  it('has no posting of nothing, none to the account it came from, and only what is positive', () => {
    run(
      fc.property(given, (g) => {
        for (const { debit, credit, asset, amount } of make(g).postings) {
          expect(isPositive(amount)).toBe(true);
          expect(debit).not.toBe(credit);
          expect([g.currency, g.native]).toContain(asset);
        }
      }),
    );
  });

  it('is dropped posting by posting where there is nothing to move', () => {
    run(
      fc.property(given, (g) => {
        const none = { ...g, amounts: ['0', '0', '0.000'] as Given['amounts'], chainFee: '0' };
        expect(make(none).postings).toEqual([]);
        expect(make(none).key).toBe(make(g).key);
      }),
    );
  });

  it('refuses each amount that is negative or finer than its asset', () => {
    const slots = ['0', '1', '2', 'chainFee'] as const;
    const withSlot = (slot: (typeof slots)[number], amount: string): Given =>
      slot === 'chainFee'
        ? { ...sample, chainFee: amount }
        : { ...sample, amounts: sample.amounts.with(Number(slot), amount) as Given['amounts'] };
    const used = slots.filter((slot) => {
      const [one, other] = [make(withSlot(slot, '7')), make(withSlot(slot, '8'))];
      return JSON.stringify(one) !== JSON.stringify(other);
    });
    expect(used).not.toEqual([]);
    for (const slot of used) {
      expect(() => make(withSlot(slot, '-1'))).toThrow(/is negative/);
      expect(() => make(withSlot(slot, '0.0000000000000000001'))).toThrow(/finer than/);
    }
  });

  it('names an entry of the statement exactly where it moves what a merchant can spend or has reserved', () => {
    const { entry, postings } = make(sample);
    const moved = postings.flatMap(({ debit, credit }) => [debit, credit]);
    if (moved.some((account) => /^L:(available|reserved):/.test(account)))
      expect(entry).toMatchObject({ sourceId: expect.any(String) as string });
    else expect(entry).toBeNull();
  });

  it('is undone by its reversal, and the reversal of that is the journal again', () => {
    run(
      fc.property(given, (g) => {
        const journal = make(g);
        const back = reversal(journal.postings, '17', journal.entry);
        expect(back.key).toBe('reversal/17');
        expect(back).toHaveProperty('postings.length', journal.postings.length);
        const both = changes({ postings: [...journal.postings, ...back.postings] });
        expect([...both.values()].every(isZero)).toBe(true);
        expect(reversal(back.postings, '18', back.entry).postings).toEqual(journal.postings);
      }),
    );
  });
});

describe('journals', () => {
  it.each([
    ['deposit', { 'A:deposit USDT_ERC20': '-5', 'L:unsettled:m USDT_ERC20': '5' }],
    ['hold', { 'A:deposit USDT_ERC20': '-5', 'L:unallocated:m USDT_ERC20': '5' }],
    [
      'settle',
      {
        'L:unsettled:m USDT_ERC20': '-10',
        'L:available:m USDT_ERC20': '5',
        'I:commission USDT_ERC20': '3',
        'I:network USDT_ERC20': '2',
      },
    ],
    [
      'sweep',
      { 'A:treasury USDT_ERC20': '-5', 'A:deposit USDT_ERC20': '5', 'E:network ETH': '-0.1', 'A:deposit ETH': '0.1' },
    ],
    [
      'externalSweep',
      {
        'L:available:m USDT_ERC20': '-5',
        'A:treasury USDT_ERC20': '-3',
        'A:deposit USDT_ERC20': '8',
        'E:network ETH': '-0.1',
        'A:deposit ETH': '0.1',
      },
    ],
    ['gas', { 'A:deposit ETH': '-0.1', 'A:gas ETH': '0.2', 'E:network ETH': '-0.1' }],
    ['revertedFee', { 'E:network ETH': '-0.1', 'A:gas ETH': '0.1' }],
    ['capital', { 'A:treasury USDT_ERC20': '-5', 'Q:capital USDT_ERC20': '5' }],
    ['reallocate', { 'L:unsettled:m USDT_ERC20': '-5', 'L:unallocated:m USDT_ERC20': '5' }],
    ['loss', { 'E:loss USDT_ERC20': '-5', 'A:deposit USDT_ERC20': '5' }],
  ])('%s credits and debits %o', (name, expected) => {
    expect(Object.fromEntries(changes(makers[name]!(sample)))).toEqual(expected);
  });

  it('of one deposit share a key whatever allocation it gets; those of others do not', () => {
    expect(makers.deposit!(sample).key).toBe(makers.hold!(sample).key);
    expect(makers.deposit!(sample).key).toBe(depositKey({ network: 'ethereum', txId: 'tx', index: 3 }));
    const keys = names
      .filter((name) => !['hold', 'externalSweep', 'release'].includes(name))
      .map((name) => makers[name]!(sample).key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('move a deposit back the way it came', () => {
    const deposit = { ...ref(sample, '5'), merchantId };
    const [there, back] = [
      reallocateJournal({ ...deposit, from: 'unsettled' }),
      reallocateJournal({ ...deposit, from: 'unallocated' }),
    ];
    expect(reversal(there.postings, '1', there.entry).postings).toEqual(back.postings);
  });

  it('take the finest amount of an asset and refuse one digit more', () => {
    for (const { currency, decimals, network } of assets) {
      const deposit = (amount: string) =>
        depositJournal({ network, txId: 't', index: 0, currency, amount, merchantId });
      const finest = fromUnits(1n, decimals);
      expect(deposit(finest).postings[0]!.amount).toBe(finest);
      expect(compare(finest, '0')).toBe(1);
      expect(() => deposit(fromUnits(1n, decimals + 1))).toThrow(RangeError);
    }
  });

  it('refuse a currency that the registry has not', () => {
    expect(() => makers.deposit!({ ...sample, currency: 'DOGE' })).toThrow(/DOGE/);
  });
});
