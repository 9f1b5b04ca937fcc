import type { DataSource, EntityManager } from 'typeorm';
import { openingDeps } from '../../api/http/deps';
import { createCodecs } from '../../chains/codecs';
import { openPayment, type NewPayment } from '../../commands/payments/create';
import { bookDeposits, balances } from '../../db/ledger/ledger';
import { selectCurrency } from '../../commands/payments/select-currency';
import { findMerchant } from '../../db/access/merchants';
import { audit } from '../../db/audit/audit';
import type { InvoiceRow } from '../../db/lightning/invoices';
import { unsettledDeposits } from '../../db/payments/deposits';
import { lockPayment, movePayment } from '../../db/payments/payments';
import type { Queryable } from '../../db/query';
import { newId } from '../../domain/ids';
import type { PaymentRow } from '../../domain/payments/payment';
import { settleOnAccount } from '../../txmanager/settle';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { connectionsTo, urlFor } from '../setup/postgres';
import { follow, hears, type Followed } from './lightning-shop';
import { LndSimulator } from './lnd-simulator';
import { paymentsAt } from './run-payment';

/** Payments in bitcoin by Lightning, from the creation to the balance, with the rights of API, payments worker and
 *  chain worker. They are not offered here: the routes refuse the currency. Where they are: tests/api/lightning. */

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
  shop = await aShop();
});
beforeEach(() => hears(followed));
afterAll(async () => {
  await node.stop();
  for (const one of [chain, payments]) await one?.destroy();
  await h?.stop();
});

/** A merchant who takes bitcoin by Lightning, which no route lets them do here. */
async function aShop(): Promise<Shop> {
  const made = await h.shop({}, ['BTC']);
  await db.query(
    `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
     SELECT $2, merchant_id, 'BTC_LN', settlement_address, custody FROM merchant_wallet WHERE merchant_id = $1`,
    [made.id, newId()],
  );
  return made;
}
const open = async (more: Partial<NewPayment> = {}, byLightning = true): Promise<PaymentRow> => {
  const deps = openingDeps(h.api.deps);
  const merchant = (await findMerchant(db, shop.id))!;
  const asked = {
    amount: '64',
    currency: 'BTC_LN',
    source: 'api',
    idempotencyKey: null,
    metadata: null,
    orderId: null,
  };
  const input = { ...asked, ...more } as NewPayment;
  return (await openPayment({ ...deps, settings: { ...deps.settings, byLightning } }, merchant, input)).row;
};
const invoicesOf = (id: string): Promise<InvoiceRow[]> =>
  db.query('SELECT * FROM lightning_invoice WHERE payment_id = $1 ORDER BY created_at, id', [id]);
const paymentOf = async (id: string): Promise<PaymentRow> =>
  (await db.query<PaymentRow[]>('SELECT * FROM payment WHERE id = $1', [id]))[0]!;
const endQuote = (id: string): Promise<unknown> =>
  db.query(
    `UPDATE payment SET quote_expires_at = clock_timestamp() - interval '1 second',
            created_at = created_at - interval '1 hour' WHERE id = $1`,
    [id],
  );
/** As the API chooses, by its own connection. */
const choose = (id: string, currency: string) =>
  h.api.deps.db.transaction((tx) => selectCurrency(tx, h.api.deps, id, currency, 'payer'));

it('is settled to the balance by one invoice for its price, without address, depth or network fee', async () => {
  const made = await open();
  expect(made).toMatchObject({
    ...{ status: 'WAITING', currency: 'BTC_LN', network: 'bitcoin', amount: '0.001', exchange_rate: expect.anything() },
    ...{ deposit_address: null, destination_tag: null, required_confirmations: 0, network_fee_amount: '0' },
  });
  expect(await db.query('SELECT FROM address WHERE payment_id = $1', [made.id])).toEqual([]);
  const [invoice, ...more] = await invoicesOf(made.id);
  expect(more).toEqual([]);
  expect(invoice).toMatchObject({ state: 'planned', currency: 'BTC_LN', asked_msat: '100000000' });
  expect(invoice!.expires_at).toEqual((await paymentOf(made.id)).quote_expires_at);

  await follow(followed);
  const [{ hash }] = (await invoicesOf(made.id)) as [InvoiceRow & { hash: string }];
  node.pay(hash, 100_000_000n);
  expect(await follow(followed)).toBe(0);
  expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', tx_ids: [hash] });
  const held = (await balances(db, shop.id)).map(({ asset, kind, amount }) => [asset, kind, amount]);
  expect(held).toEqual(
    expect.arrayContaining([
      ['BTC_LN', 'available', '0.000996'],
      ['BTC_LN', 'unsettled', '0'],
    ]),
  );
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
  // Nothing can be sent by Lightning yet.
  const refund = { key: shop.key, body: { type: 'full' } };
  expect((await h.call('POST', `/api/v1/payments/${made.id}/refunds/preview`, refund)).body).toMatchObject({
    error: { code: 'REFUND_NOT_ALLOWED' },
  });
});

/** What `act` changes is seen by it alone. */
async function rolledBack<T>(act: (tx: EntityManager) => Promise<T>): Promise<T> {
  const isOver = new Error('rolled back');
  let found: T;
  await expect(
    db.transaction(async (tx) => {
      found = await act(tx);
      throw isOver;
    }),
  ).rejects.toBe(isOver);
  return found!;
}

/** A payment on a chain whose money came to the account that it is spent from: as it was, and as it is settled. */
async function settledOnChain(tx: EntityManager, id: string): Promise<{ before: PaymentRow; after: PaymentRow }> {
  let row = await lockPayment(tx, id);
  const [deposit] = await tx.query<Array<{ id: string }>>(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, payment_id)
     VALUES ('bitcoin', $1, 0, $2, 'deposit', 'BTC', $3, $3, false, 'confirmed', now(), $4) RETURNING id`,
    ['ab'.repeat(32), row.deposit_address, row.amount, id],
  );
  await bookDeposits(tx, row, [deposit!.id], 'unsettled');
  const patch = { amount_paid: row.amount!, tx_ids: ['ab'.repeat(32)] };
  for (const to of ['CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED'] as const)
    row = await movePayment(tx, row, { to, cause: 'a test', events: [], patch });
  return { before: row, after: await settleOnAccount(tx, row, await unsettledDeposits(tx, id)) };
}

const entryOf = async (tx: Queryable, id: string): Promise<unknown> =>
  (
    await tx.query<unknown[]>(
      `SELECT e.type, e.source_type, e.amount::text, e.fiat_currency, e.fiat_rate::text FROM ledger_entry e
         JOIN journal j ON j.id = e.journal_id WHERE j.key = $1`,
      [`payment/${id}/settle`],
    )
  )[0];

it('stamps and books what a settlement on a chain does', async () => {
  const made = await open();
  await follow(followed);
  const [{ hash }] = (await invoicesOf(made.id)) as [InvoiceRow & { hash: string }];
  node.pay(hash, 100_000_000n);
  await follow(followed);
  const byLightning = await db.transaction((tx) => lockPayment(tx, made.id));
  const onChain = await open({ currency: 'BTC' });
  const { before, after, entry } = await rolledBack(async (tx) => ({
    ...(await settledOnChain(tx, onChain.id)),
    entry: await entryOf(tx, onChain.id),
  }));
  const ofTheMove = ['state_version', 'updated_at', 'settled_at', 'value_paid'];
  const stamped = (Object.keys(after) as Array<keyof PaymentRow>).filter(
    (column) => JSON.stringify(before[column]) !== JSON.stringify(after[column]) && !ofTheMove.includes(column),
  );
  expect(stamped.sort()).toEqual(['settled_fee_amount', 'settled_net_amount', 'status', 'sweep_state']);
  const columns = [...stamped, 'amount_paid', 'settled_stamp_incomplete'] as const;
  const shown = (row: PaymentRow) => columns.map((column) => [column, row[column as keyof PaymentRow]]);
  expect(shown(byLightning)).toEqual(shown(after));
  expect([byLightning.settled_at, after.settled_at]).toEqual([expect.any(Date), expect.any(Date)]);
  expect(await entryOf(db, made.id)).toEqual(entry);
});

it('shows its invoice once the node has made it, with a link for wallets, and a new one with each price', async () => {
  const made = await open();
  const shown = async () => (await h.call('GET', `/getInvoiceStatus?invoiceId=${made.slug}`)).body;
  expect(await shown()).toMatchObject({ depositAddress: null, paymentUri: null, stateVersion: 1 });
  await follow(followed);
  const [{ invoice }] = (await invoicesOf(made.id)) as [InvoiceRow];
  expect(invoice).toMatch(/^lnbcrt1000000n1/);
  const view = { depositAddress: invoice, paymentUri: `lightning:${invoice}`, amount: '0.001', stateVersion: 2 };
  expect(await shown()).toMatchObject({ ...view, network: 'bitcoin', currency: 'BTC_LN', requiredConfirmations: 0 });
  await follow(followed);
  expect(await shown()).toMatchObject({ stateVersion: 2 });
  const own = await h.call('GET', `/api/v1/payments/${made.id}`, { key: shop.key });
  expect(own.body).toMatchObject({ currency: 'BTC_LN', publicKey: invoice });

  await endQuote(made.id);
  expect(await act.refreshQuote(made.id)).toEqual({ status: 'WAITING' });
  expect(await shown()).toMatchObject({ depositAddress: null, paymentUri: null });
  await follow(followed);
  const [, newer] = await invoicesOf(made.id);
  expect(await shown()).toMatchObject({ depositAddress: newer!.invoice, paymentUri: `lightning:${newer!.invoice}` });
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

it('shows no invoice that comes after another currency was chosen', async () => {
  const made = await open({ currency: 'BTC' });
  await choose(made.id, 'BTC_LN');
  await choose(made.id, 'BTC');
  await follow(followed);
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelled' }]);
  expect(await paymentOf(made.id)).toMatchObject({ currency: 'BTC', deposit_address: made.deposit_address });
});

it('is not what another payment shows, by the audit', async () => {
  const [one, other] = [await open(), await open()];
  await follow(followed);
  const [{ invoice }] = (await invoicesOf(other.id)) as [InvoiceRow];
  const show = (text: string | null): Promise<unknown> =>
    db.query('UPDATE payment SET deposit_address = $2 WHERE id = $1', [one.id, text]);
  await show(invoice);
  expect(await audit(db, { settleMs: 0 })).toMatchObject([{ invariant: 'I15', found: [one.id] }]);
  await show(null);
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

it('has one invoice, however often it is asked for', async () => {
  const idempotencyKey = 'the same';
  const [first, second] = [await open({ idempotencyKey }), await open({ idempotencyKey })];
  expect(second.id).toBe(first.id);
  expect(await invoicesOf(first.id)).toHaveLength(1);
});

it.each([
  ['was not heard of for a minute', { age: 61 }],
  ['does not know the newest block', { isSynced: false }],
  ['cannot receive so much', { receivable: 99_999n }],
] as const)('is not opened while the node %s', async (_, said) => {
  await hears(followed, said);
  const count = () => db.query('SELECT count(*)::int AS n FROM payment');
  const before = await count();
  await expect(open()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  expect(await count()).toEqual(before);
  const other = await open({ currency: 'BTC' });
  expect(await choose(other.id, 'BTC_LN')).toEqual({ status: 'WAITING', refused: 'CURRENCY_NOT_CHANGEABLE' });
  await hears(followed, { receivable: 100_000n });
  expect(await choose(other.id, 'BTC_LN')).toEqual({ status: 'WAITING' });
});

it('is chosen in place of a chain and left again: what is paid by the invoice then goes back', async () => {
  const made = await open({ currency: 'BTC' });
  expect(await choose(made.id, 'BTC_LN')).toEqual({ status: 'WAITING' });
  expect(await paymentOf(made.id)).toMatchObject({ currency: 'BTC_LN', deposit_address: null });
  await follow(followed);
  const [invoice] = await invoicesOf(made.id);
  expect(await choose(made.id, 'BTC')).toEqual({ status: 'WAITING' });
  expect(await paymentOf(made.id)).toMatchObject({ currency: 'BTC', deposit_address: made.deposit_address });
  node.pay(invoice!.hash!, 100_000_000n);
  await follow(followed);
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelled', decision: 'return', taken_msat: null }]);
  // Chosen once more it has another invoice, with another hash.
  await choose(made.id, 'BTC_LN');
  await follow(followed);
  const [, again] = await invoicesOf(made.id);
  expect(again).toMatchObject({ state: 'open' });
  expect(again!.hash).not.toBe(invoice!.hash);
  node.pay(again!.hash!, 100_000_000n);
  await follow(followed);
  expect((await paymentOf(made.id)).status).toBe('SETTLED');
});

it('keeps its invoice where a coin comes to the address of an earlier choice, which becomes a child', async () => {
  const made = await open({ currency: 'BTC' });
  await choose(made.id, 'BTC_LN');
  await follow(followed);
  await chain.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at)
     VALUES ('bitcoin', $1, 0, $2, 'deposit', $3, 'BTC', 0.00002, 0.00002, false, 'pool', clock_timestamp())`,
    ['16'.repeat(32), made.deposit_address, made.id],
  );
  await follow(followed);
  const [invoice] = await invoicesOf(made.id);
  expect(invoice).toMatchObject({ state: 'open', decision: null });
  await act.runPayment(made.id);
  expect((await paymentOf(made.id)).status).toBe('WAITING');
  node.pay(invoice!.hash!, 100_000_000n);
  await follow(followed);
  expect((await paymentOf(made.id)).status).toBe('SETTLED');
});

it('has another invoice with each new quote, and the older one is paid in vain', async () => {
  const made = await open();
  await follow(followed);
  const [old] = await invoicesOf(made.id);
  await endQuote(made.id);
  const rate = (value: number): Promise<unknown> =>
    db.query(
      `INSERT INTO rate (currency, fiat, value, sources, taken_at)
             VALUES ('BTC', 'USD', $1, '[]', clock_timestamp())`,
      [value],
    );
  await rate(128_000);
  expect(await act.refreshQuote(made.id)).toEqual({ status: 'WAITING' });
  await rate(64_000);
  node.pay(old!.hash!, 100_000_000n);
  await follow(followed);
  const [before, now] = await invoicesOf(made.id);
  expect(before).toMatchObject({ state: 'cancelled', why: 'newer quote' });
  expect(now).toMatchObject({ state: 'open', asked_msat: '50000000' });
  node.pay(now!.hash!, 50_000_000n);
  await follow(followed);
  expect(await paymentOf(made.id)).toMatchObject({ status: 'SETTLED', exceptions: [] });
});

it('expires after its invoice', async () => {
  const made = await open();
  await follow(followed);
  await db.query(`UPDATE payment SET expires_at = clock_timestamp() - interval '1 second' WHERE id = $1`, [made.id]);
  await act.runPayment(made.id);
  expect((await paymentOf(made.id)).status).toBe('WAITING');
  await follow(followed);
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelled', decision: 'return', why: 'too late' }]);
  await act.runPayment(made.id);
  expect((await paymentOf(made.id)).status).toBe('EXPIRED');
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

it('is offered by no route without the setting, whatever node there is', async () => {
  const asked = { key: shop.key, body: { amount: 64, currency: 'BTC_LN' } };
  const answer = await h.call('POST', '/api/v1/payments', asked);
  expect([answer.status, answer.body.error]).toEqual([400, expect.any(String)]);
  await expect(open({}, false)).rejects.toMatchObject({ details: { reason: 'UNKNOWN_CURRENCY' } });
  const { text } = await h.call('GET', '/api/v1/currencies', { key: shop.key });
  expect(text).not.toContain('BTC_LN');
  const { id, slug } = await open({ currency: 'BTC' });
  const chosen = await h.call('POST', `/invoice/${slug}/select-currency`, { body: { currency: 'BTC_LN' } });
  expect([chosen.status, (await paymentOf(id)).currency]).toEqual([400, 'BTC']);
});

it.each([
  ['another amount', `asked_msat - 1000`, 'quote_expires_at', `'BTC_LN'`],
  ['longer than the price stands', 'asked_msat', `quote_expires_at + interval '1 s'`, `'BTC_LN'`],
  ['another currency', 'asked_msat', 'quote_expires_at', `'BTC'`],
])('has no invoice for %s, whoever writes one', async (_, msat, until, currency) => {
  const made = await open();
  const [{ id }] = (await invoicesOf(made.id)) as [InvoiceRow];
  await db.query(`SELECT decide_lightning($1, 'return', 'newer quote')`, [id]);
  for (const role of [h.api.deps.db, payments]) {
    const write = (asked: string, end: string, inCurrency: string): Promise<unknown> =>
      role.query(
        `INSERT INTO lightning_invoice (id, payment_id, currency, asked_msat, expires_at)
         SELECT $1, p.id, ${inCurrency}, ${asked}, ${end}
           FROM payment p JOIN lightning_invoice i ON i.payment_id = p.id WHERE i.id = $2`,
        [newId(), id],
      );
    await expect(write(msat, until, currency)).rejects.toMatchObject({ code: 'CP014' });
  }
});

it('lets who does not ask the node send money back, and take none', async () => {
  const made = await open();
  const [{ id }] = (await invoicesOf(made.id)) as [InvoiceRow];
  for (const role of [h.api.deps.db, payments]) {
    const take = role.query(`SELECT decide_lightning($1, 'take', 'whole')`, [id]);
    await expect(take).rejects.toMatchObject({ code: 'CP014' });
  }
  await h.api.deps.db.query(`SELECT decide_lightning($1, 'return', 'newer quote')`, [id]);
  expect(await invoicesOf(made.id)).toMatchObject([{ state: 'cancelling' }]);
});
