import type { DataSource } from 'typeorm';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import { markEnded } from '../../db/audit/mark-lightning';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { aPaymentWithInvoice, askedMsat, follow } from './lightning-shop';
import { LndSimulator } from './lnd-simulator';

/** Each invoice that has ended is held against the word of the node once, with the rights of the payments worker, and
 *  however many others end meanwhile. */

const node = new LndSimulator();
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let payments: DataSource;
let chain: DataSource;
let asked: string[];

beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  payments = await connectionsTo(urlFor(database.url, 'payments')).initialize();
  chain = await connectionsTo(urlFor(database.url, 'chain')).initialize();
  await node.start();
});
beforeEach(() => {
  asked = [];
  node.isAway = (path) => path.startsWith('/v1/invoice/') && asked.push(path.replace('/v1/invoice/', '')) < 0;
});
afterAll(async () => {
  await node.stop();
  for (const one of [chain, payments, db]) await one?.destroy();
  await database?.drop();
});

const look = (): Promise<unknown> => {
  const lightning = {
    ...lndInvoices(node.login, 'regtest'),
    ...lndReadings(node.login, 'regtest'),
    ...lndPayments(node.login),
  };
  return audit(payments, { settleMs: 0, mark: markEnded(payments), lightning });
};
/** A payment that is settled; the hash of its invoice. */
async function taken(): Promise<string> {
  const { invoiceId } = await aPaymentWithInvoice(db, payments);
  await follow({ db, chain, node });
  const [{ hash }] = await db.query<[{ hash: string }]>('SELECT hash FROM lightning_invoice WHERE id = $1', [
    invoiceId,
  ]);
  node.pay(hash, askedMsat);
  await follow({ db, chain, node });
  return hash;
}
/** Ends invoices without money, as anybody can who has the role of the chain worker. */
async function endOthers(count: number, first: number): Promise<void> {
  const { paymentId, invoiceId } = await aPaymentWithInvoice(db, payments);
  await db.query(
    `DO $$ BEGIN
       PERFORM decide_lightning('${invoiceId}', 'return', 'whatever');
       FOR n IN ${first}..${first + count - 1} LOOP
         INSERT INTO lightning_invoice (id, payment_id, currency, asked_msat, expires_at)
           SELECT lpad(to_hex(n), 24, '0'), id, 'BTC_LN', 100000000, quote_expires_at FROM payment
            WHERE id = '${paymentId}';
         UPDATE lightning_invoice SET hash = lpad(to_hex(n), 64, '0') WHERE id = lpad(to_hex(n), 24, '0');
         PERFORM decide_lightning(lpad(to_hex(n), 24, '0'), 'return', 'whatever');
         PERFORM end_lightning(lpad(to_hex(n), 24, '0'));
       END LOOP;
     END $$`,
  );
}
/** What a thief of the chain worker can write into a row. */
const give = (invoiceId: string, hash: string, text: string): Promise<unknown> =>
  chain.query(`UPDATE lightning_invoice SET hash = $2, state = 'open', invoice = $3 WHERE id = $1`, [
    ...[invoiceId, hash, text],
  ]);
const waiting = async (): Promise<number> =>
  (await db.query<[{ n: number }]>('SELECT count(*)::int AS n FROM lightning_unaudited'))[0].n;

it('names what the node did not take, however many ended after it, and asks once about what is right', async () => {
  const [right, forged] = [await taken(), await taken()];
  const kept = node.known.get(forged)!;
  node.known.set(forged, { ...kept, state: 'OPEN', paidMsat: 0n });
  await endOthers(450, 1);
  const named = [{ invariant: 'I5', found: [expect.stringContaining(forged)] }];
  expect(await look()).toMatchObject(named);
  expect(asked).toEqual(expect.arrayContaining([right, forged]));
  expect(await waiting()).toBe(1);
  asked = [];
  expect(await look()).toMatchObject(named);
  // The audit looks twice at what is wrong: the newest, and what is wrong, each time.
  expect(asked).toHaveLength(2 * 201);
  expect(asked).not.toContain(right);
  node.known.set(forged, kept);
  expect(await look()).toEqual([]);
  expect(await waiting()).toBe(0);
});

it('goes on behind a row about which the node gives no answer, and names it after some looks', async () => {
  const [mute, other] = [await taken(), await taken()];
  await endOthers(250, 1000);
  node.isAway = (path) => asked.push(path) > 0 && path === `/v1/invoice/${mute}`;
  for (let looks = 0; looks < 5; looks += 1) expect(await look()).toEqual([]);
  expect(asked).toContain(`/v1/invoice/${other}`);
  expect(await waiting()).toBe(1);
  expect(await look()).toMatchObject([
    { invariant: 'I5', what: 'the Lightning node does not say how it ended', found: [expect.stringContaining(mute)] },
  ]);
  node.mend();
  expect(await look()).toEqual([]);
  expect(await waiting()).toBe(0);
});

it('names an invoice of the node that is of no payment of ours, and was booked as one', async () => {
  const hash = 'cd'.repeat(32);
  const { paymentId, invoiceId } = await aPaymentWithInvoice(db, payments);
  node.known.set(hash, {
    ...{ state: 'SETTLED', text: 'lnbcrt1rebalance', memo: 'rebalance', askedMsat, paidMsat: askedMsat },
    expiryHeight: 0,
  });
  await give(invoiceId, hash, 'lnbcrt1rebalance');
  await follow({ db, chain, node });
  expect(await db.query('SELECT status FROM payment WHERE id = $1', [paymentId])).toEqual([{ status: 'SETTLED' }]);
  const foreign = { invariant: 'I15', found: [expect.stringContaining(hash)] };
  expect(await look()).toMatchObject([foreign]);
  expect(await waiting()).toBe(1);
  // One that names the payment, over another amount, is not its own either.
  Object.assign(node.known.get(hash)!, { memo: paymentId, askedMsat: askedMsat - 1000n });
  expect(await look()).toMatchObject([foreign]);
  node.known.get(hash)!.askedMsat = askedMsat;
  expect(await look()).toEqual([]);
});

it('names what a payer is shown and the node has not made, behind a row about which it gives no answer', async () => {
  const [mute, forged] = ['aa'.repeat(32), 'ff'.repeat(32)];
  const rows = [await aPaymentWithInvoice(db, payments), await aPaymentWithInvoice(db, payments)];
  for (const [n, hash] of [mute, forged].entries()) await give(rows[n]!.invoiceId, hash, 'lnbcrt1forged');
  node.isAway = (path) => path === `/v1/invoice/${mute}`;
  const named = [{ invariant: 'I15', found: [expect.stringContaining(forged)] }];
  for (let looks = 0; looks < 4; looks += 1) expect(await look()).toMatchObject(named);
  node.mend();
  for (const { invoiceId } of rows) await db.query(`SELECT decide_lightning($1, 'return', 'forged')`, [invoiceId]);
  await follow({ db, chain, node });
  await unguarded(db, (tx) => tx.query(`DELETE FROM lightning_invoice WHERE hash = ANY($1)`, [[mute, forged]]));
  await db.query(`DELETE FROM lightning_unaudited WHERE hash = ANY($1)`, [[mute, forged]]);
});

it('marks nothing where it only looks, and nothing by a node that is away', async () => {
  await taken();
  const before = await waiting();
  expect(before).toBeGreaterThan(0);
  const lightning = { ...lndInvoices(node.login, 'regtest'), ...lndReadings(node.login, 'regtest') };
  expect(await audit(db, { settleMs: 0, lightning: { ...lightning, ...lndPayments(node.login) } })).toEqual([]);
  expect(await waiting()).toBe(before);
  node.isAway = () => true;
  expect(await look()).toEqual([]);
  expect(await waiting()).toBe(before);
});
