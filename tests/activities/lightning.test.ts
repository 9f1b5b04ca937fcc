import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { followInvoices, type LightningDeps } from '../../activities/lightning/follow';
import { lndInvoices, type LndInvoices } from '../../chains/lightning/invoices';
import { preimageOf } from '../../chains/lightning/preimage';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import { armFailPoints, disarmFailPoints } from '../../db/fail-point';
import type { InvoiceRow } from '../../db/lightning/invoices';
import { balances } from '../../db/ledger/ledger';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { aPaymentWithInvoice, askedMsat, offerTo, price, type Offered } from './lightning-shop';
import { LndSimulator } from './lnd-simulator';

/** Lightning from the offer to the balance: rows, activity and a simulator of lnd, with the rights of the processes
 *  that will run them, and interrupted at every step. */

const node = new LndSimulator();
const keys = ['11'.repeat(32)] as const;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let payments: DataSource;
let deps: LightningDeps;
let errors: string[];

beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  payments = await connectionsTo(urlFor(database.url, 'payments')).initialize();
  const chain = await connectionsTo(urlFor(database.url, 'chain')).initialize();
  await node.start();
  deps = {
    db: chain,
    invoices: lndInvoices(node.login, 'regtest'),
    readings: lndReadings(node.login, 'regtest'),
    keys,
    log: { error: ({ err }: { err?: Error }) => errors.push(err!.message) },
  };
  armFailPoints(chain);
});
beforeEach(() => {
  errors = [];
  node.mend();
});
afterEach(async () => {
  await db.query('UPDATE fail_point SET remaining = 0');
});
afterAll(async () => {
  disarmFailPoints();
  await node.stop();
  await deps?.db.destroy();
  await payments?.destroy();
  await db?.destroy();
  await database?.drop();
});

const offered = (): Promise<Offered> => aPaymentWithInvoice(db, payments);
const offer = (paymentId: string): Promise<string> => offerTo(payments, paymentId);
const read = async (id: string): Promise<InvoiceRow> =>
  (await db.query<InvoiceRow[]>('SELECT * FROM lightning_invoice WHERE id = $1', [id]))[0]!;
const hashOf = async (id: string): Promise<string> => (await read(id)).hash!;
const follow = (): Promise<number> => followInvoices(deps);
const statusOf = async (paymentId: string): Promise<string> =>
  (await db.query<[{ status: string }]>('SELECT status FROM payment WHERE id = $1', [paymentId]))[0].status;
const cancel = (paymentId: string): Promise<unknown> =>
  db.query(`UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE id = $1`, [paymentId]);
/** The payment's end, as its command writes it. */
const cancelled = async ({ paymentId, merchantId }: Offered): Promise<unknown> => {
  await cancel(paymentId);
  return db.query('UPDATE merchant_counter SET open_payments = open_payments - 1 WHERE merchant_id = $1', [merchantId]);
};
const balanceOf = async (merchantId: string): Promise<object> =>
  Object.fromEntries((await balances(db, merchantId)).map(({ kind, amount }) => [kind, amount]));
const takenBy = async (hash: string): Promise<string | null> =>
  (
    await db.query<Array<{ amount: string }>>(
      `SELECT trim_scale(p.amount)::text AS amount FROM posting p JOIN journal j ON j.id = p.journal_id
        WHERE j.key = $1 AND p.debit = 'A:lightning'`,
      [`lightning/${hash}`],
    )
  )[0]?.amount ?? null;
const arm = (name: string, remaining = 1): Promise<unknown> =>
  db.query(
    `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', $2)
     ON CONFLICT (name) DO UPDATE SET action = 'throw', remaining = $2`,
    [name, remaining],
  );

it('makes the invoice of each merchant in turn, and waits with no money, however many one of them plans', async () => {
  const first = await offered();
  for (let n = 0; n < 40; n += 1) await aPaymentWithInvoice(db, payments, first.merchantId);
  const other = await offered();
  await follow();
  expect([(await read(first.invoiceId)).state, (await read(other.invoiceId)).state]).toEqual(['open', 'open']);
  const planned = (): Promise<unknown> =>
    db.query(`SELECT count(*)::int AS planned FROM lightning_invoice WHERE state = 'planned'`);
  expect(await planned()).toEqual([{ planned: 10 }]);
  // What is paid is seen while there is still something to be made, and then settled before it.
  node.pay(await hashOf(other.invoiceId), askedMsat);
  await follow();
  expect(await statusOf(other.paymentId)).toBe('SETTLED');
  expect(await planned()).toEqual([{ planned: 0 }]);

  await db.query(`UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE merchant_id = $1`, [
    first.merchantId,
  ]);
  await db.query('UPDATE merchant_counter SET open_payments = 0 WHERE merchant_id = $1', [first.merchantId]);
  // Nobody waits for those, so they have turns too.
  expect([await follow(), await follow()]).toEqual([9, 0]);
});

it('makes what a payer waits for before it ends what nobody wants, which it does not make', async () => {
  const gone = await offered();
  for (let n = 0; n < 40; n += 1) await aPaymentWithInvoice(db, payments, gone.merchantId);
  await db.query(`UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE merchant_id = $1`, [
    gone.merchantId,
  ]);
  await db.query('UPDATE merchant_counter SET open_payments = 0 WHERE merchant_id = $1', [gone.merchantId]);
  const awaited = await aPaymentWithInvoice(db, payments, gone.merchantId);
  const made: string[] = [];
  const { invoices } = deps;
  const create: LndInvoices['create'] = (asked) => {
    made.push(asked.description!);
    return invoices.create(asked);
  };
  const look = (): Promise<number> => followInvoices({ ...deps, invoices: { ...invoices, create } });
  expect(await look()).toBeGreaterThan(1);
  expect((await read(awaited.invoiceId)).state).toBe('open');
  await cancelled(awaited);
  expect([await look(), await look()]).toEqual([0, 0]);
  expect(made).toEqual([awaited.paymentId]);
  expect(await audit(db)).toEqual([]);
});

it('settles a payment in one transaction: four moves, their events, and the balance', async () => {
  const { merchantId, paymentId, invoiceId } = await offered();
  expect(await follow()).toBe(1);
  const row = await read(invoiceId);
  expect(row).toMatchObject({ state: 'open', asked_msat: askedMsat.toString() });
  expect(row.hash).toBe(preimageOf(keys, invoiceId, row.hash!).hash);
  node.pay(row.hash!, askedMsat);
  expect(await follow()).toBe(0);
  expect(await read(invoiceId)).toMatchObject({ state: 'taken', decision: 'take', is_for_payment: true });

  const [payment] = await db.query<Array<Record<string, unknown>>>('SELECT * FROM payment WHERE id = $1', [paymentId]);
  expect(payment).toMatchObject({ status: 'SETTLED', tx_ids: [row.hash], exceptions: [], sweep_state: 'confirmed' });
  expect(await balanceOf(merchantId)).toEqual({ available: '0.000996', unsettled: '0' });
  const moves = await db.query<Array<{ to_status: string; xmin: string }>>(
    'SELECT to_status, xmin FROM payment_event WHERE payment_id = $1 ORDER BY state_version',
    [paymentId],
  );
  // The invoice was there before.
  const [shown, ...ended] = moves;
  expect(shown).toMatchObject({ to_status: 'WAITING' });
  expect(ended.map((one) => one.to_status)).toEqual(['CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED']);
  expect(new Set(ended.map(({ xmin }) => xmin)).size).toBe(1);
  const events = await db.query<Array<{ type: string }>>('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [
    paymentId,
  ]);
  expect(events.map(({ type }) => type)).toEqual([
    ...['payment.detected', 'payment.confirming', 'payment.confirmed', 'payment.sweep_queued', 'payment.settled'],
  ]);
  expect(errors).toEqual([]);
  expect(await audit(db)).toEqual([]);
});

it('notes what comes above the price, and credits whole satoshi of it', async () => {
  const { merchantId, paymentId, invoiceId } = await offered();
  await follow();
  node.pay(await hashOf(invoiceId), askedMsat + 1_999n);
  await follow();
  expect(await takenBy(await hashOf(invoiceId))).toBe('0.00100001');
  expect(await balanceOf(merchantId)).toMatchObject({ available: '0.000996' });
  const [{ exceptions }] = await db.query<[{ exceptions: string[] }]>('SELECT exceptions FROM payment WHERE id = $1', [
    paymentId,
  ]);
  expect(exceptions).toEqual(['overpaid']);
  expect(await audit(db)).toEqual([]);
});

it('sends money back for a payment that has ended, and for an older quote', async () => {
  const dead = await offered();
  const requoted = await offered();
  await follow();
  node.pay(await hashOf(dead.invoiceId), askedMsat);
  await cancelled(dead);
  const newer = await offer(requoted.paymentId);
  node.pay(await hashOf(requoted.invoiceId), askedMsat);
  expect(await follow()).toBe(1);
  for (const { invoiceId } of [dead, requoted]) {
    expect(await read(invoiceId)).toMatchObject({ state: 'cancelled', decision: 'return', taken_msat: null });
    expect(node.known.get(await hashOf(invoiceId))!.state).toBe('CANCELED');
  }
  expect(await read(newer)).toMatchObject({ state: 'open' });
  await cancelled(requoted);
  expect(await follow()).toBe(0);
});

it('waits while the node does not know its newest block, and sends back what has too few left', async () => {
  const late = await offered();
  const early = await offered();
  await follow();
  node.isSynced = false;
  node.pay(await hashOf(late.invoiceId), askedMsat, 23);
  node.pay(await hashOf(early.invoiceId), askedMsat, 24);
  expect(await follow()).toBe(2);
  for (const { invoiceId } of [late, early]) expect(await read(invoiceId)).toMatchObject({ state: 'held' });
  node.isSynced = true;
  expect(await follow()).toBe(0);
  expect(await read(late.invoiceId)).toMatchObject({ state: 'cancelled', why: 'too late' });
  expect(await statusOf(late.paymentId)).toBe('WAITING');
  expect(await read(early.invoiceId)).toMatchObject({ state: 'taken' });
  await cancelled(late);
});

it('tells an operator of money that somebody else took, and books it where it belongs', async () => {
  const wanted = await offered();
  const dead = await offered();
  await follow();
  for (const { invoiceId } of [wanted, dead]) {
    node.pay(await hashOf(invoiceId), askedMsat);
    node.take(await hashOf(invoiceId));
  }
  await cancelled(dead);
  expect(await follow()).toBe(0);
  expect(await statusOf(wanted.paymentId)).toBe('SETTLED');
  expect(await balanceOf(dead.merchantId)).toEqual({ unallocated: price });
  const told = await db.query<Array<{ subject_id: string }>>(
    `SELECT subject_id FROM incident WHERE kind = 'held-foreign' ORDER BY created_at`,
  );
  expect(told.map(({ subject_id: id }) => id).sort()).toEqual([wanted.paymentId, dead.paymentId].sort());
  expect(await audit(db)).toEqual([]);
});

it('tells an operator while the node has lost what is being taken, and goes on by itself', async () => {
  const { paymentId, invoiceId } = await offered();
  await follow();
  const hash = await hashOf(invoiceId);
  node.pay(hash, askedMsat);
  node.isAway = (path) => path.includes('settle');
  await follow();
  expect(await read(invoiceId)).toMatchObject({ state: 'taking' });
  await expect(cancel(paymentId)).rejects.toMatchObject({ code: 'CP015' });
  node.mend();
  const kept = node.known.get(hash)!;
  node.known.delete(hash);
  expect(await follow()).toBe(1);
  const lost = () => db.query(`SELECT FROM incident WHERE kind = 'held-lost' AND resolved_at IS NULL`);
  expect(await lost()).toHaveLength(1);
  node.known.set(hash, kept);
  expect(await follow()).toBe(0);
  expect(await lost()).toEqual([]);
  expect(await statusOf(paymentId)).toBe('SETTLED');
});

it('says nothing to the node by an old look', async () => {
  const { paymentId, invoiceId } = await offered();
  await follow();
  node.pay(await hashOf(invoiceId), askedMsat);
  let now = 0;
  await followInvoices({ ...deps, clock: () => (now += 30_000) });
  expect(await read(invoiceId)).toMatchObject({ state: 'taking' });
  expect(node.words).not.toContain(`settle ${await hashOf(invoiceId)}`);
  await follow();
  expect(await statusOf(paymentId)).toBe('SETTLED');
});

it('shows no invoice that the node wrote otherwise than it was asked for', async () => {
  const other = await offered();
  await follow();
  const { text } = node.known.get(await hashOf(other.invoiceId))!;
  const swapped = await offered();
  await arm('lightning.afterMake');
  await follow();
  const hash = await hashOf(swapped.invoiceId);
  node.known.set(hash, { ...node.known.get(hash)!, text });
  errors = [];
  expect(await follow()).toBe(2);
  expect(errors.join()).toContain('it is for another hash');
  expect(await read(swapped.invoiceId)).toMatchObject({ state: 'planned', invoice: null });
  for (const one of [other, swapped]) await cancelled(one);
  expect(await follow()).toBe(0);
});

describe('the audit', () => {
  const found = async (witness?: LndInvoices): Promise<string[]> => {
    const { track } = lndPayments(node.login);
    const lightning = witness && { ...witness, ...lndReadings(node.login, 'regtest'), track };
    return (await audit(db, { settleMs: 0, ...(lightning ? { lightning } : {}) })).map(({ what }) => what);
  };

  it('compares rows, journals, payments and the word of the node', async () => {
    const { paymentId, invoiceId } = await offered();
    await follow();
    const hash = await hashOf(invoiceId);
    node.pay(hash, askedMsat);
    await follow();
    expect(await found(deps.invoices)).toEqual([]);

    const changes: readonly (readonly [there: string, back: string])[] = [
      [`taken_msat = taken_msat + 1000`, `taken_msat = taken_msat - 1000`],
      [`hash = repeat('0', 64)`, `hash = '${hash}'`],
    ];
    for (const [there, back] of changes) {
      await unguarded(db, (tx) => tx.query(`UPDATE lightning_invoice SET ${there} WHERE id = $1`, [invoiceId]));
      const said = await found(deps.invoices);
      expect(said).toContain('a Lightning invoice and its journal do not agree');
      expect(said).toContain('the Lightning node took something else than is booked');
      await unguarded(db, (tx) => tx.query(`UPDATE lightning_invoice SET ${back} WHERE id = $1`, [invoiceId]));
    }
    await unguarded(db, (tx) => tx.query('UPDATE payment SET amount_paid = 1 WHERE id = $1', [paymentId]));
    expect(await found()).toEqual(['a payment and the Lightning money that settled it do not agree']);
    await unguarded(db, (tx) => tx.query('UPDATE payment SET amount_paid = $2 WHERE id = $1', [paymentId, price]));

    const known = node.known.get(hash)!;
    node.known.set('ab'.repeat(32), { ...known, state: 'ACCEPTED' });
    expect(await found(deps.invoices)).toEqual(['the Lightning node holds money that no invoice is for']);
    node.known.delete('ab'.repeat(32));
    node.lost = node.capital + 1000n;
    expect(await found(deps.invoices)).toEqual(['the Lightning node has less than the books say']);
    node.isAway = () => true;
    expect(await found(deps.invoices)).toEqual([]);
    node.lost = 0n;
  });
});

const points = [
  'lightning.afterName',
  'lightning.afterMake',
  'lightning.afterLook',
  'lightning.beforeCommit',
  'lightning.afterStep',
  'lightning.afterTell',
];
const cuts = ['hodl', 'settle', 'cancel', 'v1/invoice', 'getinfo'];

it.each(points)('goes on after it was ended at %s', async (point) => {
  const { paymentId, invoiceId } = await offered();
  for (let round = 0; round < 12; round += 1) {
    await arm(point);
    await follow();
    const { hash } = await read(invoiceId);
    if (hash && round > 2) node.pay(hash, askedMsat);
    await db.query('UPDATE fail_point SET remaining = 0');
    if (round > 5) await follow();
  }
  expect(await statusOf(paymentId)).toBe('SETTLED');
  expect(await takenBy(await hashOf(invoiceId))).toBe(price);
  expect(node.has.get(await hashOf(invoiceId))).toBe(askedMsat);
  expect(errors.some((error) => error.includes(point))).toBe(true);
});

type Act = readonly [name: 'follow' | 'two' | 'fail' | 'lose' | 'away' | 'pay' | 'mine' | 'behind' | 'die', n: number];
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('follow', 'two'), fc.constant(0)) },
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('fail', 'lose', 'away'), fc.nat(29)) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('pay'), fc.nat(100)) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('mine', 'behind', 'die'), fc.nat(40)) },
) as fc.Arbitrary<Act>;

/** A round that ends where the node does not answer. */
const followIfThere = (): Promise<unknown> =>
  follow().catch((error: unknown) => expect(error).toMatchObject({ code: 'NODE_UNREACHABLE' }));

async function play(shop: Offered, [name, n]: Act): Promise<void> {
  const cut = (path: string): boolean => path.includes(cuts[n % cuts.length]!);
  const hash = (await read(shop.invoiceId)).hash;
  const acts: Record<Act[0], () => unknown> = {
    follow: followIfThere,
    two: () => Promise.all([followIfThere(), followIfThere()]),
    fail: () => arm(points[n % points.length]!),
    lose: () => (node.loses = cut),
    away: () => (node.isAway = cut),
    pay: () => hash && node.pay(hash, askedMsat + BigInt(n) * 1_000_000n, 14 + n),
    mine: () => node.mine(n),
    behind: () => (node.isSynced = n % 2 === 0),
    die: async () => {
      if ((await statusOf(shop.paymentId)) === 'WAITING') await cancelled(shop).catch(() => undefined);
    },
  };
  await acts[name]();
}

it('books what the node has, once, whatever is lost, late or interrupted', async () => {
  const ends = { taken: 0, back: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 14 }), async (acts) => {
      const shop = await offered();
      for (const one of [['follow', 0], ...acts] as const) await play(shop, one);
      node.mend();
      await db.query('UPDATE fail_point SET remaining = 0');
      await follow();
      if ((await statusOf(shop.paymentId)) === 'WAITING') await cancelled(shop);
      expect(await follow()).toBe(0);
      const { hash, state, taken_msat: taken } = await read(shop.invoiceId);
      const has = hash ? node.has.get(hash) : undefined;
      expect(BigInt(taken ?? '0')).toBe(has ?? 0n);
      expect((await statusOf(shop.paymentId)) === 'SETTLED').toBe(has !== undefined);
      if (hash) expect(['SETTLED', 'CANCELED', undefined]).toContain(node.known.get(hash)?.state);
      ends[state === 'taken' ? 'taken' : 'back'] += 1;
    }),
    { numRuns: 60, seed: 62 },
  );
  expect(Math.min(...Object.values(ends))).toBeGreaterThan(5);
  expect(await audit(db)).toEqual([]);
});
