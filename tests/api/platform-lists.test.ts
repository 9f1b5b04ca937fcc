import { parse } from 'csv-parse/sync';
import type { OperationObject } from 'openapi3-ts/oas31';
import { openApiDocument } from '../../api/http/openapi';
import { routes } from '../../api/routes';
import { newId } from '../../domain/ids';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';
import { unguarded } from '../unguarded';

/** The lists of operators over every merchant: acts, screenings, orders at swap providers. */

const at = '/api/v1/platform';
const hostile = '<img src=x onerror=alert(1)>';
let h: Harness;
let shop: Shop;
let operator: Person;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', TEMPORAL_UI_URL: 'https://temporal.example' });
  shop = await h.shop({ name: hostile });
  operator = await Person.superAdmin(h);
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const read = async (path: string) => {
  const answer = await operator.get(`${at}/${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body.data;
};
const codeOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [status, body.error.code];

describe('10: the audit log of the platform', () => {
  let admin: Person;
  let merchantId: string;
  beforeAll(async () => {
    admin = await Person.admin(h, { merchantName: '=Cmd()' });
    ({ merchantId } = (await admin.get('/api/v1/auth/me')).body);
    await operator.post(`${at}/switches/conversions`, { isOn: true, reason: 'x', totpCode: await operator.code() });
  });

  it('has the acts of everybody, with their merchant, by each filter', async () => {
    const { items } = await read('audit-log?limit=100');
    const registered = items.find((one: { target: string; action: string }) => one.action === 'user.registered');
    expect(registered).toMatchObject({ merchant: { id: merchantId, name: '=Cmd()' }, actor: { name: admin.email } });
    const platform = (await read('audit-log?action=switch.set')).items;
    expect(platform).toMatchObject([{ merchant: null, target: 'conversions', actor: { name: operator.email } }]);
    const ofMerchant = (await read(`audit-log?merchantId=${merchantId}`)).items;
    expect(ofMerchant.map(({ merchant }: { merchant: { id: string } }) => merchant.id)).toEqual(
      ofMerchant.map(() => merchantId),
    );
    const [byName, byId] = [
      (await read(`audit-log?actor=${encodeURIComponent(admin.email.toUpperCase())}`)).items,
      (await read(`audit-log?actor=${registered.actor.id}`)).items,
    ];
    expect(byName.length).toBeGreaterThan(1);
    expect(byId).toEqual(byName);
    expect((await read('audit-log?dateTo=2020-01-01')).items).toEqual([]);
    expect((await read('audit-log?dateFrom=2020-01-01&limit=1')).items).toHaveLength(1);
    expect((await read(`audit-log?merchantId=${newId()}`)).items).toEqual([]);
    for (const query of ['dateFrom=yesterday', 'cursor=x', 'merchantId=1', 'action=DROP', 'limit=0', 'format=xml'])
      expect(codeOf(await operator.get(`${at}/audit-log?${query}`))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('goes page by page to its end, and each act is there once', async () => {
    const all: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: Array<{ id: string }>; nextCursor: string | null } = await read(
        `audit-log?merchantId=${merchantId}&limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect(page.items.length).toBeLessThanOrEqual(2);
      all.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    const rows = await h.db.query<Array<{ id: string }>>(
      'SELECT id::text FROM audit_log WHERE merchant_id = $1 ORDER BY audit_log.id DESC',
      [merchantId],
    );
    expect(all).toEqual(rows.map(({ id }) => id));
  });

  it('is a file too, in which nothing is a formula, and the log says who took it', async () => {
    const file = await operator.get(`${at}/audit-log.csv?merchantId=${merchantId}`);
    expect(file.headers.get('Content-Type')).toContain('text/csv');
    const lines: Array<Record<string, string>> = parse(file.text, { columns: true });
    expect(lines.at(-1)).toMatchObject({ action: 'user.registered', merchantId, merchant: "'=Cmd()" });
    expect(lines).toHaveLength((await read(`audit-log?merchantId=${merchantId}&limit=100`)).items.length);
    expect((await read('audit-log?action=audit_log.exported')).items).toMatchObject([
      { actor: { name: operator.email }, merchant: null },
    ]);
  });

  describe('18.1: files are operations of their own', () => {
    type Reader = (path: string) => Promise<{ status: number; headers: Headers; text: string }>;
    const byKey: Reader = (path) => h.call('GET', path, { key: shop.key });
    it.each<[string, string, string, string, () => Reader]>([
      ['payments', 'csv', '/api/v1/payments', 'currency=BTC', () => byKey],
      ['ledger', 'csv', '/api/v1/ledger/history', 'type=reserve', () => byKey],
      ['statement', 'pdf', '/api/v1/ledger/history', 'currency=btc', () => byKey],
      ['audit-log', 'csv', '/api/v1/audit-log', 'action=user.registered', () => (path) => admin.get(path)],
      ['platform-audit-log', 'csv', `${at}/audit-log`, 'dateTo=2020-01-01', () => (path) => operator.get(path)],
    ])('%s.%s, and the old format answers the same', async (name, extension, path, query, reader) => {
      await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'BTC' } });
      const own = await reader()(`${path}.${extension}?${query}`);
      const old = await reader()(`${path}?format=${extension}&${query}`);
      const day = new Date().toISOString().slice(0, 10);
      for (const answer of [own, old]) {
        expect(answer.status).toBe(200);
        expect(answer.headers.get('content-type')).toMatch(extension === 'csv' ? /^text\/csv/ : /^application\/pdf$/);
        expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}-${day}.${extension}"`);
      }
      for (const { headers } of [own, await reader()(`${path}?${query}`)])
        expect([headers.get('deprecation'), headers.get('link')]).toEqual([null, null]);
      expect(old.headers.get('deprecation')).toBe('@1795478400');
      expect(old.headers.get('link')).toBe(`<${path}.${extension}>; rel="successor-version"`);
      expect([own, old].map(({ headers }) => headers.get('sunset'))).toEqual([null, null]);
      if (extension === 'csv') expect(own.text).toBe(old.text); // a statement says when it was made
      const list = routes.find((route) => route.path === path && route.method === 'get')!;
      const { paths, components } = openApiDocument(routes, { API_URL: 'https://api.example.com' });
      const document = paths!;
      const shown = ({ parameters }: OperationObject) =>
        parameters!.map((one) => {
          const { $ref } = one as { $ref: string };
          return (components!.parameters![$ref.slice($ref.lastIndexOf('/') + 1)] as { name: string }).name;
        });
      expect(shown(document[path]!.get!)).toContain(Object.keys(list.query!.properties)[0]);
      expect(list.query!.properties).toHaveProperty('format');
      expect(shown(document[path]!.get!)).not.toContain('format');
      expect(Object.keys(document[path]!.get!.responses!['200']!.content as object)).toEqual(['application/json']);
      const type = extension === 'csv' ? 'text/csv' : 'application/pdf';
      expect(Object.keys(document[`${path}.${extension}`]!.get!.responses!['200']!.content as object)).toEqual([type]);
    });

    it('with the filters of their lists, and refusals of their own', async () => {
      const made = (await read('audit-log?limit=100')).items.length as number;
      const lines = (await operator.get(`${at}/audit-log.csv`)).text.trimEnd().split('\n');
      expect(lines.length).toBeGreaterThan(made);
      for (const path of ['payments', 'ledger/history', 'audit-log', 'platform/audit-log'])
        expect((await h.call('GET', `/api/v1/${path}.csv`)).status).toBe(401);
      for (const path of ['payments.csv?status=NOPE', 'ledger/history.csv?type=x', 'ledger/history.pdf?dateTo=x'])
        expect((await byKey(`/api/v1/${path}`)).status).toBe(400);
      expect((await admin.get('/api/v1/audit-log.csv?dateFrom=x')).status).toBe(400);
      expect((await admin.get(`${at}/audit-log.csv`)).status).toBe(403);
    });
  });

  it('has a search by e-mail address in itself, and no other', async () => {
    const count = async () =>
      (await h.db.query(`SELECT FROM audit_log WHERE action = 'platform.searched'`)).length as number;
    const before = await count();
    await read(`audit-log?actor=${admin.email}`);
    expect(await count()).toBe(before + 1);
    await read('audit-log?action=switch.set');
    expect(await count()).toBe(before + 1);
  });
});

describe('10: screenings', () => {
  it('are listed with their evidence and their merchant, by status and severity', async () => {
    const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'BTC' } });
    const { paymentId } = made.body;
    const matches = [{ address: 'bc1q', provider: 'list', category: hostile }];
    await h.db.query(
      `INSERT INTO aml_screen (payment_id, cause, status, risk_score, risk_band, severity, categories, providers,
         tx_ids, matches, skip_cause)
       VALUES ($1, 'credit', 'flagged', 80, 'severe', 'severe', '{scam}', '{list}', '{t1}', $2, NULL),
              ($1, 'merchant', 'clear', 0, 'low', NULL, '{}', '{list}', '{t1}', '[]', NULL),
              ($1, 'credit', 'skipped', NULL, NULL, NULL, NULL, '{}', '{}', '[]', 'off')`,
      [paymentId, JSON.stringify(matches)],
    );
    const { items } = await read('screenings');
    expect(items.map(({ status, isNewest }: { status: string; isNewest: boolean }) => [status, isNewest])).toEqual([
      ['skipped', true],
      ['clear', false],
      ['flagged', false],
    ]);
    expect((await read('screenings?status=flagged')).items).toMatchObject([
      {
        payment: { id: paymentId },
        merchant: { id: shop.id, name: hostile },
        riskScore: 80,
        severity: 'severe',
        categories: ['scam'],
        txIds: ['t1'],
        matches,
      },
    ]);
    expect((await read('screenings?severity=severe')).items).toHaveLength(1);
    expect((await read('screenings?severity=low')).items).toEqual([]);
    const first = await read('screenings?limit=1');
    expect((await read(`screenings?limit=1&cursor=${first.nextCursor}`)).items[0].status).toBe('clear');
    for (const query of ['status=bad', 'severity=x', 'cursor=x'])
      expect(codeOf(await operator.get(`${at}/screenings?${query}`))).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('10: orders at swap providers', () => {
  it('are listed with numbers and addresses, by state, and those under way alone', async () => {
    const [ended, open] = [newId(), newId()];
    await unguarded(h.db, async (tx) => {
      for (const [id, status, debited] of [
        [ended, 'failed', false],
        [open, 'processing', true],
      ])
        await tx.query(
          `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
             from_amount, to_amount, exchange_rate, commission_amount, net_from_amount, is_debited)
           VALUES ($1, $2, 'x', $3, 'external', 'ETH', 'BTC', 1, 0.05, 0.05, 0.004, 0.996, $4)`,
          [id, shop.id, status, debited],
        );
      await tx.query(
        `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount, state, status,
           order_id, deposit_address, promised, valid_until)
         VALUES ($1, 'now', 'pay', 'back', 0.996, 'refused', 'no_pair', NULL, NULL, NULL, NULL),
                ($2, 'now', 'pay2', 'back2', 0.996, 'working', $3, 'o-7', 'send', 0.0501, now())`,
        [ended, open, hostile],
      );
    });
    const { items } = await read('swap-orders');
    expect(items.map((one: { conversion: { id: string } }) => one.conversion.id)).toEqual([open, ended]);
    expect(items[0]).toMatchObject({
      conversion: { status: 'processing', fromCurrency: 'ETH', toCurrency: 'BTC' },
      merchant: { id: shop.id, name: hostile },
      workflow: { id: `conversion/${open}`, url: expect.stringContaining(`/workflows/conversion%2F${open}`) },
      provider: 'now',
      orderId: 'o-7',
      state: 'working',
      status: hostile,
      amount: '0.996',
      promised: '0.0501',
      depositAddress: 'send',
      payoutAddress: 'pay2',
      refundAddress: 'back2',
    });
    expect((await read('swap-orders?isOpen=true')).items).toHaveLength(1);
    expect((await read('swap-orders?state=refused')).items).toMatchObject([{ orderId: null, depositAddress: null }]);
    expect((await read('swap-orders?state=working&isOpen=true')).items).toHaveLength(1);
    expect((await read(`swap-orders?cursor=${open}`)).items).toHaveLength(1);
    for (const query of ['state=gone', 'isOpen=maybe', 'cursor=1'])
      expect(codeOf(await operator.get(`${at}/swap-orders?${query}`))).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('10: who is refused', () => {
  it('every route of the platform refuses strangers, keys, admins and members of a merchant', async () => {
    const platform = routes.filter(({ path }) => path.startsWith(`${at}/`));
    expect(platform.length).toBeGreaterThan(30);
    expect(platform.filter(({ may }) => may !== 'super_admin').map(({ name }) => name)).toEqual([]);
    const writes = platform.filter(({ method }) => method !== 'get');
    expect(writes.filter(({ factor }) => factor !== 'platform').map(({ name }) => name)).toEqual([]);
    const admin = await Person.admin(h);
    const member = await Person.member(admin, ['payments:manage', 'audit:view', 'settings:manage', 'team:manage']);
    for (const { method, path, name } of platform) {
      const url = path.replaceAll(/\{\w+\}/g, 'f'.repeat(24));
      for (const person of [admin, member]) {
        const refused = await person.call(method.toUpperCase(), url, method === 'get' ? undefined : { reason: 'x' });
        expect([name, ...codeOf(refused)]).toEqual([name, 403, 'FORBIDDEN']);
      }
      const body = method === 'get' ? {} : { body: {} };
      expect([name, (await h.call(method.toUpperCase(), url, { key: shop.key, ...body })).status]).toEqual([name, 401]);
      expect([name, (await h.call(method.toUpperCase(), url, body)).status]).toEqual([name, 401]);
      await h.db.query('DELETE FROM rate_limit');
    }
  });
});
