import { newId } from '../../domain/ids';
import { startHarness, type Harness } from './harness';
import { mailTo, Person } from './person';

/** Re-pointing and deactivating wallets. Contract: 4.6, G6. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());

const path = '/api/v1/merchant-wallets';
const mine = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const answered = (answer: { status: number; body: unknown }) => [answer.status, answer.body];
const refused = (code: string, status: number) => [
  status,
  { ok: false, error: { code, message: expect.any(String) as string } },
];
const added = async (person: Person, currency: string, more: object = {}) =>
  (await person.post(path, { currency, totpCode: await person.code(), ...more })).body.data as {
    id: string;
    settlementAddress: string;
    isActive: boolean;
  };
const repoint = async (person: Person, id: string, body: object) =>
  person.call('PATCH', `${path}/${id}/settlement`, { totpCode: await person.code(), ...body });
const remove = async (person: Person, id: string, body?: object) =>
  person.call('DELETE', `${path}/${id}`, body ?? { totpCode: await person.code() });

it('settles later payments to the new address, and those made before to theirs', async () => {
  const admin = await Person.admin(h);
  const colleague = await Person.member(admin, ['wallets:view', 'payments:manage']);
  const wallet = await added(admin, 'ETH');
  const pay = async () => {
    const { paymentId } = (await colleague.post('/api/v1/payments', { amount: 50, currency: 'ETH' })).body as {
      paymentId: string;
    };
    const [row] = await h.db.query<unknown[]>('SELECT settlement_address, custody FROM payment WHERE id = $1', [
      paymentId,
    ]);
    return row;
  };
  expect(await pay()).toEqual({ settlement_address: wallet.settlementAddress, custody: 'platform' });
  const answer = await repoint(admin, wallet.id, { settlementAddress: mine });
  expect(answered(answer)).toEqual([
    200,
    { ok: true, data: { ...wallet, settlementAddress: checksummed, custody: 'external', isActive: true } },
  ]);
  expect(await pay()).toEqual({ settlement_address: checksummed, custody: 'external' });
  expect(
    await h.db.query(`SELECT DISTINCT custody FROM payment WHERE settlement_address = $1`, [wallet.settlementAddress]),
  ).toEqual([{ custody: 'platform' }]);

  const mail = await mailTo(h, admin.email);
  expect(mail).toContain(checksummed);
  expect(mail).toContain(wallet.settlementAddress);
  const { items } = (await admin.get('/api/v1/audit-log?action=wallet.repointed')).body.data;
  expect(items).toMatchObject([
    {
      target: wallet.id,
      before: { settlementAddress: wallet.settlementAddress, custody: 'platform' },
      after: { settlementAddress: checksummed, custody: 'external' },
    },
  ]);
});

it('tells every admin', async () => {
  const admin = await Person.admin(h);
  const second = await Person.member(admin, []);
  await h.db.query(`UPDATE dashboard_user SET role = 'merchant_admin' WHERE email = $1`, [second.email]);
  const wallet = await added(admin, 'ETH');
  await remove(admin, wallet.id);
  for (const { email } of [admin, second])
    expect(await mailTo(h, email)).toContain(`deactivated the ETH wallet ${wallet.settlementAddress}`);
});

it('deactivates, keeps the row, and lets another be added', async () => {
  const admin = await Person.admin(h);
  const wallet = await added(admin, 'BTC');
  expect(answered(await remove(admin, wallet.id))).toEqual([
    200,
    { ok: true, data: { id: wallet.id, isActive: false } },
  ]);
  const payment = await admin.post('/api/v1/payments', { amount: 50, currency: 'BTC' });
  expect(answered(payment)).toEqual([400, { error: 'Payment creation failed' }]);
  expect(answered(await remove(admin, wallet.id))).toEqual(refused('WALLET_NOT_FOUND', 404));
  expect(answered(await repoint(admin, wallet.id, { settlementAddress: mine }))).toEqual(
    refused('WALLET_NOT_FOUND', 404),
  );
  const next = await added(admin, 'BTC');
  const listed = (await admin.get(path)).body as Array<{ id: string; isActive: boolean }>;
  expect(listed.map(({ id, isActive }) => [id, isActive])).toEqual([
    [next.id, true],
    [wallet.id, false],
  ]);
});

it('keeps every state a wallet has had', async () => {
  const admin = await Person.admin(h);
  const wallet = await added(admin, 'ETH');
  await repoint(admin, wallet.id, { settlementAddress: mine });
  await remove(admin, wallet.id);
  const rows = await h.db.query(
    `SELECT settlement_address AS a, custody AS c, is_active AS i FROM merchant_wallet_history
      WHERE wallet_id = $1 ORDER BY id`,
    [wallet.id],
  );
  expect(rows).toEqual([
    { a: wallet.settlementAddress, c: 'platform', i: true },
    { a: checksummed, c: 'external', i: true },
    { a: checksummed, c: 'external', i: false },
  ]);
  await expect(h.db.query('DELETE FROM merchant_wallet_history')).rejects.toMatchObject({ code: 'CP001' });
});

it('tells webhooks of each change, with the wallet as it is read', async () => {
  const admin = await Person.admin(h);
  const wallet = await added(admin, 'ETH');
  await repoint(admin, wallet.id, { settlementAddress: mine });
  await repoint(admin, wallet.id, { settlementAddress: `0x${'5e'.repeat(20)}` });
  await remove(admin, wallet.id);
  const [read] = (await admin.get(path)).body;
  const { items } = (await admin.get('/api/v1/events?types=wallet.*')).body.data;
  const settled = [wallet.settlementAddress, checksummed, read.settlementAddress] as string[];
  expect(items).toMatchObject([
    { type: 'wallet.added', data: wallet, previous: {} },
    {
      type: 'wallet.settlement_changed',
      data: { ...read, settlementAddress: settled[1], isActive: true },
      previous: { settlementAddress: settled[0], custody: 'platform' },
    },
    {
      type: 'wallet.settlement_changed',
      data: { ...read, isActive: true },
      previous: { settlementAddress: settled[1] },
    },
    { type: 'wallet.deactivated', data: read, previous: { isActive: true } },
  ]);
});

it('takes no address of another network, none of ours, and no tag where there are none', async () => {
  const admin = await Person.admin(h);
  const wallet = await added(admin, 'ETH');
  const other = await added(await Person.admin(h), 'ETH');
  for (const settlementAddress of [
    'nonsense',
    checksummed.replace('C5', 'c5'),
    'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
    `0x${'0'.repeat(40)}`,
    wallet.settlementAddress,
    other.settlementAddress,
    other.settlementAddress.toLowerCase(),
  ])
    expect([settlementAddress, ...answered(await repoint(admin, wallet.id, { settlementAddress }))]).toEqual([
      settlementAddress,
      ...refused('INVALID_ADDRESS', 400),
    ]);
  const why = async (settlementAddress: string) =>
    (await repoint(admin, wallet.id, { settlementAddress })).body.error.message as string;
  expect(await why('nonsense')).toContain('0x and 40 hexadecimal digits');
  expect(await why(other.settlementAddress)).toContain('belongs to this service itself');
  for (const body of [
    {},
    { settlementAddress: '' },
    { settlementAddress: 7 },
    { settlementAddress: mine, destinationTag: '7' },
  ])
    expect(answered(await repoint(admin, wallet.id, body))).toEqual(refused('VALIDATION_ERROR', 400));
  expect((await admin.get(path)).body).toMatchObject([{ settlementAddress: wallet.settlementAddress }]);
});

it('wants a fresh factor, and spends it only on what is done', async () => {
  const admin = await Person.admin(h);
  const wallet = await added(admin, 'ETH');
  const change = { settlementAddress: mine };
  const patch = (body: object) => admin.call('PATCH', `${path}/${wallet.id}/settlement`, body);
  expect(answered(await patch(change))).toEqual(refused('VERIFICATION_FAILED', 400));
  expect(answered(await remove(admin, wallet.id, {}))).toEqual(refused('VERIFICATION_FAILED', 400));
  expect(answered(await patch({ ...change, totpCode: '000000' }))).toEqual(refused('VERIFICATION_FAILED', 401));
  await admin.post('/api/v1/merchant-wallets/send-email-code');
  const emailCode = /\b\d{6}\b/.exec(await mailTo(h, admin.email))![0];
  expect(answered(await patch({ settlementAddress: 'nonsense', emailCode }))).toEqual(refused('INVALID_ADDRESS', 400));
  expect((await patch({ ...change, emailCode })).status).toBe(200);
  expect(answered(await remove(admin, wallet.id, { emailCode }))).toEqual(refused('VERIFICATION_FAILED', 401));
});

it('knows nothing of wallets of others, nor of keys and people without the right', async () => {
  const admin = await Person.admin(h);
  const stranger = await Person.admin(h);
  const wallet = await added(admin, 'ETH');
  const unknown = refused('WALLET_NOT_FOUND', 404);
  const malformed = refused('INVALID_ID', 400);
  for (const [id, refusal] of [
    [wallet.id, unknown],
    [newId(), unknown],
    ['x', malformed],
    ['%00', malformed],
  ] as const) {
    expect(answered(await repoint(stranger, id, { settlementAddress: mine }))).toEqual(refusal);
    expect(answered(await remove(stranger, id))).toEqual(refusal);
  }
  const viewer = await Person.member(admin, ['wallets:view']);
  expect(await repoint(viewer, wallet.id, { settlementAddress: mine })).toMatchObject({
    status: 403,
    body: { requiredPermission: 'wallets:manage' },
  });
  const { key } = await h.shop();
  const answer = await h.call('DELETE', `${path}/${wallet.id}`, { key, body: {} });
  expect(answered(answer)).toEqual([401, { error: 'Invalid or expired token' }]);
  expect((await admin.get(path)).body).toMatchObject([{ id: wallet.id, isActive: true, custody: 'platform' }]);
});
