import type { DataSource } from 'typeorm';
import { openingDeps } from '../../api/http/deps';
import { createCodecs } from '../../chains/codecs';
import { openPayment, type NewPayment } from '../../commands/payments/create';
import { selectCurrency } from '../../commands/payments/select-currency';
import { findMerchant } from '../../db/access/merchants';
import { audit } from '../../db/audit/audit';
import { armFailPoints, disarmFailPoints } from '../../db/fail-point';
import { balances } from '../../db/ledger/ledger';
import { planBeside, type InvoiceRow } from '../../db/lightning/invoices';
import { newId } from '../../domain/ids';
import type { PaymentRow } from '../../domain/payments/payment';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { connectionsTo, urlFor } from '../setup/postgres';
import { follow, hears, type Followed } from './lightning-shop';
import { LndSimulator } from './lnd-simulator';
import { paymentsAt } from './run-payment';

/** A payment of bitcoin with an address and an invoice: the half that is paid first gives it its asset, the other goes
 *  back or becomes a child payment. With the rights of API, payments worker and chain worker, and a simulator of lnd's
 *  API. */

const node = new LndSimulator();
let h: Harness;
let db: DataSource;
let payments: DataSource;
let chain: DataSource;
let shop: Shop;
let act: ReturnType<typeof paymentsAt>;
let followed: Followed;

beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  payments = await connectionsTo(urlFor(h.databaseUrl, 'payments')).initialize();
  chain = await connectionsTo(urlFor(h.databaseUrl, 'chain')).initialize();
  await node.start();
  followed = { db, chain, node };
  const { config } = h.api.deps;
  act = paymentsAt({ db: payments, config, codecs: createCodecs(config.chain) });
  await hears(followed);
  armFailPoints(chain);
});
beforeEach(async () => {
  node.mend();
  shop = await aShop();
});
afterAll(async () => {
  disarmFailPoints();
  await node.stop();
  for (const one of [chain, payments]) await one?.destroy();
  await h?.stop();
});

/** A merchant who takes both halves of bitcoin. */
async function aShop(): Promise<Shop> {
  const made = await h.shop({}, ['BTC', 'ETH']);
  await db.query(
    `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
     VALUES ($2, $1, 'BTC_LN', $3, 'platform')`,
    [made.id, newId(), node.key],
  );
  return made;
}
const open = async (more: Partial<NewPayment> = {}): Promise<PaymentRow> => {
  const merchant = (await findMerchant(db, shop.id))!;
  const asked = { amount: '64', currency: 'BTC', source: 'api', idempotencyKey: null, metadata: null, orderId: null };
  return (await openPayment(openingDeps(h.api.deps), merchant, { ...asked, ...more } as NewPayment)).row;
};
/** One look of the chain worker, as `followLightning` has it; how many invoices are left. */
async function look(receivable = 5_000_000n): Promise<number> {
  await planBeside(chain, receivable);
  return follow(followed);
}
const invoicesOf = (id: string): Promise<InvoiceRow[]> =>
  db.query('SELECT * FROM lightning_invoice WHERE payment_id = $1 ORDER BY created_at, id', [id]);
const paymentOf = async (id: string): Promise<PaymentRow> =>
  (await db.query<PaymentRow[]>('SELECT *, trim_scale(amount)::text AS amount FROM payment WHERE id = $1', [id]))[0]!;
const childrenOf = (id: string): Promise<PaymentRow[]> =>
  db.query('SELECT *, trim_scale(amount)::text AS amount FROM payment WHERE parent_payment_id = $1', [id]);
const shown = async ({ slug }: PaymentRow) => (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
const choose = (id: string, currency: string) =>
  h.api.deps.db.transaction((tx) => selectCurrency(tx, h.api.deps, id, currency, 'payer'));
const asked = 100_000_000n;

/** A payment with both halves, and the hash of its invoice. */
async function withBoth(): Promise<Readonly<{ made: PaymentRow; hash: string; invoiceId: string }>> {
  const made = await open();
  await look();
  const [{ hash, id: invoiceId }] = (await invoicesOf(made.id)) as [InvoiceRow & { hash: string }];
  return { made, hash, invoiceId };
}
/** Money at the address of a payment, as the follower stores it. */
let sent = 0;
const arrives = (
  { id, deposit_address: address, amount }: PaymentRow,
  status: 'pool' | 'confirmed' = 'confirmed',
  by: Pick<DataSource, 'query'> = chain,
): Promise<unknown> =>
  by.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at)
     VALUES ('bitcoin', $1, 0, $2, 'deposit', $3, 'BTC', $4, $4, false, $5,
       CASE WHEN $5 = 'confirmed' THEN 'b' END, CASE WHEN $5 = 'confirmed' THEN 90 END, clock_timestamp(),
       CASE WHEN $5 = 'confirmed' THEN now() END)`,
    [(sent += 1).toString(16).padStart(64, '0'), address, id, amount, status],
  );
const leaves = (id: string): Promise<unknown> =>
  db.query(`UPDATE deposit SET status = 'replaced' WHERE payment_id = $1`, [id]);
const endQuote = (id: string): Promise<unknown> =>
  db.query(
    `UPDATE payment SET quote_expires_at = clock_timestamp() - interval '1 second',
            created_at = created_at - interval '1 hour' WHERE id = $1`,
    [id],
  );
const held = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await balances(db, shop.id)).map(({ asset, kind, amount }) => [`${asset} ${kind}`, amount] as const),
  );
const eventsOf = async (id: string): Promise<string[]> =>
  (await db.query<Array<{ type: string }>>('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [id])).map(
    ({ type }) => type,
  );

it('has an invoice beside its address within a look, in one payment URI, and is created as ever', async () => {
  const made = await open();
  expect(made).toMatchObject({ currency: 'BTC', deposit_address: expect.stringMatching(/^bcrt1/) });
  expect(await invoicesOf(made.id)).toEqual([]);
  const before = (await shown(made)).paymentUri as string;
  expect(before).not.toContain('lightning');
  await look();
  const [invoice, ...more] = await invoicesOf(made.id);
  expect(more).toEqual([]);
  expect(invoice).toMatchObject({ state: 'open', currency: 'BTC_LN', beside: 'BTC', asked_msat: asked.toString() });
  expect(invoice!.expires_at).toEqual((await paymentOf(made.id)).quote_expires_at);
  const view = await shown(made);
  expect(view).toMatchObject({ currency: 'BTC', depositAddress: made.deposit_address, stateVersion: 2 });
  expect(view.paymentUri).toBe(`${before}&lightning=${invoice!.invoice}`);
  expect(await look()).toBe(1);
  expect(await invoicesOf(made.id)).toHaveLength(1);
  expect(await eventsOf(made.id)).toEqual(['payment.created']);
});

it('is a payment by Lightning once its invoice is paid; what comes to its address is a child', async () => {
  const { made, hash } = await withBoth();
  node.pay(hash, asked);
  await look();
  const [{ invoice }] = (await invoicesOf(made.id)) as [InvoiceRow];
  expect(await paymentOf(made.id)).toMatchObject({
    ...{ status: 'SETTLED', currency: 'BTC_LN', network: 'bitcoin', deposit_address: invoice, tx_ids: [hash] },
    ...{ settlement_address: node.key, custody: 'platform', required_confirmations: 0, exceptions: [] },
    ...{ original_currency: null },
  });
  expect(await eventsOf(made.id)).toEqual([
    ...['payment.created', 'payment.currency_selected', 'payment.detected', 'payment.confirming'],
    ...['payment.confirmed', 'payment.sweep_queued', 'payment.settled'],
  ]);
  expect(await held()).toMatchObject({ 'BTC_LN available': '0.000996', 'BTC_LN unsettled': '0' });
  expect(await audit(db, { settleMs: 0 })).toEqual([]);

  await arrives(made);
  await act.runPayment(made.id);
  const [child, ...more] = await childrenOf(made.id);
  expect(more).toEqual([]);
  expect(child).toMatchObject({ currency: 'BTC', amount: made.amount, deposit_address: made.deposit_address });
  expect((await act.runPayment(child!.id)).status).toBe('CONFIRMED');
  expect(await held()).toMatchObject({ 'BTC_LN available': '0.000996', 'BTC unsettled': made.amount });
  expect((await paymentOf(made.id)).status).toBe('SETTLED');
});

it('has its late coins settled to the wallet of bitcoin, also where that is no more', async () => {
  const { made, hash } = await withBoth();
  node.pay(hash, asked);
  await look();
  await db.query(
    `UPDATE merchant_wallet SET is_active = false, deactivated_at = now() WHERE merchant_id = $1 AND currency = 'BTC'`,
    [shop.id],
  );
  await arrives(made);
  await act.runPayment(made.id);
  const [child] = await childrenOf(made.id);
  expect(child).toMatchObject({ settlement_address: made.settlement_address, custody: made.custody });
  expect(made.settlement_address).toMatch(/^bcrt1/);
});

it.each(['pool', 'confirmed'] as const)(
  'sends the money of its invoice back once something is seen at its address (%s)',
  async (status) => {
    const { made, hash } = await withBoth();
    await arrives(made, status);
    expect((await shown(made)).paymentUri).toBeNull();
    node.pay(hash, asked);
    await look();
    expect(await invoicesOf(made.id)).toMatchObject([
      { state: 'cancelled', decision: 'return', why: 'not wanted', taken_msat: null },
    ]);
    expect(node.known.get(hash)!.state).toBe('CANCELED');
    expect(await paymentOf(made.id)).toMatchObject({ currency: 'BTC', status: 'WAITING' });
    const { status: after } = await act.runPayment(made.id);
    expect(after).toBe(status === 'pool' ? 'CONFIRMING' : 'CONFIRMED');
    // What vanishes from the chain brings no other invoice back: this one has ended.
    if (status === 'confirmed') return;
    await leaves(made.id);
    expect((await act.runPayment(made.id)).status).toBe('WAITING');
    await look();
    expect(await invoicesOf(made.id)).toHaveLength(1);
    expect((await shown(made)).paymentUri).not.toContain('lightning');
  },
);

it('makes a child of what comes while its money is being taken, and counts it where that went back', async () => {
  for (const isLost of [false, true]) {
    const { made, hash } = await withBoth();
    node.pay(hash, asked);
    node.isAway = (path) => path.includes('settle');
    await planBeside(chain, 5_000_000n);
    await follow(followed, () => undefined);
    expect(await invoicesOf(made.id)).toMatchObject([{ state: 'taking', is_for_payment: true }]);
    await arrives(made);
    expect((await act.runPayment(made.id)).status).toBe('WAITING');
    expect(await act.cancelPayment(made.id, 'payer')).toMatchObject({ refused: 'PAYMENT_NOT_CANCELLABLE' });
    expect(await choose(made.id, 'ETH')).toMatchObject({ refused: 'CURRENCY_NOT_CHANGEABLE' });
    node.mend();
    if (isLost) node.known.get(hash)!.state = 'CANCELED';
    await look();
    await act.runPayment(made.id);
    const children = await childrenOf(made.id);
    if (isLost) {
      expect(await paymentOf(made.id)).toMatchObject({ status: 'CONFIRMED', currency: 'BTC', amount: made.amount });
      expect(children).toEqual([]);
    } else {
      expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', currency: 'BTC_LN' });
      expect(children).toMatchObject([{ currency: 'BTC', amount: made.amount }]);
    }
  }
  const [lightning] = await db.query(
    `SELECT count(*)::int AS n FROM journal j JOIN lightning_invoice i ON j.key = 'lightning/' || i.hash
       JOIN payment p ON p.id = i.payment_id WHERE p.merchant_id = $1`,
    [shop.id],
  );
  expect(lightning).toEqual({ n: 1 });
});

it('does not see a deposit that is being stored while it decides, and makes a child of that', async () => {
  const { made, hash } = await withBoth();
  node.pay(hash, asked);
  const storing = chain.createQueryRunner();
  await storing.startTransaction();
  await arrives(made, 'confirmed', storing);
  await look();
  await storing.commitTransaction();
  await storing.release();
  await act.runPayment(made.id);
  expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', currency: 'BTC_LN', exceptions: [] });
  expect(await childrenOf(made.id)).toMatchObject([{ currency: 'BTC', amount: made.amount }]);
});

it('counts one half, and loses none, whichever comes first of both at once', async () => {
  const all: Array<Awaited<ReturnType<typeof withBoth>>> = [];
  for (let n = 0; n < 16; n += 1) all.push(await withBoth());
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  // The coins come before, while and after two workers see what the node holds.
  for (const [n, { made, hash }] of all.entries()) {
    const onChain = async (): Promise<void> => {
      await pause(n * 8);
      await arrives(made);
      await act.runPayment(made.id);
    };
    await Promise.all([onChain(), pause(30).then(() => (node.pay(hash, asked), look())), pause(35).then(() => look())]);
  }
  let byLightning = 0;
  for (let round = 0; round < 3; round += 1) {
    await look();
    for (const { made } of all) await act.runPayment(made.id);
  }
  for (const { made, hash } of all) {
    const { status, currency } = await paymentOf(made.id);
    const children = await childrenOf(made.id);
    const [invoice] = await invoicesOf(made.id);
    const isTaken = node.has.has(hash);
    expect([status, currency, invoice!.state]).toEqual(
      isTaken ? ['SETTLED', 'BTC_LN', 'taken'] : ['CONFIRMED', 'BTC', 'cancelled'],
    );
    expect(children.map((child) => [child.currency, child.amount])).toEqual(isTaken ? [['BTC', made.amount]] : []);
    if (isTaken) byLightning += 1;
    for (const child of children) expect((await act.runPayment(child.id)).status).toBe('CONFIRMED');
  }
  // Each payer's coins are in the books once, on whichever side.
  const books = await held();
  expect(Number(books['BTC unsettled'])).toBeCloseTo(16 * 0.001, 8);
  expect(Number(books['BTC_LN available'] ?? 0)).toBeCloseTo(byLightning * 0.000996, 8);
  expect(byLightning).toBeGreaterThan(0);
  expect(byLightning).toBeLessThan(16);
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

it('has another invoice with each new quote, and the older one is paid in vain', async () => {
  const { made, hash } = await withBoth();
  await endQuote(made.id);
  expect(await act.refreshQuote(made.id)).toEqual({ status: 'WAITING' });
  expect((await shown(made)).paymentUri).not.toContain('lightning');
  node.pay(hash, asked);
  await look();
  await look();
  const [old, now] = await invoicesOf(made.id);
  expect(old).toMatchObject({ state: 'cancelled', decision: 'return' });
  expect(now).toMatchObject({ state: 'open', beside: 'BTC' });
  expect((await shown(made)).paymentUri).toContain(now!.invoice);
  node.pay(now!.hash!, asked);
  await look();
  expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', currency: 'BTC_LN' });
});

it('sends the money back once the payment is cancelled', async () => {
  const { made, hash } = await withBoth();
  await act.cancelPayment(made.id, 'payer');
  node.pay(hash, asked);
  await look();
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelled', decision: 'return' }]);
});

/** Its time is over for so long, and bitcoin is read past that. */
async function endTime({ id }: PaymentRow, ago: string): Promise<void> {
  await db.query(`UPDATE payment SET expires_at = clock_timestamp() - $2::interval WHERE id = $1`, [id, ago]);
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('bitcoin', 100, 'b', 100, clock_timestamp())
     ON CONFLICT (network) DO UPDATE SET scanned_through = clock_timestamp()`,
  );
}

it('expires once the node has said that nothing came, and takes what came in time', async () => {
  const [paid, none] = [await withBoth(), await withBoth()];
  node.pay(paid.hash, asked);
  for (const { made } of [paid, none]) {
    await endTime(made, '1 second');
    expect((await act.runPayment(made.id)).status).toBe('WAITING');
  }
  await look();
  expect(await paymentOf(paid.made.id)).toMatchObject({ status: 'SETTLED', currency: 'BTC_LN' });
  expect(await invoicesOf(none.made.id)).toMatchObject([{ state: 'cancelled', why: 'too late' }]);
  expect((await act.runPayment(none.made.id)).status).toBe('EXPIRED');
});

it('expires after a day where the node says nothing, and what the node holds goes back', async () => {
  const { made, hash } = await withBoth();
  node.pay(hash, asked);
  await endTime(made, '23 hours 59 minutes');
  expect((await act.runPayment(made.id)).status).toBe('WAITING');
  await endTime(made, '24 hours 1 second');
  expect((await act.runPayment(made.id)).status).toBe('EXPIRED');
  await look();
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelled', decision: 'return' }]);
});

it('is chosen away and back: only the invoice of what the payment is in now is wanted', async () => {
  const { made, hash } = await withBoth();
  expect(await choose(made.id, 'ETH')).toEqual({ status: 'WAITING' });
  node.pay(hash, asked);
  await look();
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelled', decision: 'return' }]);
  expect(await choose(made.id, 'BTC')).toEqual({ status: 'WAITING' });
  await look();
  expect(await choose(made.id, 'BTC_LN')).toEqual({ status: 'WAITING' });
  await look();
  const [, beside, own] = await invoicesOf(made.id);
  expect(beside).toMatchObject({ state: 'cancelled', why: 'newer quote', beside: 'BTC' });
  expect(own).toMatchObject({ state: 'open', beside: null });
  expect(await choose(made.id, 'BTC')).toEqual({ status: 'WAITING' });
  node.pay(own!.hash!, asked);
  await look();
  expect((await invoicesOf(made.id))[2]).toMatchObject({ state: 'cancelled', decision: 'return' });
  expect(await paymentOf(made.id)).toMatchObject({ status: 'WAITING', currency: 'BTC' });
});

it('books what an older database has not heard of yet, from the word of the node', async () => {
  const { made, hash } = await withBoth();
  node.pay(hash, asked);
  node.take(hash);
  await look();
  expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', currency: 'BTC_LN', tx_ids: [hash] });
  expect(await held()).toMatchObject({ 'BTC_LN available': '0.000996' });
});

it('is taken once whichever step a worker is ended at', async () => {
  const points = ['afterName', 'afterMake', 'afterLook', 'beforeCommit', 'afterStep', 'afterTell'];
  const made = await open();
  const patient = { ...followed };
  for (const point of points) {
    await db.query(
      `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)
       ON CONFLICT (name) DO UPDATE SET action = 'throw', remaining = 1`,
      [`lightning.${point}`],
    );
    await planBeside(chain, 5_000_000n);
    await follow(patient, () => undefined);
    const [invoice] = await invoicesOf(made.id);
    if (invoice?.hash) node.pay(invoice.hash, asked);
  }
  await db.query('UPDATE fail_point SET remaining = 0');
  await look();
  await look();
  expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', currency: 'BTC_LN' });
  expect(await held()).toMatchObject({ 'BTC_LN available': '0.000996' });
});

describe('is bitcoin alone', () => {
  const isAlone = async (made: PaymentRow, receivable?: bigint): Promise<void> => {
    await look(receivable);
    expect(await invoicesOf(made.id)).toEqual([]);
  };

  it('where its merchant does not take it by Lightning', async () => {
    await db.query(
      `UPDATE merchant_wallet SET is_active = false, deactivated_at = now()
        WHERE merchant_id = $1 AND currency = 'BTC_LN'`,
      [shop.id],
    );
    await isAlone(await open());
  });

  it('where the node cannot receive so much', async () => {
    const made = await open();
    await isAlone(made, 99_999n);
    await look(100_000n);
    expect(await invoicesOf(made.id)).toHaveLength(1);
  });

  it('where it is in another coin, or its widget leaves Lightning out', async () => {
    await isAlone(await open({ currency: 'ETH' }));
    const made = await open();
    await db.query(`UPDATE payment SET allowed_currencies = '{BTC,ETH}' WHERE id = $1`, [made.id]);
    await isAlone(made);
  });

  it('where something has come already, or its quote ends in a moment', async () => {
    const paid = await open();
    await arrives(paid, 'pool');
    await isAlone(paid);
    const late = await open();
    await db.query(`UPDATE payment SET quote_expires_at = clock_timestamp() + interval '10 s' WHERE id = $1`, [
      late.id,
    ]);
    await isAlone(late);
  });

  it('while somebody holds its row, and not after', async () => {
    const made = await open();
    await db.transaction(async (tx) => {
      await tx.query('SELECT FROM payment WHERE id = $1 FOR UPDATE', [made.id]);
      await isAlone(made);
    });
    await look();
    expect(await invoicesOf(made.id)).toHaveLength(1);
  });
});

it('makes the invoices that somebody waits for first', async () => {
  for (let n = 0; n < 20; n += 1) await open();
  await planBeside(chain, 5_000_000n);
  await planBeside(chain, 5_000_000n);
  for (let n = 0; n < 20; n += 1) {
    const { id } = await open();
    await choose(id, 'BTC_LN');
  }
  await follow(followed);
  const left = await db.query(
    `SELECT DISTINCT i.beside FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
      WHERE p.merchant_id = $1 AND i.state = 'planned'`,
    [shop.id],
  );
  expect(left).toEqual([{ beside: 'BTC' }]);
});

it('has no invoice beside its address by anybody but the chain worker, or at another price', async () => {
  const made = await open();
  const write = (by: DataSource, msat: bigint): Promise<unknown> =>
    by.query(
      `INSERT INTO lightning_invoice (id, payment_id, currency, beside, asked_msat, expires_at)
       SELECT $1, id, 'BTC_LN', 'BTC', $3, quote_expires_at FROM payment WHERE id = $2`,
      [newId(), made.id, msat.toString()],
    );
  for (const role of [h.api.deps.db, payments])
    await expect(write(role, asked)).rejects.toMatchObject({ code: 'CP014' });
  await expect(write(db, asked - 1000n)).rejects.toMatchObject({ code: 'CP014' });
  await write(db, asked);
  await expect(
    db.query(`UPDATE lightning_invoice SET beside = NULL WHERE payment_id = $1`, [made.id]),
  ).rejects.toMatchObject({ code: 'CP012' });
});
