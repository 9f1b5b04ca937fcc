import type { Visitor } from '../../sandbox/visitor';
import { readingLabels } from '../../workers/readings';
import { expressions, namedIn, seriesOf } from '../expressions';
import { World, type Shop } from '../world';

/** Two of each role, side by side: for people who have HTTP and mail and nothing else, and when one of each dies. */

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ miner: true, services: { api: 2, payments: 2, chain: 2, signer: 2 } });
  shop = await world.shop();
}, 240_000);
afterAll(() => world?.stop(), 60_000);

const visitor = (name: string): Visitor => world.visitor(`${name}@shop.example`);

it('a merchant comes from registration to the first key and the first paid payment', async () => {
  const ann = visitor('ann');
  await ann.register('Books');
  const user = await ann.enrol();
  expect(user).toMatchObject({ role: 'merchant_admin', merchantName: 'Books', totpEnabled: true });
  expect(user.backupCodes).toHaveLength(10);
  const emailCode = await ann.emailCode('/api/v1/merchant-wallets/send-email-code');
  await ann.post('/api/v1/merchant-wallets', { currency: 'ETH', emailCode });
  const made = await ann.post('/api/v1/api-keys', {
    name: 'Shop',
    scopes: ['payments:create', 'payments:read', 'ledger:read'],
    totpCode: await ann.totpCode(),
  });
  const books = { id: user.merchantId, secretKey: made.body.data.apiKey };
  const invoice = await world.invoice(books, { amount: 25, currency: 'ETH' });
  await world.payer.pay('ETH', invoice.address, String(invoice.amount));
  const paid = await world.sees(books, invoice.id, 'SETTLED', { ms: 120_000 });
  const { balances } = (await world.call(books, 'GET', '/api/v1/ledger/balances')).body;
  expect(balances.find((one: { currency: string }) => one.currency === 'ETH').available).toBe(
    String(paid.settledNetAmount),
  );
  // The dashboard of the same merchant shows the same payment.
  const still = ({ confirmations: _, ...rest }: Record<string, unknown>) => rest; // each block counts them up
  const shown = (await ann.call('GET', `/api/v1/payments/${invoice.id}`)).body;
  expect(still(shown)).toEqual(still(await world.payment(books, invoice.id)));
  expect(await world.audit()).toEqual([]);
}, 240_000);

it('a member comes from an invitation to the first session', async () => {
  const ann = visitor('ann2');
  await ann.register('Books');
  await ann.enrol();
  const bob = visitor('bob');
  const since = Date.now();
  await ann.post('/api/v1/team-invitations', {
    email: bob.email,
    role: 'merchant_member',
    permissions: ['payments:view'],
    totpCode: await ann.totpCode(),
  });
  const token = await bob.mailed('Books invites you', /token=(\w{64})/, since);
  const looked = await bob.post('/api/v1/team-invitations/lookup', { token });
  expect(looked.body.data).toMatchObject({ merchantName: 'Books', email: bob.email });
  const accepted = await bob.post('/api/v1/team-invitations/accept', {
    token,
    password: bob.password,
    displayName: 'Bob',
  });
  const user = await bob.enrolWith(accepted.body.data.setupToken);
  expect(user).toMatchObject({ role: 'merchant_member', permissions: ['payments:view'] });
  expect((await bob.call('GET', '/api/v1/payments')).body).toEqual({ items: [], total: 0 });
  await expect(bob.call('GET', '/api/v1/settings')).rejects.toThrow('403');
});

it('a logout at one copy of the API is seen by the other, and limits hold across both', async () => {
  const ann = visitor('ann3');
  await ann.register('Books');
  await ann.enrol();
  const [one, two] = ['api-1', 'api-2'].map((name) => world.stack.part(name).url);
  const token = ann.accessToken();
  const me = async (url: string) =>
    (await fetch(`${url}/api/v1/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect([await me(one!), await me(two!)]).toEqual([200, 200]);
  await fetch(`${one}/api/v1/auth/logout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  await world.until('the other copy knows', async () => (await me(two!)) === 401);
  expect(await me(one!)).toBe(401);

  const statuses: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    const answer = await fetch(`${n % 2 ? one : two}/api/v1/auth/refresh`, { method: 'POST' });
    statuses.push(answer.status);
  }
  const more = await Promise.all(
    Array.from({ length: 6 }, (_, n) => fetch(`${n % 2 ? one : two}/api/v1/auth/refresh`, { method: 'POST' })),
  );
  statuses.push(...more.map((answer) => answer.status));
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
});

const currencies = ['BTC', 'ETH', 'USDT_ERC20'];
async function payAll(): Promise<string[]> {
  const ids: string[] = [];
  for (const currency of [...currencies, ...currencies]) {
    const invoice = await world.invoice(shop, { amount: 25, currency });
    await world.payer.pay(currency, invoice.address, String(invoice.amount));
    ids.push(invoice.id);
  }
  return ids;
}
const settled = (ids: readonly string[]) =>
  Promise.all(ids.map((id) => world.sees(shop, id, 'SETTLED', { ms: 180_000 })));

it('copies settle every payment once', async () => {
  await settled(await payAll());
  const sweeps = await world.db.query(
    `SELECT payment_id FROM intent WHERE kind = 'sweep' AND payment_id IS NOT NULL GROUP BY payment_id
       HAVING count(*) > 1`,
  );
  expect(sweeps).toEqual([]);
  expect(await world.audit()).toEqual([]);
}, 240_000);

describe('B5: metrics of the running processes', () => {
  const scraped = new Map<string, string>();
  beforeAll(async () => {
    const names = ['payments-1', 'payments-2', 'chain-1', 'chain-2', 'signer-1', 'signer-2'];
    const urls = names.map((name) => [name, `${world.stack.part(name).url}/metrics`] as const);
    for (const [name, url] of [...urls, ['api-1', world.stack.metricsUrl] as const])
      scraped.set(name, await (await fetch(url)).text());
  });

  it('are what alerts and dashboards ask for, with the labels that these use', () => {
    const { metrics, labels } = seriesOf([...scraped.values()].join('\n'));
    for (const label of readingLabels) labels.add(label);
    metrics.add('temporal_activity_execution_failed_total'); // declared by the SDK with the first failure
    const asked = expressions.map(({ place, expr }) => ({ place, ...namedIn(expr) }));
    const missing = asked.flatMap((one) => [
      ...one.metrics.filter((name) => !metrics.has(name)).map((name) => `${one.place}: ${name}`),
      ...one.labels.filter((label) => !labels.has(label)).map((label) => `${one.place}: by ${label}`),
    ]);
    expect(missing).toEqual([]);
    // The comparison can fail.
    expect(metrics.has('payments_nothing')).toBe(false);
  });

  it('are read from the database by one payments worker of two', () => {
    const readers = [...scraped].filter(([, text]) => /^payments_reader\b.* 1$/m.test(text));
    expect(readers.map(([name]) => name.replace(/\d/, ''))).toEqual(['payments-']);
    for (const [name, text] of scraped)
      expect([name, /^payments_scan_lag_seconds\{/m.test(text)]).toEqual([name, name === readers[0]![0]]);
  });

  it('have labels that no payment, address or transaction adds to', () => {
    const labels = [...scraped.values()].flatMap((text) =>
      [...text.matchAll(/\b\w+="([^"]*)"/g)].map(([, value]) => value!),
    );
    const ids = labels.filter((value) => /^[0-9a-f]{24}$|^0x[0-9a-f]{40}|[0-9a-f]{64}|^bcrt1/.test(value));
    expect(ids).toEqual([]);
    for (const [name, text] of scraped) expect([name, text.split('\n').length < 6000]).toEqual([name, true]);
  });
});

it('copies go on with one of each when the other is killed', async () => {
  const ids = await payAll();
  for (const name of ['payments-1', 'chain-1', 'signer-1']) await world.stack.part(name).kill9();
  await settled(ids);
  expect(await world.audit()).toEqual([]);
}, 240_000);
