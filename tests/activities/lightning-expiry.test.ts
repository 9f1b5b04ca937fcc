import type { DataSource } from 'typeorm';
import { followInvoices } from '../../activities/lightning/follow';
import { createCodecs } from '../../chains/codecs';
import { newPreimage } from '../../chains/lightning/preimage';
import { readInvoice } from '../../chains/lightning/invoice';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import type { InvoiceRow } from '../../db/lightning/invoices';
import { startHarness, type Harness } from '../api/harness';
import { connectionsTo, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { aPaymentWithInvoice, askedMsat, follow, type Followed, type Offered } from './lightning-shop';
import { LndSimulator } from './lnd-simulator';
import { paymentsAt } from './run-payment';

/** A payment by Lightning ends by the word of the node: no clock, and no command after a recovery, is faster than the
 *  money that the node has for it. */

const node = new LndSimulator();
let h: Harness;
let db: DataSource;
let payments: DataSource;
let chain: DataSource;
let act: ReturnType<typeof paymentsAt>;
let followed: Followed;
let epoch = 0;

beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  payments = await connectionsTo(urlFor(h.databaseUrl, 'payments')).initialize();
  chain = await connectionsTo(urlFor(h.databaseUrl, 'chain')).initialize();
  await node.start();
  followed = { db, chain, node };
  const { config } = h.api.deps;
  act = paymentsAt({ db: payments, config, codecs: createCodecs(config.chain) });
});
afterAll(async () => {
  await node.stop();
  for (const one of [chain, payments]) await one?.destroy();
  await h?.stop();
});

const offered = (): Promise<Offered> => aPaymentWithInvoice(db, payments);
const look = (): Promise<number> => follow(followed);
const read = async ({ invoiceId }: Offered): Promise<InvoiceRow> =>
  (await db.query<InvoiceRow[]>('SELECT * FROM lightning_invoice WHERE id = $1', [invoiceId]))[0]!;
const statusOf = async ({ paymentId }: Offered): Promise<string> =>
  (await db.query<[{ status: string }]>('SELECT status FROM payment WHERE id = $1', [paymentId]))[0].status;
const run = async (one: Offered): Promise<string> => (await act.runPayment(one.paymentId)).status;
const endTime = ({ paymentId }: Offered): Promise<unknown> =>
  unguarded(db, async (tx) => {
    const past = `clock_timestamp() - interval '1 second'`;
    await tx.query(`UPDATE payment SET expires_at = ${past}, quote_expires_at = ${past} WHERE id = $1`, [paymentId]);
    await tx.query(`UPDATE lightning_invoice SET expires_at = ${past} WHERE payment_id = $1`, [paymentId]);
  });
/** Somebody pays, and the node has taken it: as after a recovery, which knows of neither. */
async function tookUnknown(one: Offered): Promise<void> {
  const { hash } = await read(one);
  node.pay(hash!, askedMsat);
  node.take(hash!);
}
/** What is in the database now was restored. */
const recovered = (): Promise<unknown> =>
  db.query('INSERT INTO recovery (epoch, reason) VALUES ($1, $2)', [(epoch += 1), 'restored']);

it('does not expire while the node has not said that it took nothing', async () => {
  const [taken, held, none] = [await offered(), await offered(), await offered()];
  await look();
  await tookUnknown(taken);
  node.pay((await read(held)).hash!, askedMsat);
  for (const one of [taken, held, none]) {
    await endTime(one);
    expect(await run(one)).toBe('WAITING');
  }
  await look();
  expect([await statusOf(taken), await statusOf(held), await run(none)]).toEqual(['SETTLED', 'SETTLED', 'EXPIRED']);
  expect(await read(none)).toMatchObject({ state: 'cancelled', decision: 'return', why: 'too late' });
  expect(node.known.get((await read(none)).hash!)!.state).toBe('CANCELED');
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

it('expires without an invoice once the node has said that it never made one', async () => {
  const one = await offered();
  await endTime(one);
  expect(await run(one)).toBe('WAITING');
  await look();
  expect(await read(one)).toMatchObject({ state: 'cancelled', hash: null });
  expect(await run(one)).toBe('EXPIRED');
});

/** What the node made, and took the money of, in the time that the database has lost. */
async function takenInLostTime(one: Offered): Promise<string> {
  const { hash } = newPreimage(['11'.repeat(32)], one.invoiceId);
  await lndInvoices(node.login, 'regtest').create({
    ...{ hash, amountMsat: askedMsat, description: one.paymentId, expirySeconds: 600, cltvBlocks: 80 },
  });
  node.pay(hash, askedMsat);
  node.take(hash);
  return hash;
}

it('finds one under an earlier key of the preimages', async () => {
  const one = await offered();
  const hash = await takenInLostTime(one);
  await recovered();
  await followInvoices({
    ...{ db: chain, invoices: lndInvoices(node.login, 'regtest'), readings: lndReadings(node.login, 'regtest') },
    ...{ keys: ['22'.repeat(32), '11'.repeat(32)], log: { error: (fields) => expect(fields).toEqual({}) } },
  });
  expect([await read(one), await statusOf(one)]).toMatchObject([{ hash, state: 'taken' }, 'SETTLED']);
});

it('finds an invoice that was named, made and paid in the lost time', async () => {
  const one = await offered();
  const hash = await takenInLostTime(one);
  await endTime(one);
  await recovered();
  expect(await run(one)).toBe('WAITING');
  await look();
  expect([await read(one), await statusOf(one)]).toMatchObject([{ hash, state: 'taken' }, 'SETTLED']);
});

it('is not kept by an invoice that it does not wait for, whatever the node is', async () => {
  const one = await offered();
  await look();
  await unguarded(db, (tx) => tx.query(`UPDATE payment SET currency = 'BTC' WHERE id = $1`, [one.paymentId]));
  await endTime(one);
  await recovered();
  expect(await run(one)).toBe('EXPIRED');
  await look();
});

it('waits two days for money that was to be taken, and that the node has forgotten', async () => {
  const one = await offered();
  await look();
  const { hash } = (await read(one)) as InvoiceRow & { hash: string };
  node.pay(hash, askedMsat);
  node.isAway = (path) => path.includes('settle');
  await follow(followed, () => undefined);
  node.mend();
  node.known.delete(hash);
  const decided = (hours: number): Promise<unknown> =>
    unguarded(db, (tx) =>
      tx.query('UPDATE lightning_invoice SET decided_at = now() - make_interval(hours => $2) WHERE id = $1', [
        ...[one.invoiceId, hours],
      ]),
    );
  await decided(47);
  await look();
  expect(await read(one)).toMatchObject({ state: 'taking' });
  await decided(49);
  await look();
  expect(await read(one)).toMatchObject({ state: 'cancelled', taken_msat: null });
  expect(await db.query(`SELECT FROM incident WHERE kind = 'held-lost' AND resolved_at IS NULL`)).toEqual([]);
  await endTime(one);
  expect(await run(one)).toBe('EXPIRED');
});

it.each([
  ['slow', -600_000],
  ['fast', 600_000],
])('has an invoice until its price ends by the clock of the database, whose worker is %s', async (_, off) => {
  const one = await offered();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + off);
  try {
    await look();
  } finally {
    clock.mockRestore();
  }
  const { createdAt, expiresAt } = readInvoice((await read(one)).invoice!);
  expect(expiresAt - createdAt).toBeGreaterThan(890);
  expect(expiresAt - createdAt).toBeLessThanOrEqual(900);
});

describe('after a recovery', () => {
  const refused = {
    cancel: { status: 'WAITING', refused: 'PAYMENT_NOT_CANCELLABLE' },
    choice: { status: 'WAITING', refused: 'CURRENCY_NOT_CHANGEABLE' },
    quote: { status: 'WAITING', refused: 'QUOTE_NOT_REFRESHABLE' },
  };
  const endQuote = ({ paymentId }: Offered): Promise<unknown> =>
    db.query(
      `UPDATE payment SET quote_expires_at = clock_timestamp() - interval '1 second',
              created_at = created_at - interval '1 hour' WHERE id = $1`,
      [paymentId],
    );
  const commands = async (one: Offered): Promise<object> => ({
    cancel: await act.cancelPayment(one.paymentId, 'payer'),
    choice: await act.selectCurrency(one.paymentId, 'BTC', 'payer'),
    quote: await act.refreshQuote(one.paymentId),
  });

  it('no command is faster than the first look at the node', async () => {
    const [taken, none] = [await offered(), await offered()];
    await look();
    await tookUnknown(taken);
    for (const one of [taken, none]) await endQuote(one);
    await recovered();
    expect([await commands(taken), await commands(none)]).toEqual([refused, refused]);
    for (const role of [payments, h.api.deps.db]) {
      const returned = role.query(`SELECT decide_lightning($1, 'return', 'newer quote')`, [taken.invoiceId]);
      await expect(returned).rejects.toMatchObject({ code: 'CP015' });
      const ended = role.query(
        `UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE id = $1`,
        [taken.paymentId],
      );
      await expect(ended).rejects.toMatchObject({ code: 'CP015' });
    }
    await look();
    expect([await statusOf(taken), await statusOf(none)]).toEqual(['SETTLED', 'WAITING']);
    expect(await act.cancelPayment(none.paymentId, 'payer')).toEqual({ status: 'CANCELLED' });
    await look();
    expect(await audit(db, { settleMs: 0 })).toEqual([]);
  });

  it('asks once, and again after the next recovery', async () => {
    const one = await offered();
    await look();
    const [asked, { hash }]: [string[], InvoiceRow] = [[], await read(one)];
    node.isAway = (path) => path === `/v1/invoice/${hash}` && asked.push(path) < 0;
    for (let round = 0; round < 2; round += 1) {
      await recovered();
      await look();
      await look();
      expect(asked).toHaveLength(round + 1);
    }
    node.mend();
    expect(await act.cancelPayment(one.paymentId, 'payer')).toEqual({ status: 'CANCELLED' });
    await look();
  });

  it('waits for a node that is gone for a week at the most', async () => {
    const one = await offered();
    await look();
    const age = (days: number): Promise<unknown> =>
      unguarded(db, async (tx) => {
        const at = `clock_timestamp() - make_interval(days => ${days}, secs => 10)`;
        await tx.query(`UPDATE recovery SET begun_at = ${at}`);
        await tx.query(`UPDATE lightning_invoice SET created_at = ${at} - interval '1 hour' WHERE id = $1`, [
          one.invoiceId,
        ]);
      });
    await age(6);
    expect(await act.cancelPayment(one.paymentId, 'payer')).toEqual(refused.cancel);
    await age(7);
    expect(await act.cancelPayment(one.paymentId, 'payer')).toEqual({ status: 'CANCELLED' });
    await look();
  });

  it('waits for the word of the signer too', async () => {
    const one = await offered();
    await look();
    await db.query('DELETE FROM key_epoch');
    await unguarded(db, (tx) =>
      tx.query(`UPDATE lightning_invoice SET created_at = '2020-01-01', looked_at = NULL WHERE id = $1`, [
        one.invoiceId,
      ]),
    );
    expect(await act.cancelPayment(one.paymentId, 'payer')).toEqual(refused.cancel);
    await look();
    expect(await act.cancelPayment(one.paymentId, 'payer')).toEqual({ status: 'CANCELLED' });
    await look();
  });
});
