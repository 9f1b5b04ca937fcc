import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { offerInvoice } from '../../commands/lightning/offer';
import { lockPayment } from '../../db/payments/payments';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { unguarded } from '../unguarded';
import { paymentsAt } from './run-payment';

/** Every command on a payment whose Lightning money is being taken: it answers as it does for a payment that has been
 *  paid meanwhile, the clock does nothing either, and all goes on once the money has gone back. */

let h: Harness;
let db: DataSource;
let shop: Shop;
let act: ReturnType<typeof paymentsAt>;
beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  shop = await h.shop();
  const { config } = h.api.deps;
  act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
});
afterAll(() => h?.stop());

type Waiting = Readonly<{ id: string; address: string; amount: string; invoiceId: string }>;
const path = (id: string, command: string): string => `/api/v1/payments/${id}/${command}`;

/** A payment of bitcoin whose money is held, and decided to be taken. */
async function beingTaken(): Promise<Waiting> {
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'BTC' } });
  const { paymentId: id, depositAddress: address, amount } = made.body;
  const invoiceId = (await db.transaction(async (tx) => offerInvoice(tx, await lockPayment(tx, id))))!;
  await unguarded(db, (tx) =>
    tx.query(`UPDATE lightning_invoice SET hash = $2, invoice = 'lnbcrt1x', state = 'held' WHERE id = $1`, [
      invoiceId,
      invoiceId.padStart(64, '0'),
    ]),
  );
  const [{ decided }] = await db.query(`SELECT decide_lightning($1, 'take', 'whole') AS decided`, [invoiceId]);
  expect(decided).toBe('take');
  return { id, address, amount, invoiceId };
}
const goesBack = (one: Waiting): Promise<unknown> => db.query('SELECT end_lightning($1)', [one.invoiceId]);
const read = async (id: string) =>
  (await db.query('SELECT status, currency, quoted_at AS "quotedAt" FROM payment WHERE id = $1', [id]))[0];
const endQuote = (id: string): Promise<unknown> =>
  db.query(
    `UPDATE payment SET quote_expires_at = clock_timestamp() - interval '1 second',
            created_at = created_at - interval '1 hour' WHERE id = $1`,
    [id],
  );
async function endTime(id: string): Promise<void> {
  await db.query(`UPDATE payment SET expires_at = clock_timestamp() - interval '1 second' WHERE id = $1`, [id]);
  await db.query('UPDATE chain_cursor SET scanned_through = clock_timestamp()');
}
/** Money on the chain, confirmed. */
const arrives = ({ id, address, amount }: Waiting): Promise<unknown> =>
  db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at)
     VALUES ('bitcoin', $1, 0, $2, 'deposit', $3, 'BTC', $4, $4,
       false, 'confirmed', 'b', 90, clock_timestamp(), now())`,
    [id.padStart(64, '0'), address, id, amount],
  );

/** What stays as it is meanwhile. */
async function staysStill(id: string, does: () => Promise<unknown>): Promise<void> {
  const before = await read(id);
  await does();
  expect(await read(id)).toEqual(before);
}

it('is not cancelled, by the API or the workflow, until the money has gone back', async () => {
  const one = await beingTaken();
  await staysStill(one.id, async () => {
    const refused = { status: 'WAITING', refused: 'PAYMENT_NOT_CANCELLABLE' };
    expect(await act.cancelPayment(one.id, 'payer')).toEqual(refused);
    const answer = await h.call('POST', path(one.id, 'cancel'), { key: shop.key, body: {} });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('cannot be cancelled')]);
  });
  await goesBack(one);
  expect(await act.cancelPayment(one.id, 'payer')).toEqual({ status: 'CANCELLED' });
});

it('keeps its currency until the money has gone back', async () => {
  const one = await beingTaken();
  await staysStill(one.id, async () => {
    const refused = { status: 'WAITING', refused: 'CURRENCY_NOT_CHANGEABLE' };
    expect(await act.selectCurrency(one.id, 'ETH', 'payer')).toEqual(refused);
  });
  await goesBack(one);
  expect(await act.selectCurrency(one.id, 'ETH', 'payer')).toEqual({ status: 'WAITING' });
  expect(await read(one.id)).toMatchObject({ currency: 'ETH' });
});

it('keeps its quote until the money has gone back', async () => {
  const one = await beingTaken();
  await endQuote(one.id);
  const before = await read(one.id);
  await staysStill(one.id, async () => {
    const refused = { status: 'WAITING', refused: 'QUOTE_NOT_REFRESHABLE' };
    expect(await act.refreshQuote(one.id)).toEqual(refused);
  });
  await goesBack(one);
  expect(await act.refreshQuote(one.id)).toEqual({ status: 'WAITING' });
  expect((await read(one.id)).quotedAt).not.toEqual(before.quotedAt);
});

it('does not expire until the money has gone back', async () => {
  const one = await beingTaken();
  await endTime(one.id);
  await staysStill(one.id, async () => {
    const { status, next, lookAgainInMs } = await act.runPayment(one.id);
    expect([status, next]).toEqual(['WAITING', 'wait']);
    // Nobody signals the end of it: the workflow comes back by itself.
    expect(lookAgainInMs).toBeLessThanOrEqual(60_000);
  });
  await goesBack(one);
  expect((await act.runPayment(one.id)).status).toBe('EXPIRED');
});

it('waits with what comes on its chain, in time or after its quote, until the money has gone back', async () => {
  for (const isLate of [false, true]) {
    const one = await beingTaken();
    if (isLate) await endQuote(one.id);
    await arrives(one);
    await staysStill(one.id, async () => {
      expect((await act.runPayment(one.id)).status).toBe('WAITING');
      expect((await act.requotePayment(one.id)).status).toBe('WAITING');
      expect(await act.acceptUnderpaid(one.id)).toEqual({ status: 'WAITING', refused: 'INVALID_STATE' });
      expect(await act.acceptCrossChain(one.id)).toEqual({ status: 'WAITING', refused: 'INVALID_STATE' });
      expect(await act.rejectCrossChain(one.id)).toEqual({ status: 'WAITING', refused: 'INVALID_STATE' });
    });
    await goesBack(one);
    expect((await act.runPayment(one.id)).status).toBe('CONFIRMED');
  }
});
