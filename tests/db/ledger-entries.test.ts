import fc from 'fast-check';
import type { DataSource, EntityManager } from 'typeorm';
import { audit } from '../../db/audit/audit';
import { post, reverse } from '../../db/ledger/ledger';
import { newId } from '../../domain/ids';
import {
  type Account,
  available,
  captureJournal,
  holdJournal,
  internalConversionJournal,
  type Journal,
  releaseJournal,
  reserved,
  settleJournal,
  unsettled,
} from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { add } from '../../domain/money';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** The account statement, which posting writes beside the balances. Contract: G7. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const inTx = <T>(act: (tx: EntityManager) => Promise<T>): Promise<T> => db.transaction(act);
const move = (debit: Account, credit: Account, amount: string, asset = 'BTC') => ({ debit, credit, asset, amount });
const postNow = (key: string, postings: Journal['postings'], entry: Journal['entry'] = adjustment) =>
  inTx((tx) => post(tx, { key, entry, postings }));

type Entry = Record<
  'seq' | 'merchant_id' | 'asset' | 'type' | 'amount' | 'reserved_change' | 'balance_after' | 'reserved_after',
  string
> &
  Record<'source_type' | 'source_id' | 'tx_id' | 'reversal_of' | 'fiat_currency' | 'fiat_rate', string | null>;
const entriesOf = (merchantId: string): Promise<Entry[]> =>
  db.query(
    `SELECT seq::text, merchant_id, asset, type, trim_scale(amount)::text AS amount,
       trim_scale(reserved_change)::text AS reserved_change,
       trim_scale(balance_after)::text AS balance_after, trim_scale(reserved_after)::text AS reserved_after,
       source_type, source_id, tx_id,
       reversal_of::text, fiat_currency, trim_scale(fiat_rate)::text AS fiat_rate
       FROM ledger_entry e WHERE merchant_id = $1 ORDER BY e.seq`,
    [merchantId],
  );

/** Every entry's balances are the sums up to it, the last ones are the balance rows, and every journal that moved them
 *  is there. */
async function expectExact(merchantId: string): Promise<void> {
  const sums = new Map<string, { balance: string; reserved: string }>();
  for (const entry of await entriesOf(merchantId)) {
    const before = sums.get(entry.asset) ?? { balance: '0', reserved: '0' };
    const after = {
      balance: add(before.balance, entry.amount),
      reserved: add(before.reserved, entry.reserved_change),
    };
    expect({ seq: entry.seq, ...after }).toEqual({
      seq: entry.seq,
      balance: entry.balance_after,
      reserved: entry.reserved_after,
    });
    sums.set(entry.asset, after);
  }
  const rows = await db.query<Array<{ asset: string; balance: string; reserved: string }>>(
    `SELECT asset, trim_scale(coalesce(sum(amount) FILTER (WHERE account = $1), 0))::text AS balance,
       trim_scale(coalesce(sum(amount) FILTER (WHERE account = $2), 0))::text AS reserved
       FROM balance WHERE account IN ($1, $2) GROUP BY asset`,
    [available(merchantId), reserved(merchantId)],
  );
  for (const { asset, balance, reserved: held } of rows)
    expect({ asset, balance, reserved: held }).toEqual({
      asset,
      ...(sums.get(asset) ?? { balance: '0', reserved: '0' }),
    });
  const missing = await db.query(
    `SELECT journal_id, asset FROM (
       SELECT journal_id, asset, debit AS account, -amount AS delta FROM posting UNION ALL SELECT journal_id, asset,
         credit, amount FROM posting) m
      WHERE account IN ($1, $2) GROUP BY journal_id, asset, account HAVING sum(delta) <> 0
     EXCEPT SELECT journal_id, asset FROM ledger_entry WHERE merchant_id = $3`,
    [available(merchantId), reserved(merchantId), merchantId],
  );
  expect(missing).toEqual([]);
}

it('has a running balance that is the sum of its amounts at every seq, whatever is posted at once', async () => {
  const merchants = Array.from({ length: 2 }, newId);
  const accounts = merchants.flatMap((id) => [available(id), reserved(id), unsettled(id)]);
  const posting = fc
    .record({
      debit: fc.constantFrom<Account>('Q:capital', 'Q:capital', ...accounts),
      credit: fc.constantFrom<Account>('A:treasury', ...accounts, ...accounts),
      asset: fc.constantFrom('BTC', 'ETH'),
      amount: fc.integer({ min: 1, max: 400 }).map((n) => `0.${String(n).padStart(8, '0')}`),
    })
    .filter(({ debit, credit }) => debit !== credit);
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ postings: fc.array(posting, { minLength: 1, maxLength: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ undo: fc.nat(30) }) },
  );
  let refused = 0;
  let posted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const keys: string[] = [];
      const act = async (one: (typeof steps)[number]): Promise<void> => {
        if ('postings' in one) {
          const key = `random/${newId()}`;
          await postNow(key, one.postings);
          keys.push(key);
        } else if (keys.length) await inTx((tx) => reverse(tx, keys[one.undo % keys.length]!));
        posted += 1;
      };
      const queue = [...steps];
      const worker = async (): Promise<void> => {
        for (let one = queue.shift(); one; one = queue.shift())
          await act(one).catch((error: { code?: string }) => {
            // Two reversals of one journal at once: the second is refused by the unique key, as it should be.
            expect(['INSUFFICIENT_FUNDS', '40P01', '55P03', '23505']).toContain(error.code);
            refused += 1;
          });
      };
      await Promise.all(Array.from({ length: 6 }, worker));
      for (const id of merchants) await expectExact(id);
    }),
    { numRuns: 12 },
  );
  expect(posted).toBeGreaterThan(refused / 4);
  expect(refused).toBeGreaterThan(0);
});

it('says what each entry is', async () => {
  const id = newId();
  const [payment, withdrawal, payoutLine, batch] = [newId(), newId(), newId(), newId()];
  await postNow('payment/in', [move('Q:capital', unsettled(id), '10')]);
  await inTx((tx) =>
    post(
      tx,
      settleJournal({
        ...{ paymentId: payment, merchantId: id, currency: 'BTC', net: '9', commission: '1', network: '0' },
        fiatCurrency: 'EUR',
        fiatRate: '50000',
        txId: 'aa',
      }),
    ),
  );
  const held = { id: withdrawal, kind: 'withdrawal', merchantId: id, currency: 'BTC', gross: '2' } as const;
  await inTx((tx) => post(tx, holdJournal(held)));
  const paid = { net: '2', native: 'BTC', chainFee: '0', gasFrom: 'A:treasury', txId: 'bb' } as const;
  await inTx((tx) => post(tx, captureJournal({ ...held, ...paid })));
  const line = { id: payoutLine, sourceId: batch, kind: 'leg', merchantId: id, currency: 'BTC', gross: '3' } as const;
  await inTx((tx) => post(tx, holdJournal(line)));
  await inTx((tx) => post(tx, releaseJournal(line)));
  const exchanged = { fromCurrency: 'BTC', toCurrency: 'ETH', fromAmount: '4', commission: '0', net: '4', out: '60' };
  await inTx((tx) => post(tx, internalConversionJournal({ id: 'c1', merchantId: id, ...exchanged })));
  await postNow('fix/1', [move('Q:capital', available(id), '0.5')]);
  await inTx((tx) => reverse(tx, 'fix/1'));
  await inTx((tx) => reverse(tx, 'fix/1')); // once
  const entries = await entriesOf(id);
  const short = entries.map((e) => [
    e.type,
    e.asset,
    e.amount,
    e.reserved_change,
    e.balance_after,
    e.reserved_after,
    e.source_type,
    e.source_id,
    e.tx_id,
  ]);
  expect(short).toEqual([
    ['payment_credit', 'BTC', '9', '0', '9', '0', 'payment', payment, 'aa'],
    ['reserve', 'BTC', '-2', '2', '7', '2', 'withdrawal', withdrawal, null],
    ['withdrawal', 'BTC', '0', '-2', '7', '0', 'withdrawal', withdrawal, 'bb'],
    ['reserve', 'BTC', '-3', '3', '4', '3', 'massPayout', batch, null],
    ['release', 'BTC', '3', '-3', '7', '0', 'massPayout', batch, null],
    ['conversion_debit', 'BTC', '-4', '0', '3', '0', 'conversion', 'c1', null],
    ['conversion_credit', 'ETH', '60', '0', '60', '0', 'conversion', 'c1', null],
    ['adjustment', 'BTC', '0.5', '0', '3.5', '0', 'adjustment', null, null],
    ['reversal', 'BTC', '-0.5', '0', '3', '0', 'adjustment', null, null],
  ]);
  expect(entries[0]).toMatchObject({ fiat_currency: 'EUR', fiat_rate: '50000' });
  expect(entries.at(-1)!.reversal_of).toBe(entries.at(-2)!.seq);
  await expectExact(id);
});

it('is for ever', async () => {
  for (const change of [
    'UPDATE ledger_entry SET amount = amount + 1',
    'DELETE FROM ledger_entry',
    'TRUNCATE ledger_entry',
  ])
    await expect(db.query(change)).rejects.toMatchObject({ code: 'CP001' });
});

it('is looked at by the audit', async () => {
  const ofTheEntries = async () =>
    (await audit(db, { settleMs: 0 })).filter(({ invariant }) => ['I1', 'I3'].includes(invariant));
  expect(await ofTheEntries()).toEqual([]);
  const id = newId();
  await db.query(
    `INSERT INTO ledger_entry (journal_id, merchant_id, asset, type, amount, reserved_change, balance_after,
       reserved_after, source_type)
     VALUES (1, $1, 'BTC', 'adjustment', 1, 0, 2, 0, 'adjustment')`,
    [id],
  );
  const [violation] = await ofTheEntries();
  expect(violation).toMatchObject({ invariant: 'I3', what: 'the book of a merchant does not add up' });
  expect(violation!.found).toHaveLength(2);
});

it('takes type and source from the journal, whatever its key', async () => {
  const id = newId();
  const source = newId();
  const entry = { type: 'payment_credit', sourceType: 'payment', sourceId: source } as const;
  const key = `conversion/${newId()}/hold/end`;
  await inTx((tx) => post(tx, { key, entry, postings: [move('Q:capital', available(id), '2')] }));
  await inTx((tx) => reverse(tx, key));
  const said = (await entriesOf(id)).map((e) => [e.type, e.amount, e.source_type, e.source_id]);
  expect(said).toEqual([
    ['payment_credit', '2', 'payment', source],
    ['reversal', '-2', 'payment', source],
  ]);
});

it('refuses to move a balance without an entry, and an entry without a source', async () => {
  const id = newId();
  const postings = [move('Q:capital', available(id), '2')];
  await expect(inTx((tx) => post(tx, { key: newId(), entry: null, postings }))).rejects.toMatchObject({
    code: 'CP006',
  });
  const nameless = { type: 'refund', sourceType: 'refund', sourceId: null } as const;
  await expect(inTx((tx) => post(tx, { key: newId(), entry: nameless, postings }))).rejects.toMatchObject({
    code: '23514',
  });
  await inTx((tx) => post(tx, { key: newId(), entry: null, postings: [move('Q:capital', unsettled(id), '2')] }));
  expect(await entriesOf(id)).toEqual([]);
});
