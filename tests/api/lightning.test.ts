import type { DataSource } from 'typeorm';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import type { InvoiceRow } from '../../db/lightning/invoices';
import type { PaymentRow } from '../../domain/payments/payment';
import { follow, hears, type Followed } from '../activities/lightning-shop';
import { LndSimulator } from '../activities/lnd-simulator';
import { bytes, written } from '../chain/lightning-writer';
import { connectionsTo, urlFor } from '../setup/postgres';
import { eventually, startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';

/** BTC_LN by its routes, where it is offered: wallet, lists, creation, choice. The node is a simulator of lnd's API;
 *  the  chain worker's look runs here, as its role. */

let h: Harness;
let db: DataSource;
let chain: DataSource;
let node: LndSimulator;
let followed: Followed;
let admin: Person;
let worker: { isAway: boolean; stop: () => Promise<void> };

beforeAll(async () => {
  const LIGHTNING_URL = 'https://lnd.invalid:8080';
  const files = { LIGHTNING_TLS_FILE: '/unread/tls', LIGHTNING_READ_MACAROON_FILE: '/unread/macaroon' };
  h = await startHarness({ PROXY_COUNT: '1', LIGHTNING_PAYMENTS: 'true', LIGHTNING_URL, ...files });
  db = h.db;
  chain = await connectionsTo(urlFor(h.databaseUrl, 'chain')).initialize();
  node = new LndSimulator();
  await node.start();
  followed = { db, chain, node };
  worker = works();
  admin = await Person.admin(h);
});
afterAll(async () => {
  await worker?.stop();
  await node?.stop();
  await chain?.destroy();
  await h?.stop();
});

/** The chain worker, which looks again and again. */
function works(): typeof worker {
  let isOver = false;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
  const state = {
    isAway: false,
    async stop(): Promise<void> {
      isOver = true;
      await done;
    },
  };
  const done = (async () => {
    for (; !isOver; await pause()) if (!state.isAway) await follow(followed);
  })();
  return state;
}

const currency = 'BTC_LN';
const wallets = '/api/v1/merchant-wallets';
const addWallet = async (more: object = {}): Promise<Answer> =>
  admin.post(wallets, { currency, totpCode: await admin.code(), ...more });
const create = (more: object = {}): Promise<Answer> =>
  admin.post('/api/v1/payments', { amount: 64, currency, ...more });
/** Payments whose payer has not chosen yet. */
const createOpen = async (): Promise<PaymentRow> => {
  const { paymentId } = (await admin.post('/api/v1/payments', { amount: 64 })).body as { paymentId: string };
  return paymentOf(paymentId);
};
const paymentOf = async (id: string): Promise<PaymentRow> =>
  (await db.query<PaymentRow[]>('SELECT * FROM payment WHERE id = $1', [id]))[0]!;
const invoiceOf = async (id: string): Promise<InvoiceRow> =>
  (await db.query<InvoiceRow[]>('SELECT * FROM lightning_invoice WHERE payment_id = $1', [id]))[0]!;
const isSettled = async (id: string): Promise<boolean> => (await paymentOf(id)).status === 'SETTLED';
const listed = async (): Promise<Record<string, unknown> | undefined> =>
  ((await h.call('GET', '/api/v1/currencies')).body.data as Array<Record<string, unknown>>).find(
    (one) => one['currency'] === currency,
  );
const choiceOf = async (slug: string): Promise<Record<string, unknown> | undefined> =>
  ((await h.call('GET', `/invoice/${slug}/currencies`)).body.items as Array<Record<string, unknown>>).find(
    (one) => one['currency'] === currency,
  );
const anInvoice: unknown = expect.stringMatching(/^lnbcrt1000000n1/);

it('is listed as disabled before the node was followed, and no merchant can add its wallet', async () => {
  expect(await listed()).toMatchObject({ status: 'disabled', payin: false, payout: false, convert: false });
  const answer = await addWallet();
  expect([answer.status, answer.body.error.code]).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
});

describe('with a node', () => {
  beforeEach(async () => {
    worker.isAway = false;
    await hears(followed);
  });

  it('has a wallet whose money stays in the channels of the node', async () => {
    const mine = { settlementAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' };
    const own = await addWallet(mine);
    expect([own.status, own.body.error]).toMatchObject([
      400,
      { code: 'VALIDATION_ERROR', message: 'settlementAddress: BTC_LN settles to the service alone' },
    ]);
    const { status, body } = await addWallet();
    const wallet = { currency, settlementAddress: node.key, custody: 'platform', isActive: true };
    expect([status, body.data]).toMatchObject([201, wallet]);
    const elsewhere = { ...mine, totpCode: await admin.code() };
    const repointed = await admin.call('PATCH', `${wallets}/${body.data.id}/settlement`, elsewhere);
    expect([repointed.status, repointed.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect((await addWallet()).body.error.code).toBe('WALLET_EXISTS');
  });

  it('has no wallet that leads elsewhere, whoever writes one', async () => {
    const write = (by: DataSource, address: string, custody: string): Promise<unknown> =>
      by.query(
        `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
         SELECT 'ffffffffffffffffffffffff', id, 'BTC_LN', $1, $2 FROM merchant LIMIT 1`,
        [address, custody],
      );
    const thief = h.api.deps.db;
    await expect(write(thief, '02'.padEnd(66, 'f'), 'platform')).rejects.toMatchObject({ code: 'CP014' });
    await expect(write(db, node.key, 'external')).rejects.toMatchObject({ code: '23514' });
  });

  it('is listed with what can be done with it, and as late while the node cannot receive', async () => {
    expect(await listed()).toMatchObject({
      ...{ asset: 'BTC', network: 'bitcoin', networkName: 'Lightning', coinName: 'Bitcoin', status: 'active' },
      ...{ requiredConfirmations: 0, payin: true, payout: false, convert: false, explorerTxUrl: null },
      ...{ payerFeeUsd: null, estimatedSeconds: 0, minAmountUsd: 0.13 },
    });
    const minimum = await h.call('GET', '/api/v1/min-orders/btc_ln');
    expect(minimum.body.data).toMatchObject({ currency, minAmountCrypto: 0.000002 });
    for (const said of [{ age: 61 }, { isSynced: false }, { receivable: 0n }]) {
      await hears(followed, said);
      expect(await listed()).toMatchObject({ status: 'delayed', payin: false, statusMessage: expect.any(String) });
    }
  });

  it('is opened with its invoice in the answer, and settled by it', async () => {
    const { status, body } = await create();
    expect([status, body]).toMatchObject([201, { currency, amount: 0.001, status: 'WAITING' }]);
    const { invoice, hash } = await invoiceOf(body.paymentId as string);
    expect(body.depositAddress).toBe(invoice);
    expect(invoice).toEqual(anInvoice);
    node.pay(hash!, 100_000_000n);
    await eventually(() => isSettled(body.paymentId as string));
    expect(await audit(db, { settleMs: 0 })).toEqual([]);
  });

  it('is cancelled where no invoice comes in time, and the same key then opens another', async () => {
    worker.isAway = true;
    const more = { idempotencyKey: 'order-7' };
    const answers = await Promise.all([create(more), create(more)]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    const [left] = await db.query<PaymentRow[]>('SELECT * FROM payment ORDER BY created_at DESC LIMIT 1');
    expect(left).toMatchObject({ status: 'CANCELLED', idempotency_key: null, deposit_address: null });
    const events = await db.query(`SELECT type FROM event WHERE entity_id = $1 ORDER BY seq`, [left!.id]);
    expect(events).toEqual([{ type: 'payment.created' }, { type: 'payment.cancelled' }]);

    worker.isAway = false;
    const again = await create(more);
    expect([again.status, again.body.depositAddress]).toEqual([201, anInvoice]);
    expect(again.body.paymentId).not.toBe(left!.id);
    expect((await create(more)).body).toEqual(again.body);
    // What the node made for it late is sent back.
    expect(await invoiceOf(left!.id)).toMatchObject({ state: 'cancelled', decision: 'return' });
    expect(await audit(db, { settleMs: 0 })).toEqual([]);
  });

  it('is not opened while the node cannot receive it, and nothing is left of it', async () => {
    const count = () => db.query('SELECT count(*)::int AS n FROM payment');
    const before = await count();
    for (const said of [{ age: 61 }, { isSynced: false }, { receivable: 99_999n }]) {
      await hears(followed, said);
      expect((await create()).status).toBe(503);
    }
    expect(await count()).toEqual(before);
  });

  it('is chosen by the payer among what can be paid, with its invoice in the answer', async () => {
    const { id, slug } = await createOpen();
    expect(await choiceOf(slug)).toMatchObject({
      ...{ asset: 'BTC', networkName: 'Lightning', amount: '0.001', available: true, status: 'active' },
    });
    await hears(followed, { receivable: 99_999n });
    expect(await choiceOf(slug)).toMatchObject({ available: false, reason: 'TEMPORARILY_UNAVAILABLE', amount: null });
    await hears(followed);
    const chosen = await h.call('POST', `/invoice/${slug}/select-currency`, { body: { currency: 'btc_ln' } });
    expect([chosen.status, chosen.body.depositAddress]).toEqual([200, anInvoice]);
    const same = await admin.post(`/api/v1/payments/${id}/select-currency`, { currency });
    expect(same.body).toEqual(chosen.body);
    node.pay((await invoiceOf(id)).hash!, 100_000_000n);
    await eventually(() => isSettled(id));
  });

  it('stays chosen where its invoice does not come in time, and has it when it comes', async () => {
    const { id } = await createOpen();
    worker.isAway = true;
    const select = `/api/v1/payments/${id}/select-currency`;
    expect((await admin.post(select, { currency })).status).toBe(503);
    expect(await paymentOf(id)).toMatchObject({ status: 'WAITING', currency, deposit_address: null });
    worker.isAway = false;
    const again = await admin.post(select, { currency });
    expect([again.status, again.body.depositAddress]).toEqual([200, anInvoice]);
  });

  it('shows no invoice of another node, whoever has written it into the row, and the audit names it', async () => {
    const { id, slug } = await createOpen();
    worker.isAway = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
    const chosen = admin.post(`/api/v1/payments/${id}/select-currency`, { currency });
    await eventually(async () => (await invoiceOf(id)) !== undefined);
    const hash = 'ab'.repeat(32);
    const text = written(
      [
        ['p', Buffer.from(hash, 'hex')],
        ['s', bytes(9)],
        ['d', Buffer.from(id)],
        ['x', 600],
      ],
      { prefix: 'lnbcrt1000000n', createdAt: Math.floor(Date.now() / 1000) },
    );
    await chain.query(`UPDATE lightning_invoice SET hash = $2, invoice = $3, state = 'open' WHERE payment_id = $1`, [
      ...[id, hash, text],
    ]);
    await chain.query('UPDATE payment SET deposit_address = $2, state_version = state_version + 1 WHERE id = $1', [
      ...[id, text],
    ]);
    await chain.query(`SELECT pg_notify('payment_changed', $1)`, [id]);
    expect((await chosen).status).toBe(503);
    const page = await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`);
    expect(page.body).toMatchObject({ currency, depositAddress: null, paymentUri: null });
    const own = await admin.call('GET', `/api/v1/payments/${id}`);
    expect([own.body.currency, own.body.publicKey]).toEqual([currency, undefined]);
    const again = await admin.post(`/api/v1/payments/${id}/select-currency`, { currency });
    expect(again.status).toBe(503);

    const witness = () => ({
      ...lndInvoices(node.login, 'regtest'),
      ...lndReadings(node.login, 'regtest'),
      ...lndPayments(node.login),
    });
    const named = { invariant: 'I15', found: [expect.stringContaining(hash)] };
    expect(await audit(db, { settleMs: 0, lightning: witness() })).toMatchObject([named]);
    // Also once it has ended as if nobody had paid it.
    await admin.post(`/api/v1/payments/${id}/cancel`, {});
    worker.isAway = false;
    await eventually(async () => (await invoiceOf(id)).state === 'cancelled');
    expect(await audit(db, { settleMs: 0, lightning: witness() })).toMatchObject([named]);
  });

  it('shows no invoice that the node has made for another payment of the same price', async () => {
    const [victim, thief] = [(await create()).body, (await create()).body];
    const write = 'UPDATE payment SET deposit_address = $2, state_version = state_version + 1 WHERE id = $1';
    await chain.query(write, [victim.paymentId, thief.depositAddress]);
    const { slug } = await paymentOf(victim.paymentId as string);
    const page = await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`);
    expect(page.body).toMatchObject({ currency, depositAddress: null, paymentUri: null });
    const own = await admin.call('GET', `/api/v1/payments/${victim.paymentId}`);
    expect(own.body.publicKey).toBeUndefined();
    await chain.query(write, [victim.paymentId, victim.depositAddress]);
  });

  it('shows no other text than the node has made for it, whoever writes it', async () => {
    const [one, other] = [(await create({ idempotencyKey: 'kept' })).body, (await create()).body];
    const payments = await connectionsTo(urlFor(h.databaseUrl, 'payments')).initialize();
    for (const thief of [h.api.deps.db, payments])
      for (const text of [other.depositAddress as string, 'lnbcrt1thief']) {
        const show = thief.query('UPDATE payment SET deposit_address = $2 WHERE id = $1', [one.paymentId, text]);
        await expect(show).rejects.toMatchObject({ code: 'CP014' });
      }
    await payments.destroy();
    const free = h.api.deps.db.query('SELECT free_idempotency_key($1)', [one.paymentId]);
    await expect(free).rejects.toMatchObject({ code: 'CP014' });
  });
});
