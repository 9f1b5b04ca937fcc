import { transfersOf } from '../../chains/xrpl/transfers';

/** What of a validated transaction is a deposit. The metadata are our own, with the fields that the page metadata of
 *  xrpl.org names. */

type Fields = Record<string, unknown>;
const txId = 'A'.repeat(64);
const us = 'rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY';
const payer = 'rf1BiGeXwwQoi8Z2ueFYTEXSwuJYfV2Jpn';
const maker = 'rLczgQHxPhWtjkaQqn3Q6UM8AbRbbRvs5K';

const root = (Account: string, before: string, after: string): Fields => ({
  ModifiedNode: {
    LedgerEntryType: 'AccountRoot',
    FinalFields: { Account, Balance: after, Flags: 0, OwnerCount: 0, Sequence: 2 },
    PreviousFields: { Balance: before },
  },
});
const created = (Account: string, Balance: string): Fields => ({
  CreatedNode: { LedgerEntryType: 'AccountRoot', NewFields: { Account, Balance, Sequence: 9 } },
});
const paid = [root(payer, '5000012', '4000000'), root(us, '7000000', '8000000')];
const payment = (more: Fields = {}): Fields => ({
  TransactionType: 'Payment',
  Account: payer,
  Destination: us,
  DeliverMax: '1000000',
  Fee: '12',
  ...more,
});
const metaOf = (nodes: readonly Fields[], more: Fields = {}): Fields => ({
  AffectedNodes: nodes,
  TransactionIndex: 0,
  TransactionResult: 'tesSUCCESS',
  delivered_amount: '1000000',
  ...more,
});
const nothing = { transfers: [], unclear: [] };

it('takes a payment with its tag, with the tag 0, and without one', () => {
  const of = (more: Fields): unknown => transfersOf(txId, payment(more), metaOf(paid)).transfers;
  const one = { txId, index: 1, from: payer, to: us, units: 1_000_000n, type: 'Payment' };
  expect(of({ DestinationTag: 4294967295 })).toEqual([{ ...one, tag: '4294967295' }]);
  expect(of({ DestinationTag: 0 })).toEqual([{ ...one, tag: '0' }]);
  expect(of({})).toEqual([{ ...one, tag: null }]);
  // A tag of the sender is none of ours.
  expect(of({ SourceTag: 5 })).toEqual([{ ...one, tag: null }]);
});

it('takes the payment that makes the account', () => {
  const meta = metaOf([root(payer, '5000012', '4000000'), created(us, '1000000')]);
  expect(transfersOf(txId, payment(), meta).transfers).toMatchObject([{ to: us, units: 1_000_000n }]);
});

it('takes of a partial payment what was delivered, whatever it claims', () => {
  const wish = payment({ DeliverMax: '1000000000000', Amount: '1000000000000', Flags: 0x8002_0000, DestinationTag: 5 });
  const nodes = [root(payer, '5000012', '5000000'), root(maker, '9000000', '8999999'), root(us, '7000000', '7000001')];
  expect(transfersOf(txId, wish, metaOf(nodes, { delivered_amount: '1' }))).toMatchObject({
    transfers: [{ to: us, units: 1n, tag: '5' }],
    unclear: [],
  });
});

it('credits nothing for tokens', () => {
  const token = { currency: 'XRP', issuer: maker, value: '1000000' };
  const line = {
    ModifiedNode: {
      LedgerEntryType: 'RippleState',
      FinalFields: { Account: us, Balance: { ...token, value: '1000000' } },
      PreviousFields: { Balance: { ...token, value: '0' } },
    },
  };
  const nodes = [root(payer, '5000012', '5000000'), line];
  const meta = metaOf(nodes, { delivered_amount: token });
  expect(transfersOf(txId, payment({ DeliverMax: token }), meta)).toEqual(nothing);
});

it('credits nothing that failed, though it is in the ledger', () => {
  const failed = metaOf(paid, { TransactionResult: 'tecPATH_PARTIAL' });
  expect(transfersOf(txId, payment(), failed)).toEqual(nothing);
});

it('credits nothing where payment and balance differ, and says so', () => {
  for (const delivered of ['999999', '1000001', 'unavailable', undefined, 1_000_000, { value: '1000000' }]) {
    const { transfers, unclear } = transfersOf(txId, payment(), metaOf(paid, { delivered_amount: delivered }));
    expect(transfers).toEqual([]);
    expect(unclear).toMatchObject([{ txId, to: us, units: 1_000_000n }]);
    expect(unclear[0]!.reason).toMatch(/^delivered_amount is .* the balance rose by 1000000/);
  }
  // It says that it paid, and no balance rose.
  expect(transfersOf(txId, payment(), metaOf([root(payer, '5000012', '4000000')]))).toEqual(nothing);
});

it('takes what other transactions deliver, by the balance, with the tag that they carry', () => {
  const gone = (LedgerEntryType: string, FinalFields: Fields): Fields => ({
    DeletedNode: { LedgerEntryType, FinalFields },
  });
  const other = (type: string, more: Fields, extra: readonly Fields[]): unknown =>
    transfersOf(
      txId,
      { TransactionType: type, Account: payer, Fee: '12', ...more },
      metaOf([...extra, root(us, '7000000', '7500000'), root(payer, '12', '0')], { delivered_amount: undefined }),
    ).transfers;
  const one = { txId, index: 1, from: payer, to: us, units: 500_000n };
  const escrow = gone('Escrow', { Account: maker, Destination: us, DestinationTag: 77, Amount: '500000' });
  expect(other('EscrowFinish', { Owner: maker, OfferSequence: 7 }, [escrow])).toEqual([
    { ...one, type: 'EscrowFinish', tag: '77' },
  ]);
  const channel = gone('PayChannel', { Account: payer, Destination: us, DestinationTag: 78, Amount: '500000' });
  expect(other('PaymentChannelClaim', { Channel: txId }, [channel])).toEqual([
    { ...one, type: 'PaymentChannelClaim', tag: '78' },
  ]);
  // An escrow to somebody else beside it tells nothing of our tag.
  const strange = gone('Escrow', { Account: maker, Destination: maker, DestinationTag: 77 });
  expect(other('AccountDelete', { Destination: us, DestinationTag: 13 }, [strange])).toEqual([
    { ...one, type: 'AccountDelete', tag: '13' },
  ]);
  expect(other('VaultDelete', {}, [strange])).toEqual([{ ...one, type: 'VaultDelete', tag: null }]);
});

it('takes nothing that an account brings itself, and no balance that fell', () => {
  const cashed = [root(us, '7000000', '7999988'), root(payer, '5000000', '4000000')];
  const check = { TransactionType: 'CheckCash', Account: us, Fee: '12' };
  expect(transfersOf(txId, check, metaOf(cashed))).toEqual(nothing);
});

it('refuses shapes that no node answers with', () => {
  const wrong: ReadonlyArray<[transaction: Fields, meta: Fields]> = [
    [payment(), metaOf([root(us, '7000000', '8e6')])],
    [payment(), metaOf([root(us, '-1', '8000000')])],
    [payment(), metaOf([root(us, '7000000', '0100')])],
    [payment(), metaOf([root(us, '7000000', '100000000000000001')])],
    [payment({ DestinationTag: '5' }), metaOf(paid)],
    [payment({ DestinationTag: 2 ** 32 }), metaOf(paid)],
    [payment({ DestinationTag: -1 }), metaOf(paid)],
    [payment({ Account: undefined }), metaOf(paid)],
    [payment(), metaOf(paid, { AffectedNodes: undefined })],
    [payment(), metaOf(paid, { TransactionResult: 0 })],
  ];
  for (const [transaction, meta] of wrong)
    expect(() => transfersOf(txId, transaction, meta)).toThrow(expect.objectContaining({ code: 'NODE_UNREACHABLE' }));
});
