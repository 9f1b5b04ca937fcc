import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { erase, EraseError } from '../../api/erase';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { expirePayers } from '../../db/payments/expire-payers';
import { beginAttempt } from '../../db/webhooks/deliveries';
import { databaseFor } from '../../sandbox/services';
import { paymentsAt } from '../activities/run-payment';
import { unguarded } from '../unguarded';
import { startHarness, type Harness, type Shop } from './harness';
import { failedPayment } from './refundable';

/** What payers say of themselves: apart from what is kept, gone when it is old, and gone when one asks. */

let h: Harness;
let shop: Shop;
let publishable: string;
let widgetId: string;
/** As the command `erase` connects. */
let retention: DataSource;
let payments: DataSource;
const roleOf = (role: 'retention' | 'payments') =>
  new DataSource({ type: 'postgres', url: databaseFor(h.databaseUrl, role), poolSize: 2 }).initialize();
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  shop = await h.shop();
  [{ publishable_key: publishable }] = await h.db.query('SELECT publishable_key FROM merchant WHERE id = $1', [
    shop.id,
  ]);
  widgetId = randomBytes(12).toString('hex');
  await h.db.query(
    `INSERT INTO widget (id, merchant_id, type, name, amount_mode, fixed_amount, donor_fields, branding)
     VALUES ($1, $2, 'donation', 'Tea', 'fixed', 40, '{name,email,comment}', '{}')`,
    [widgetId, shop.id],
  );
  await h.call('POST', '/api/v1/webhook-endpoints', {
    key: shop.key,
    body: { url: 'https://shop.example/hook', enabledEvents: ['*'] },
  });
  [retention, payments] = await Promise.all([roleOf('retention'), roleOf('payments')]);
});
afterAll(async () => {
  await retention?.destroy();
  await payments?.destroy();
  await h?.stop();
});
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

let count = 0;
const ip = () => ({ 'X-Forwarded-For': `10.8.${Math.floor((count += 1) / 200)}.${count % 200}` });
const someone = (): string => `ann-${randomBytes(5).toString('hex')}`;

/** A donation in ETH by `name`, whose receipt and refund address are left too. */
async function donation(name: string) {
  const opened = await h.call('POST', `/api/v1/public/widgets/${widgetId}/checkout`, {
    body: {
      checkoutToken: randomBytes(12).toString('hex'),
      currency: 'ETH',
      donor: { name, email: `${name}@Donor.example`, comment: 'for "tea" \\ ü' },
    },
    headers: { ...ip(), Authorization: `Bearer ${publishable}`, Origin: 'https://shop.example' },
  });
  expect([opened.status, opened.text]).toEqual([201, expect.any(String)]);
  const slug: string = opened.body.data.invoiceId;
  const address = `0x${randomBytes(20).toString('hex')}`;
  for (const [what, body] of [
    ['receipt-email', { email: `${name}@donor.example` }],
    ['payer', { address }],
  ] as const)
    expect((await h.call('POST', `/invoice/${slug}/${what}`, { body, headers: ip() })).status).toBe(200);
  const [row] = await h.db.query('SELECT id, amount, deposit_address FROM payment WHERE slug = $1', [slug]);
  return {
    id: row.id as string,
    slug,
    address,
    amount: row.amount as string,
    depositAddress: row.deposit_address as string,
  };
}
type Donation = Awaited<ReturnType<typeof donation>>;

/** Paid, and settled as far as the row says. */
async function settled(made: Donation): Promise<Donation> {
  await h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at)
     VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'ETH', $4, $4, false, 'confirmed', '0xb', 90, clock_timestamp(),
       now())`,
    [randomBytes(32).toString('hex'), made.depositAddress, made.id, made.amount],
  );
  const { config } = h.api.deps;
  await paymentsAt({ db: h.db, config, codecs: createCodecs(config.chain) }).runPayment(made.id);
  await unguarded(h.db, (tx) =>
    tx.query(`UPDATE payment SET status = 'SETTLED', state_version = state_version + 1 WHERE id = $1`, [made.id]),
  );
  return made;
}
const age = (id: string, days: number): Promise<unknown> =>
  unguarded(h.db, (tx) =>
    tx.query('UPDATE payment SET updated_at = now() - make_interval(days => $2) WHERE id = $1', [id, days]),
  );
const eventsOf = async (id: string) => {
  const all = (await h.call('GET', '/api/v1/events?limit=100', { key: shop.key })).body.data.items as Array<{
    id: string;
    seq: number;
    type: string;
    data: Record<string, unknown> & { metadata?: unknown };
  }>;
  return all.filter(({ data }) => data['_id'] === id);
};
/** The bodies that deliveries of the payment's events send. */
async function bodiesOf(id: string): Promise<string[]> {
  const rows: Array<{ id: string }> = await h.db.query(
    `SELECT d.id FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = $1`,
    [id],
  );
  const due = await Promise.all(rows.map((row) => beginAttempt(h.db, row.id)));
  return due.map((one) => one!.data);
}
/** Every table that holds `text`. */
async function tablesWith(text: string): Promise<string[]> {
  const tables: Array<{ name: string }> = await h.db.query(
    `SELECT table_name AS name FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await h.db.query(`SELECT FROM "${name}" t WHERE strpos(lower(t::text), $1) > 0 LIMIT 1`, [text]);
    if (rows.length) found.push(name);
  }
  return found;
}
const ledger = (): Promise<unknown> =>
  h.db.query(`SELECT (SELECT json_agg(j ORDER BY j.id) FROM journal j) AS journals,
    (SELECT json_agg(p ORDER BY p.id) FROM posting p) AS postings, (SELECT json_agg(b) FROM balance b) AS balances`);
const refusal = (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('Personal data: what a donor says', () => {
  it('stands apart from the payment and its events, and is read in both', async () => {
    const name = someone();
    const { id } = await settled(await donation(name));
    expect(await tablesWith(name)).toEqual(['mail', 'payment_donor', 'receipt_email']);
    const donor = { name, email: `${name}@Donor.example`, comment: 'for "tea" \\ ü' };
    const payment = (await h.call('GET', `/api/v1/payments/${id}`, { key: shop.key })).body;
    expect(payment.metadata).toEqual({ donor });
    const list = (await h.call('GET', '/api/v1/payments', { key: shop.key })).body.items;
    expect(list.find((one: { _id: string }) => one._id === id).metadata).toEqual({ donor });
    const events = await eventsOf(id);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['payment.created', 'payment.confirmed']));
    for (const { data } of events) expect(data.metadata).toEqual({ donor });
    const one = await h.call('GET', `/api/v1/events/${events[0]!.id}`, { key: shop.key });
    expect(one.body.data.data.metadata).toEqual({ donor });
    const bodies = await bodiesOf(id);
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(JSON.parse(body).metadata).toEqual({ donor });
  });
});

describe('Personal data: erased for one who asks', () => {
  it.each(['payment', 'customer', 'email'] as const)('by %s: what is kept stays as it was', async (by) => {
    const name = someone();
    const made = await settled(await donation(name));
    const other = someone();
    await settled(await donation(other));
    const customer = `customer-${name}`;
    await h.db.query('UPDATE payment SET customer_id = $2 WHERE id = $1', [made.id, customer]);
    const [before, books, wrong] = [await eventsOf(made.id), await ledger(), await audit(h.db, { settleMs: 0 })];
    const args = {
      payment: ['payment', made.id, 'asked', 'by', 'mail'],
      customer: ['customer', shop.id, customer, 'asked'],
      email: ['email', `${name.toUpperCase()}@donor.EXAMPLE`, 'asked'],
    }[by];
    expect(await erase(retention, args, 'ops@host')).toBe(`${made.id}  erased`);

    expect(await tablesWith(made.address.toLowerCase())).toEqual([]);
    // The merchant's own id of the customer has the name in it; nothing else has.
    expect(await tablesWith(`${name}@`)).toEqual([]);
    const payment = (await h.call('GET', `/api/v1/payments/${made.id}`, { key: shop.key })).body;
    expect(payment.metadata).toBeUndefined();
    const after = await eventsOf(made.id);
    expect(after).toEqual(
      before.map((event) => ({
        ...event,
        data: Object.fromEntries(Object.entries(event.data).filter(([key]) => key !== 'metadata')),
      })),
    );
    expect(after[0]).toMatchObject({ id: before[0]!.id, seq: before[0]!.seq, type: 'payment.created' });
    expect(after[0]!.data['amount']).toBe(before[0]!.data['amount']);
    for (const body of await bodiesOf(made.id)) expect(body).not.toContain(name);
    expect(await ledger()).toEqual(books);
    expect((await audit(h.db, { settleMs: 0 })).map(({ invariant }) => invariant)).toEqual(
      wrong.map(({ invariant }) => invariant),
    );
    expect(await tablesWith(other)).toEqual(['mail', 'payment_donor', 'receipt_email']);

    const acts = await h.db.query(`SELECT * FROM audit_log WHERE action = 'payer.erased' AND target = $1`, [made.id]);
    expect(acts).toMatchObject([{ merchant_id: shop.id, actor_kind: 'operator', actor_name: 'ops@host' }]);
    expect(JSON.stringify(acts)).not.toContain(name);
    expect(await erase(retention, ['payment', made.id, 'again'])).toBe(`${made.id}  nothing was there`);
  });

  it('waits for the end of a payment, and of its refund', async () => {
    const open = await donation(someone());
    expect(await erase(retention, ['payment', open.id, 'asked'])).toBe(`${open.id}  is open: erase it once it is over`);
    expect((await h.call('GET', `/api/v1/payments/${open.id}`, { key: shop.key })).body.metadata).toBeDefined();
    const address = `0x${randomBytes(20).toString('hex')}`;
    const failed = await failedPayment(h, shop, [['ETH', '0.004']], ({ slug }) =>
      h.call('POST', `/invoice/${slug}/payer`, { body: { address }, headers: ip() }),
    );
    const refund = await h.call('POST', `/api/v1/payments/${failed}/refunds`, {
      key: shop.key,
      body: { type: 'full', address },
    });
    expect([refund.status, refund.text]).toEqual([201, expect.any(String)]);
    expect(await erase(retention, ['payment', failed, 'asked'])).toContain('is open');
  });

  it('needs to know whose, and why', async () => {
    const { id } = await donation(someone());
    for (const args of [
      [],
      ['payment', id],
      ['payment', 'x', 'why'],
      ['customer', shop.id, 'why'],
      ['email', 'x', 'why'],
    ])
      await expect(erase(retention, args)).rejects.toThrow(EraseError);
    expect(await erase(retention, ['payment', 'f'.repeat(24), 'why'])).toBe('No such payment');
    expect(await erase(retention, ['customer', 'f'.repeat(24), 'x', 'why'])).toBe('No such payment');
  });
});

describe('Personal data: expired by the setting', () => {
  it('goes so many days after the end of the payment, and never before', async () => {
    const names = [someone(), someone(), someone()] as const;
    const [old, young, open] = [
      await settled(await donation(names[0])),
      await settled(await donation(names[1])),
      await donation(names[2]),
    ];
    await age(old.id, 31);
    await age(young.id, 29);
    await age(open.id, 400);
    expect(await expirePayers(payments, 0, 100)).toBe(0);
    expect(await tablesWith(names[0])).toContain('payment_donor');
    expect(await expirePayers(payments, 30, 100)).toBe(1);
    expect(await tablesWith(names[0])).toEqual([]);
    expect(await tablesWith(names[1])).toContain('payment_donor');
    expect(await tablesWith(names[2])).toContain('payment_donor');
    expect(await expirePayers(payments, 30, 100)).toBe(0);
  });
});

describe('Personal data: the role that erases', () => {
  const denied = '42501';

  it('may call the one function, and do nothing else', async () => {
    const tables: Array<{ name: string }> = await h.db.query(
      `SELECT table_name AS name FROM information_schema.tables
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      expect([name, await refusal(retention.query(`SELECT FROM "${name}" LIMIT 1`))]).toEqual([name, denied]);
      expect([name, await refusal(retention.query(`DELETE FROM "${name}"`))]).toEqual([name, denied]);
    }
    const functions: Array<{ name: string }> = await h.db.query(
      `SELECT p.proname AS name FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
          AND has_function_privilege('cp_retention', p.oid, 'EXECUTE') AND p.prosecdef`,
    );
    expect(functions.map(({ name }) => name)).toEqual(['erase_payers']);
  });

  it('is the only one that erases: a worker may let what is old expire, the API neither', async () => {
    const erased = `SELECT erase_payers('payment', NULL, '${'f'.repeat(24)}', 'x', 'y')`;
    expect(await refusal(payments.query(erased))).toBe(denied);
    expect(await refusal(payments.query(`SELECT forget_payers('{}')`))).toBe(denied);
    expect(await refusal(h.api.deps.db.query(erased))).toBe(denied);
    expect(await refusal(h.api.deps.db.query('SELECT expire_payers(1, 1)'))).toBe(denied);
    expect(await refusal(h.api.deps.db.query('DELETE FROM payment_donor'))).toBe(denied);
    expect(await refusal(payments.query('SELECT expire_payers(100000, 1)'))).toBe('done');
  });
});
