import { MockActivityEnvironment } from '@temporalio/testing';
import type { DataSource } from 'typeorm';
import { auditActivities } from '../../activities/audit/audit';
import { reconciliationActivities } from '../../activities/audit/reconciliation';
import { followInvoices } from '../../activities/lightning/follow';
import { lndHistory } from '../../chains/lightning/history';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import { lightningPosition, reconcileLightning } from '../../db/audit/reconcile-lightning';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { aPaymentWithInvoice, askedMsat, price } from './lightning-shop';
import { LndSimulator } from './lnd-simulator';

/** What is booked of Lightning against what the node has, with the rights of the payments worker. */

const node = new LndSimulator();
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let payments: DataSource;
let chain: DataSource;
const readings = () => lndReadings(node.login, 'regtest');
const reconcile = () => reconcileLightning(payments, readings(), 1);

const follow = () =>
  followInvoices({
    ...{ db: chain, invoices: lndInvoices(node.login, 'regtest'), readings: readings(), keys: ['22'.repeat(32)] },
    log: { error: (fields: object) => expect(fields).toEqual({}) },
  });
const statesOf = async (hashes: readonly string[]): Promise<string[]> =>
  Promise.all(
    hashes.map(async (hash) => {
      const [row] = await db.query<[{ state: string }]>('SELECT state FROM lightning_invoice WHERE hash = $1', [hash]);
      return row.state;
    }),
  );

/** A payment whose invoice is paid: until the node holds the money, or until it is taken and booked. */
async function paid(isTaken: boolean): Promise<string> {
  const { invoiceId } = await aPaymentWithInvoice(db, payments);
  await follow();
  const [{ hash }] = await db.query<[{ hash: string }]>('SELECT hash FROM lightning_invoice WHERE id = $1', [
    invoiceId,
  ]);
  node.pay(hash, askedMsat);
  if (isTaken) await follow();
  return hash;
}
const frozen = (): Promise<unknown> => db.query('SELECT currency, reason FROM egress_freeze');
const incidents = (): Promise<unknown> =>
  db.query(`SELECT subject_id AS of, details FROM incident WHERE kind = 'unreconciled' AND resolved_at IS NULL`);

beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  payments = await connectionsTo(urlFor(database.url, 'payments')).initialize();
  chain = await connectionsTo(urlFor(database.url, 'chain')).initialize();
  await node.start();
});
beforeEach(async () => {
  node.mend();
  Object.assign(node, { capital: 0n, lost: 0n, isUp: true });
  await db.query('DELETE FROM egress_freeze');
});
afterAll(async () => {
  await node.stop();
  for (const one of [chain, payments, db]) await one?.destroy();
  await database?.drop();
});

it('asks no node while nothing is booked', async () => {
  node.isAway = () => true;
  expect(await lightningPosition(payments, readings())).toEqual({ booked: [], missing: null });
});

it('finds what is booked in the node, to the satoshi, and not what the node holds for an invoice', async () => {
  await paid(true);
  await paid(false);
  const booked = [{ currency: 'BTC_LN', ledger: price }];
  expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: null });
  node.lost = 1n;
  expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: '0.00000001' });
  Object.assign(node, { capital: 7_000n, lost: 0n });
  expect(await reconcile()).toEqual([]);
  expect([await frozen(), await incidents()]).toEqual([[], []]);
});

it('stops the asset and tells an operator where the node has less, once, until it has enough again', async () => {
  node.lost = 30_000n;
  const one = { currency: 'BTC_LN', ledger: price, missing: '0.0000003' };
  expect(await reconcile()).toEqual([one]);
  expect(await reconcile()).toEqual([]);
  const stop = [{ currency: 'BTC_LN', reason: 'The Lightning node has 0.0000003 BTC_LN less than the books say' }];
  expect([await frozen(), await incidents()]).toEqual([stop, [{ of: 'BTC_LN', details: one }]]);
  node.lost = 0n;
  expect(await reconcile()).toEqual([]);
  // What is stopped stays so until an operator has looked.
  expect([await frozen(), await incidents()]).toEqual([stop, []]);
});

it('concludes nothing from a node that is away', async () => {
  node.lost = 30_000n;
  for (const part of ['balance/channels', 'channels/pending', 'balance/blockchain']) {
    node.isAway = (path) => path.includes(part);
    expect(await reconcile()).toEqual([]);
  }
  node.mend();
  expect([await frozen(), await incidents()]).toEqual([[], []]);
});

/** A node that has lost something more, or less, each time that it is asked. */
const moving = (by: bigint) => ({
  ...readings(),
  holds: async () => {
    node.lost += by;
    return readings().holds();
  },
});

it.each([
  ['more', 1_000n, '0.00010001'],
  ['less', -1_000n, '0.00009997'],
])('stops what is missing in each look, where it is %s each time', async (_, by, missing) => {
  node.lost = 10_000_000n;
  expect(await reconcileLightning(payments, moving(by), 1)).toMatchObject([{ currency: 'BTC_LN', missing }]);
  expect(await frozen()).toHaveLength(1);
  await db.query(`UPDATE incident SET resolved_at = now() WHERE kind = 'unreconciled'`);
});

it('neither stops nor ends anything where one look finds enough', async () => {
  node.lost = 1_000n;
  expect(await reconcileLightning(payments, moving(-600n), 1)).toEqual([]);
  expect([await frozen(), await incidents()]).toEqual([[], []]);
});

it('is named by the audit, however it changes from look to look', async () => {
  node.lost = 10_000_000n;
  const lightning = { ...lndInvoices(node.login, 'regtest'), ...moving(1_000n), track: lndPayments(node.login).track };
  expect(await audit(payments, { settleMs: 0, lightning })).toMatchObject([{ invariant: 'I4' }]);
});

it('is compared by the workflows of the reconciliation and the audit, where they are given a node', async () => {
  node.lost = 30_000n;
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('bitcoin', 100, 'b', 100, now())`,
  );
  const activity = new MockActivityEnvironment();
  const said: string[] = [];
  const log = {
    error: (_: object, text: string) => {
      said.push(text);
      activity.cancel();
    },
  };
  const config = { confirmations: {}, POLL_INTERVAL_MS: 1000, unexplainedBounds: {} };
  const { keepReconciliation } = reconciliationActivities({
    ...{ db: payments, adapters: [], lightning: readings(), config, log },
  });
  await expect(activity.run(keepReconciliation)).rejects.toMatchObject({ type: 'MOVES' });
  expect(said).toEqual([expect.stringContaining('The Lightning node has less than the books say')]);
  expect(await frozen()).toEqual([expect.objectContaining({ currency: 'BTC_LN' })]);
  const { track } = lndPayments(node.login);
  const lightning = { ...lndInvoices(node.login, 'regtest'), ...lndHistory(node.login), ...readings(), track };
  expect(await auditActivities({ db: payments, adapters: [], lightning, log }).runAudit()).toBe(1);
  expect(await auditActivities({ db: payments, adapters: [], log }).runAudit()).toBe(0);
});

it('counts what it has taken and a peer who is away has not heard of, and not what it only holds', async () => {
  const taken = await paid(false);
  node.isSynced = false;
  const held = await paid(false);
  node.isUp = false;
  node.take(taken);
  await follow();
  expect(await statesOf([taken, held])).toEqual(['taken', 'held']);
  const booked = [{ currency: 'BTC_LN', ledger: '0.003' }];
  expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: null });
  expect([await reconcile(), await frozen(), await incidents()]).toEqual([[], [], []]);
  node.lost = 2_000n;
  expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: '0.00000002' });
  Object.assign(node, { isUp: true, lost: 0n });
  expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: null });
});

it('counts no more of what comes in than was taken, and nothing that goes on to others', async () => {
  const hash = await paid(true);
  const booked = (await lightningPosition(payments, readings())).booked;
  node.lost = 2n * askedMsat;
  // Anybody who knows the hash may offer it again, and send it through the node.
  node.sentIn = [[hash, 50n * askedMsat]];
  node.forwarded = [[hash, 50n * askedMsat]];
  try {
    expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: '0.001' });
    node.sentIn = [];
    expect(await lightningPosition(payments, readings())).toEqual({ booked, missing: '0.002' });
  } finally {
    Object.assign(node, { sentIn: [], forwarded: [] });
  }
});
