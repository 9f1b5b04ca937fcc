import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { invoiceMoves, invoiceStates, type InvoiceState } from '../../domain/lightning/invoice-states';
import { newId } from '../../domain/ids';
import { connectionsTo, freshDatabase, urlFor, type Database } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { insertMerchant } from '../merchant-row';

/** Rows of Lightning invoices, as the database keeps them: the moves of `invoiceMoves` and no other, one decision and
 *  one end, and a payment that keeps still while its money is being taken. */

let database: Database;
let db: DataSource;
let chain: DataSource;
const merchantId = newId();
beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  chain = await connectionsTo(urlFor(database.url, 'chain')).initialize();
  await insertMerchant(db, merchantId);
});
afterAll(async () => {
  await chain?.destroy();
  await db?.destroy();
  await database?.drop();
});

type Row = Readonly<Record<string, unknown>>;
async function aPayment(more: Row = {}): Promise<string> {
  const id = newId();
  const row: Row = {
    ...{ id, merchant_id: merchantId, slug: id, status: 'WAITING', source: 'api', fiat_amount: 10 },
    ...{ fiat_currency: 'USD', fee_bearer: 'merchant', fee_bps: 40, tolerance_pct: 1, underpaid_policy: 'hold' },
    ...{ expires_at: 'now', expires_in: 3600, currency: 'BTC', amount: 0.0001 },
    ...more,
  };
  await insert('payment', row);
  return id;
}
const insert = (table: string, row: Row, to: Pick<DataSource, 'query'> = db): Promise<unknown> =>
  to.query(
    `INSERT INTO ${table} (${Object.keys(row).join(', ')})
     VALUES (${Object.keys(row)
       .map((_, n) => `$${n + 1}`)
       .join(', ')})`,
    Object.values(row),
  );

let made = 0;
const newHash = (): string => (made += 1).toString(16).padStart(64, '0');
/** What a row in a state must have beside it. */
const rest = (state: InvoiceState): Row => ({
  state,
  ...(state === 'planned' ? {} : { hash: newHash(), invoice: 'lnbcrt1x' }),
  ...(['planned', 'open', 'held'].includes(state)
    ? {}
    : { decision: state.startsWith('tak') ? 'take' : 'return', why: 'whole', decided_at: 'now' }),
  ...(state === 'taken' ? { taken_msat: 5_000_000, is_for_payment: true } : {}),
  ...(state === 'taking' ? { is_for_payment: true } : {}),
  ...(state === 'taken' || state === 'cancelled' ? { over_at: 'now' } : {}),
});
const planned = (paymentId: string): Row => ({
  ...{ id: newId(), payment_id: paymentId, currency: 'BTC', asked_msat: 10_000_000, expires_at: 'tomorrow' },
});
/** A row in a state to which it came step by step. */
async function anInvoice(state: InvoiceState, paymentId?: string): Promise<string> {
  const row = planned(paymentId ?? (await aPayment()));
  await unguarded(db, (tx) => insert('lightning_invoice', { ...row, ...rest(state) }, tx));
  return row['id'] as string;
}
const change = (id: string, columns: Row): Promise<unknown> =>
  db.query(
    `UPDATE lightning_invoice SET ${Object.keys(columns)
      .map((name, n) => `${name} = $${n + 2}`)
      .join(', ')} WHERE id = $1`,
    [id, ...Object.values(columns)],
  );
const read = async (id: string): Promise<Row> =>
  (await db.query<Row[]>('SELECT * FROM lightning_invoice WHERE id = $1', [id]))[0]!;
const illegal = { code: 'CP012' };

it('begins as planned, for whole satoshi, and one at a time', async () => {
  const paymentId = await aPayment();
  await insert('lightning_invoice', planned(paymentId));
  await expect(insert('lightning_invoice', planned(paymentId))).rejects.toThrow('lightning_invoice_one_undecided');
  const other = planned(await aPayment());
  for (const state of invoiceStates.filter((one) => one !== 'planned'))
    await expect(insert('lightning_invoice', { ...other, ...rest(state) })).rejects.toMatchObject(illegal);
  await expect(insert('lightning_invoice', { ...other, hash: newHash() })).rejects.toMatchObject(illegal);
  await expect(insert('lightning_invoice', { ...other, asked_msat: 1 })).rejects.toThrow('asked_msat');
});

const pairs = invoiceStates.flatMap((from) => invoiceStates.map((to) => [from, to] as const));
it.each(pairs.filter(([from, to]) => from !== to))(
  '%s to %s is allowed exactly where it is legal',
  async (from, to) => {
    const id = await anInvoice(from);
    const before = await read(id);
    const isNew = ([column]: [string, unknown]): boolean => before[column] === null || before[column] === false;
    const moved = change(id, { ...Object.fromEntries(Object.entries(rest(to)).filter(isNew)), state: to });
    if (invoiceMoves[from].includes(to) && !(to === 'taken' && from === 'cancelling')) {
      await moved;
      expect(await read(id)).toMatchObject({ state: to });
      return;
    }
    if (to === 'taken' && from === 'cancelling') {
      // Somebody took what was to go back: it is not the payment's.
      await expect(moved).rejects.toMatchObject(illegal);
      await change(id, { state: to, taken_msat: 5_000_000, over_at: 'now' });
      return;
    }
    const isOver = before['over_at'] !== null;
    await expect(moved).rejects.toMatchObject({ code: isOver ? 'CP010' : 'CP012' });
    expect(await read(id)).toEqual(before);
  },
);

it('keeps what was asked, its hash, its text and what was decided', async () => {
  const id = await anInvoice('held');
  for (const [column, value] of [
    ['asked_msat', 20_000_000],
    ['payment_id', await aPayment()],
    ['currency', 'ETH'],
    ['expires_at', 'infinity'],
    ['hash', newHash()],
    ['hash', null],
    ['invoice', 'lnbcrt1y'],
  ] as const)
    await expect(change(id, { [column]: value })).rejects.toMatchObject(illegal);
  await db.query(`SELECT decide_lightning($1, 'return', 'late')`, [id]);
  for (const [column, value] of [
    ['why', 'other'],
    ['decided_at', 'epoch'],
    ['decision', 'take'],
  ] as const)
    await expect(change(id, { [column]: value })).rejects.toMatchObject(illegal);
});

it('is never deleted', async () => {
  await expect(db.query('DELETE FROM lightning_invoice')).rejects.toMatchObject({ code: 'CP001' });
});

describe('the decision', () => {
  const decide = async (id: string, decision: string, why = 'whole', by: DataSource = chain): Promise<string> =>
    (await by.query<Array<{ said: string }>>('SELECT decide_lightning($1, $2, $3) AS said', [id, decision, why]))[0]!
      .said;

  it('is made once: the second gets the first', async () => {
    const id = await anInvoice('held');
    expect(await decide(id, 'take')).toBe('take');
    const first = await read(id);
    expect(first).toMatchObject({ state: 'taking', decision: 'take', is_for_payment: true, why: 'whole' });
    expect(await decide(id, 'return', 'not wanted')).toBe('take');
    expect(await read(id)).toEqual(first);
  });

  it('is one of many that are made at once', async () => {
    for (let n = 0; n < 10; n += 1) {
      const id = await anInvoice('held');
      const said = await Promise.all(
        Array.from({ length: 8 }, (_, one) => decide(id, one % 2 ? 'take' : 'return', `${one}`)),
      );
      expect(new Set(said).size).toBe(1);
      expect((await read(id))['decision']).toBe(said[0]);
    }
  });

  it('sends money back for a payment that does not wait for it', async () => {
    for (const more of [
      { currency: 'ETH' },
      { status: 'CONFIRMING' },
      { currency: null, amount: null, status: 'AWAITING_CURRENCY' },
    ]) {
      const id = await anInvoice('held', await aPayment(more));
      expect(await decide(id, 'take')).toBe('return');
      expect(await read(id)).toMatchObject({ state: 'cancelling', why: 'not wanted', is_for_payment: false });
    }
  });

  it('sends money back once the other half was paid on the chain', async () => {
    const paymentId = await aPayment();
    const id = await anInvoice('held', paymentId);
    const deposit = (out: number, more: Row): Promise<unknown> =>
      unguarded(db, (tx) =>
        insert(
          'deposit',
          {
            ...{ network: 'bitcoin', tx_id: paymentId, out_index: out, address: 'bc1', role: 'deposit' },
            ...{ payment_id: paymentId, currency: 'BTC', amount: 1, stated_amount: 1, first_seen_at: 'now' },
            ...{ found_by: 'transfer', is_dust: false, status: 'pool' },
            ...more,
          },
          tx,
        ),
      );
    await deposit(0, { is_dust: true });
    await deposit(1, { status: 'replaced' });
    const wants = async () =>
      (await chain.query<Array<{ it: boolean }>>('SELECT wants_lightning($1) AS it', [id]))[0]!.it;
    expect(await wants()).toBe(true);
    await deposit(2, {});
    expect(await wants()).toBe(false);
    expect(await decide(id, 'take')).toBe('return');
  });

  it('takes one invoice for a payment, and another only when the first has brought nothing', async () => {
    const paymentId = await aPayment();
    const first = await anInvoice('open', paymentId);
    expect(await decide(first, 'take')).toBe('take');
    const second = await anInvoice('held', paymentId);
    expect(await decide(second, 'take')).toBe('return');
    await db.query('SELECT end_lightning($1)', [first]);
    const third = await anInvoice('held', paymentId);
    expect(await decide(third, 'take')).toBe('take');
  });

  it('takes what the node has taken already, for the payment or not', async () => {
    const id = await anInvoice('open', await aPayment({ status: 'CONFIRMING' }));
    expect(await decide(id, 'take', 'taken already')).toBe('take');
    expect(await read(id)).toMatchObject({ state: 'taking', is_for_payment: false });
    const wanted = await anInvoice('open');
    await decide(wanted, 'take', 'taken already');
    expect(await read(wanted)).toMatchObject({ is_for_payment: true });
  });

  it('cannot be made past the function', async () => {
    const decided = { state: 'taking', decision: 'take', why: 'whole', decided_at: 'now' };
    const id = await anInvoice('held', await aPayment({ status: 'CONFIRMING' }));
    await expect(change(id, { ...decided, is_for_payment: true })).rejects.toMatchObject(illegal);
    await expect(change(id, { ...decided, is_for_payment: false })).rejects.toMatchObject(illegal);
    await expect(
      chain.query(`UPDATE lightning_invoice SET state = 'taking' WHERE id = $1`, [id]),
    ).rejects.toMatchObject({ code: '23514' });
    for (const column of ['decision', 'is_for_payment', 'taken_msat', 'over_at'])
      await expect(chain.query(`UPDATE lightning_invoice SET ${column} = NULL`)).rejects.toMatchObject({
        code: '42501',
      });
  });
});

describe('a payment whose money is being taken', () => {
  const cancel = (id: string): Promise<unknown> =>
    db.query(`UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE id = $1`, [id]);

  it('keeps its status, its quote and its currency until that is over', async () => {
    const paymentId = await aPayment();
    const id = await anInvoice('held', paymentId);
    await db.query('UPDATE payment SET quoted_at = now() WHERE id = $1', [paymentId]);
    await db.query(`SELECT decide_lightning($1, 'take', 'whole')`, [id]);
    const still = { code: 'CP015' };
    await expect(cancel(paymentId)).rejects.toMatchObject(still);
    await expect(db.query(`UPDATE payment SET currency = 'ETH' WHERE id = $1`, [paymentId])).rejects.toMatchObject(
      still,
    );
    await expect(
      db.query(`UPDATE payment SET quoted_at = now() + interval '1 s' WHERE id = $1`, [paymentId]),
    ).rejects.toMatchObject(still);
    await db.query('UPDATE payment SET updated_at = now() WHERE id = $1', [paymentId]);
    await db.query('SELECT end_lightning($1)', [id]);
    await cancel(paymentId);
  });

  it('is cancelled or paid, never both, where both are tried at once', async () => {
    const ends = { taken: 0, cancelled: 0 };
    for (let n = 0; n < 30; n += 1) {
      const paymentId = await aPayment();
      const id = await anInvoice('held', paymentId);
      const decide = (): Promise<unknown> => chain.query(`SELECT decide_lightning($1, 'take', 'whole')`, [id]);
      const [first, second] = n % 2 ? [() => cancel(paymentId), decide] : [decide, () => cancel(paymentId)];
      // A little later each time: sometimes both wait for the same lock, and each of them wins some.
      await Promise.allSettled([first(), sleep(n).then(second)]);
      const [{ status }] = await db.query<[{ status: string }]>('SELECT status FROM payment WHERE id = $1', [
        paymentId,
      ]);
      const { decision } = await read(id);
      expect([status, decision]).toEqual(decision === 'take' ? ['WAITING', 'take'] : ['CANCELLED', 'return']);
      ends[decision === 'take' ? 'taken' : 'cancelled'] += 1;
    }
    expect(Math.min(...Object.values(ends))).toBeGreaterThan(0);
  });
});
