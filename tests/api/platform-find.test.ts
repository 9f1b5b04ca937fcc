import { operate } from '../../api/operator';
import { routes } from '../../api/routes';
import { createDataSource } from '../../db/data-source';
import { newId } from '../../domain/ids';
import { rateClasses } from '../../domain/access/rate-limits';
import { databaseFor } from '../../sandbox/services';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';
import { unguarded } from '../unguarded';
import { settledStory, type Settled } from './platform-rows';

/** One search of an operator over everything, and who is refused it. */

const path = '/api/v1/platform/find';
let h: Harness;
let shop: Shop;
let operator: Person;
let admin: Person;
let settled: Settled;
let other: Settled;
beforeAll(async () => {
  h = await startHarness({
    PROXY_COUNT: '1',
    OPERATOR_IPS: '10.77.0.0/16, 2001:db8::7',
    TEMPORAL_UI_URL: 'https://temporal.example/ui/',
  });
  shop = await h.shop({ name: 'Bakery' });
  operator = await Person.superAdmin(h);
  admin = await Person.admin(h);
  settled = await settledStory(h, shop, 'A-100');
  other = await settledStory(h, await h.shop({ name: 'Florist' }), 'A-200');
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const look = async (q: string) => {
  const answer = await operator.get(`${path}?q=${encodeURIComponent(q)}`);
  expect([q, answer.status]).toEqual([q, 200]);
  return answer.body.data;
};
const idsOf = (found: { records: Array<{ id: string }> }) => found.records.map(({ id }) => id);

describe('10: find anything', () => {
  it('leads from a transaction to the payment, its workflow, journals and deliveries', async () => {
    const { records } = await look(settled.depositTx);
    expect(records).toHaveLength(1);
    const [record] = records;
    expect(record).toMatchObject({
      kind: 'payment',
      id: settled.id,
      merchant: { id: shop.id, name: 'Bakery' },
      status: 'SETTLED',
      currency: 'ETH',
      slug: settled.slug,
      orderId: 'A-100',
      address: settled.address,
    });
    const ui = 'https://temporal.example/ui/namespaces/default/workflows';
    expect(record.workflows).toEqual([
      { id: `payment/${settled.id}`, url: `${ui}/payment%2F${settled.id}` },
      { id: `sweep/${settled.id}`, url: `${ui}/sweep%2F${settled.id}` },
    ]);
    expect(record.deposits).toMatchObject([{ txId: settled.depositTx, address: settled.address, status: 'confirmed' }]);
    expect(record.intents).toMatchObject([
      {
        id: settled.intentId,
        kind: 'sweep',
        status: 'final',
        attempts: [{ n: 1, txId: settled.sweepTx, height: '9' }],
      },
    ]);
    expect(record.journals.map(({ key }: { key: string }) => key)).toEqual([
      `deposit/ethereum/${settled.depositTx}/0`,
      `payment/${settled.id}/settle`,
      `sweep/${settled.intentId}`,
    ]);
    expect(record.journals[1]).toMatchObject({
      entryType: 'payment_credit',
      postings: [{ debit: `L:unsettled:${shop.id}`, credit: `L:available:${shop.id}`, asset: 'ETH' }],
    });
    expect(record.deliveries).toMatchObject([{ type: 'payment.created', endpointId: 'ipn', host: 'shop.example' }]);
    expect(record.incidents).toMatchObject([{ kind: 'sweep-overdue', resolvedAt: null }]);
  });

  it('prints the same from a shell, with the rights of its own role', async () => {
    const db = createDataSource(databaseFor(h.databaseUrl, 'operator'), { pool: 1, name: 'test-operator' });
    await db.initialize();
    try {
      const shell = (...words: string[]) => operate(db, h.api.deps.config, ['find', ...words]);
      const text = await shell(settled.depositTx);
      const ui = 'https://temporal.example/ui/namespaces/default/workflows';
      for (const fact of [
        `payment ${settled.id}  SETTLED`,
        `merchant Bakery (${shop.id})`,
        `slug ${settled.slug}  order A-100  address ${settled.address}`,
        `payment/${settled.id}  ${ui}/payment%2F${settled.id}`,
        `sweep/${settled.id}  ${ui}/sweep%2F${settled.id}`,
        `attempt 1  ${settled.sweepTx}  final`,
        `payment/${settled.id}/settle`,
        `L:unsettled:${shop.id} to L:available:${shop.id}`,
        'payment.created',
        'open: docs/operations/incidents.md#sweep-overdue',
      ])
        expect(text).toContain(fact);
      expect(text).not.toContain('of-the-shop');
      for (const name of [settled.id, settled.slug, 'A-100', settled.address, settled.sweepTx])
        expect(await shell(name)).toContain(`payment ${settled.id}  SETTLED`);
      expect(await shell(admin.email)).toMatch(/^user \w+ {2}\S+@\S+ {2}merchant_admin/);
      expect(await shell(newId())).toMatch(/^Nothing is called that/);
    } finally {
      await db.destroy();
    }
  });

  it('takes any text that names the payment, in whatever spelling, and finds no other', async () => {
    const [delivery] = await h.db.query<Array<{ id: string; event_id: string }>>(
      'SELECT d.id, d.event_id FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = $1',
      [settled.id],
    );
    const names = [
      settled.id,
      settled.id.toUpperCase(),
      ` ${settled.slug} `,
      settled.orderId,
      `${settled.orderId}-custom`,
      settled.address,
      settled.address.toLowerCase(),
      settled.depositTx.slice(2).toUpperCase(),
      settled.sweepTx,
      settled.intentId,
      delivery!.id,
      delivery!.event_id,
    ];
    for (const name of names) expect([name, idsOf(await look(name))]).toEqual([name, [settled.id]]);
    expect(idsOf(await look(other.sweepTx))).toEqual([other.id]);
  });

  it('leads from the id of every other record to it', async () => {
    const id = Object.fromEntries(
      ['withdrawal', 'refund', 'conversion', 'payout', 'leg'].map((kind) => [kind, newId()]),
    ) as Record<'withdrawal' | 'refund' | 'conversion' | 'payout' | 'leg', string>;
    await unguarded(h.db, async (tx) => {
      await tx.query(
        `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, fee_mode,
           amount, network_fee, gross_amount, net_amount, address, requested_by, requested_by_name, needs_approval)
         VALUES ($1, $2, 'w', 'x', 'cancelled', 'ETH', 'ethereum', 'deduct', 1, 0.1, 1, 0.9, '0xa', $2, 'ann', false)`,
        [id.withdrawal, shop.id],
      );
      await tx.query(
        `INSERT INTO refund (id, merchant_id, payment_id, body_hash, status, type, currency, network, source,
           fee_bearer, amount, network_fee, gross_amount, net_amount, fiat_amount, fiat_currency)
         VALUES ($1, $2, $3, 'x', 'awaiting_address', 'full', 'ETH', 'ethereum', 'balance', 'merchant', 1, 0, 1, 1, 1,
           'USD')`,
        [id.refund, shop.id, settled.id],
      );
      await tx.query(
        `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
           from_amount) VALUES ($1, $2, 'x', 'failed', 'internal', 'ETH', 'BTC', 1)`,
        [id.conversion, shop.id],
      );
      await tx.query(
        `INSERT INTO payout_batch (id, merchant_id, status, rows_hash, row_count, totals, fees, created_by,
           created_by_id) VALUES ($1, $2, 'queued', 'x', 1, '{}', '{}', 'ann', $2)`,
        [id.payout, shop.id],
      );
      await tx.query(
        `INSERT INTO payout_leg (id, batch_id, merchant_id, row_index, currency, network, address, amount, network_fee,
           net_amount, status) VALUES ($1, $2, $3, 0, 'ETH', 'ethereum', '0xa', 1, 0, 1, 'pending')`,
        [id.leg, id.payout, shop.id],
      );
    });
    for (const [q, kind, found] of [
      [id.withdrawal, 'withdrawal', id.withdrawal],
      [id.refund, 'refund', id.refund],
      [id.conversion, 'conversion', id.conversion],
      [id.payout, 'payout', id.payout],
      [id.leg, 'payout', id.payout],
    ] as const)
      expect([q, (await look(q)).records]).toMatchObject([q, [{ kind, id: found, merchant: { id: shop.id } }]]);
  });

  it('tells of addresses, intents, merchants and users beside', async () => {
    expect((await look(settled.address)).addresses).toMatchObject([
      { network: 'ethereum', address: settled.address, role: 'deposit', paymentId: settled.id, merchantId: shop.id },
    ]);
    expect((await look(settled.sweepTx)).intents).toMatchObject([
      { id: settled.intentId, workflow: { id: `sweep/${settled.id}` } },
    ]);
    expect((await look(shop.id)).merchants).toMatchObject([{ id: shop.id, name: 'Bakery', status: 'active' }]);
    const { users } = await look(admin.email.toUpperCase());
    expect(users).toMatchObject([{ email: admin.email, role: 'merchant_admin', isActive: true }]);
    expect((await look(users[0].id)).users).toEqual(users);
  });

  it('answers nothing where nothing is named, and refuses what is no text', async () => {
    const nothing = { records: [], isCut: false, intents: [], addresses: [], merchants: [], users: [] };
    for (const q of ['%', `${settled.orderId.slice(0, 3)}%`, newId(), `0x${'0'.repeat(64)}`, "' OR 1=1 --", '99999'])
      expect([q, await look(q)]).toEqual([q, nothing]);
    for (const query of ['', '?q=', '?q=%20', `?q=${'x'.repeat(257)}`, '?q=%00', '?q=a%0Ab']) {
      const refused = await operator.get(`${path}${query}`);
      expect([query, refused.status, refused.body.error.code]).toEqual([query, 400, 'VALIDATION_ERROR']);
    }
  });

  it('shows no secret: no signed bytes, no address of a web server, no sealed key', async () => {
    const { text } = await operator.get(`${path}?q=${settled.id}`);
    for (const secret of ['5ec4e7', 'of-the-shop', 'sealed', 'password']) expect(text).not.toContain(secret);
  });

  it('cuts an answer that would be too long', async () => {
    const many = await h.shop({ name: 'Kiosk' });
    const made = { amount: 5, currency: 'ETH', merchantOrderId: 'same' };
    for (let n = 0; n < 11; n++) await h.call('POST', '/api/v1/payments', { key: many.key, body: made });
    const found = await look('same');
    expect([found.records.length, found.isCut]).toEqual([10, true]);
  });

  it('writes a search by e-mail address into the audit log, and no other', async () => {
    const count = async () =>
      (await h.db.query(
        `SELECT target, actor_name, ip FROM audit_log WHERE action = 'platform.searched' ORDER BY id`,
      )) as object[];
    const before = (await count()).length;
    await look(settled.id);
    expect(await count()).toHaveLength(before);
    await look(' Nobody@Example.com ');
    expect((await count()).slice(before)).toEqual([
      { target: 'nobody@example.com', actor_name: operator.email, ip: operator.ip },
    ]);
    expect(h.logs.join('\n')).not.toMatch(/nobody@example\.com/i);
  });
});

describe('10: who may not search', () => {
  const codeOf = ({ status, body }: { status: number; body: { error: string | { code: string } } }) => [
    status,
    typeof body.error === 'string' ? body.error : body.error.code,
  ];

  it('refuses strangers, keys, members and admins of a merchant', async () => {
    const member = await Person.member(admin, ['payments:manage', 'audit:view']);
    expect(codeOf(await h.call('GET', `${path}?q=x`))).toEqual([401, 'Invalid or expired token']);
    expect(codeOf(await h.call('GET', `${path}?q=x`, { key: shop.key }))).toEqual([401, 'Invalid or expired token']);
    for (const person of [member, admin]) expect(codeOf(await person.get(`${path}?q=x`))).toEqual([403, 'FORBIDDEN']);
  });

  it('refuses an operator from a foreign address on every route of the platform', async () => {
    const from = { 'X-Forwarded-For': '203.0.113.9' };
    const reads = routes.filter(({ path, method }) => path.startsWith('/api/v1/platform/') && method === 'get');
    const paths = reads.map(({ path }) => path.slice('/api/v1/platform/'.length));
    for (const one of paths) {
      const foreign = await operator.get(`/api/v1/platform/${one.replace(/\{\w+\}/, newId())}`, from);
      expect([one, foreign.status, foreign.body.error]).toEqual([one, 403, 'IP address not allowed']);
    }
    const lists = ['find?q=x', ...paths.filter((one) => !/\{|^find/.test(one))];
    expect(lists.length).toBeGreaterThan(12);
    for (const one of lists) {
      expect([one, (await operator.get(`/api/v1/platform/${one}`)).status]).toEqual([one, 200]);
    }
    const write = await operator.post(
      '/api/v1/platform/egress-freezes',
      { currency: 'ETH', reason: 'x', totpCode: await operator.code() },
      from,
    );
    expect(codeOf(write)).toEqual([403, 'IP address not allowed']);
    expect(await h.db.query('SELECT FROM egress_freeze')).toEqual([]);
    const sixth = await operator.get(`${path}?q=x`, { 'X-Forwarded-For': '2001:db8::7' });
    expect(sixth.status).toBe(200);
    // A merchant's admin is told nothing of addresses.
    expect(codeOf(await admin.get(`${path}?q=x`, from))).toEqual([403, 'FORBIDDEN']);
  });

  it('limits how often one operator searches', async () => {
    const { points } = rateClasses.find;
    for (let n = 0; n < points; n++) await look('99999');
    const refused = await operator.get(`${path}?q=99999`);
    expect(codeOf(refused)).toEqual([429, 'RATE_LIMITED']);
    expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/);
  });
});
