import { isWhitelisted } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { startHarness, type Harness } from './harness';
import { mailTo, Person } from './person';

/** Contract: 4.8, 5.4, G11. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const path = '/api/v1/whitelist';
const lower = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const answered = (answer: { status: number; body: unknown }) => [answer.status, answer.body];
const refused = (code: string, status: number) => [
  status,
  { ok: false, error: { code, message: expect.any(String) as string } },
];
const addWallet = async (person: Person, body: object = {}) =>
  person.post(`${path}/wallet`, { currency: 'ETH', address: lower, totpCode: await person.code(), ...body });
const addIp = async (person: Person, ip: string, body: object = {}) =>
  person.post(`${path}/ip`, { ip, totpCode: await person.code(), ...body });
const remove = async (person: Person, id: string, body?: object) =>
  person.post(`${path}/${id}/delete`, body ?? { totpCode: await person.code() });
const listed = async (person: Person) =>
  (await person.get(path)).body.data as { wallets: Array<{ id: string }>; ips: Array<{ id: string; ip: string }> };
const merchantOf = async (person: Person): Promise<string> => {
  const [row] = await h.db.query<Array<{ merchant_id: string }>>(
    'SELECT merchant_id FROM dashboard_user WHERE email = $1',
    [person.email],
  );
  return row!.merchant_id;
};

describe('addresses', () => {
  it('are kept in the one spelling of their network, once per currency', async () => {
    const admin = await Person.admin(h);
    const added = await addWallet(admin, { label: 'Cold storage', destinationTag: '' });
    expect(answered(added)).toEqual([
      201,
      {
        ok: true,
        data: {
          id: expect.stringMatching(/^[0-9a-f]{24}$/) as string,
          type: 'wallet',
          currency: 'ETH',
          address: checksummed,
          destinationTag: null,
          ip: null,
          label: 'Cold storage',
          createdBy: admin.email,
          createdAt: expect.any(String) as string,
          activeAt: added.body.data.createdAt as string,
        },
      },
    ]);
    for (const address of [lower, checksummed, lower.toUpperCase().replace('0X', '0x')])
      expect(answered(await addWallet(admin, { address }))).toEqual(refused('ALREADY_WHITELISTED', 409));
    expect((await addWallet(admin, { currency: 'usdt_erc20' })).status).toBe(201);
    expect((await addWallet(await Person.admin(h))).status).toBe(201);
    expect(await listed(admin)).toMatchObject({ wallets: [{ currency: 'USDT_ERC20' }, added.body.data], ips: [] });
    expect(await mailTo(h, admin.email)).toContain(`added USDT_ERC20 address ${checksummed}`);
    const { items } = (await admin.get('/api/v1/audit-log?action=whitelist.added')).body.data;
    expect(items[1]).toMatchObject({ target: added.body.data.id, after: { currency: 'ETH', address: checksummed } });
  });

  it('are refused where they are none of the network, or ours', async () => {
    const admin = await Person.admin(h);
    const ours = (await admin.post('/api/v1/merchant-wallets', { currency: 'ETH', totpCode: await admin.code() })).body
      .data.settlementAddress as string;
    for (const address of [
      'x',
      `${checksummed}0`,
      checksummed.replace('C5', 'c5'),
      'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      ours,
    ])
      expect([address, ...answered(await addWallet(admin, { address }))]).toEqual([
        address,
        ...refused('INVALID_ADDRESS', 400),
      ]);
    await h.db.query('DELETE FROM rate_limit');
    expect(answered(await addWallet(admin, { currency: 'DOGE' }))).toEqual(refused('CURRENCY_NOT_AVAILABLE', 400));
    for (const body of [
      { address: undefined },
      { address: 7 },
      { destinationTag: '7' },
      { label: 'a\u0000b' },
      { label: 'x'.repeat(101) },
    ])
      expect(answered(await addWallet(admin, body))).toEqual(refused('VALIDATION_ERROR', 400));
    expect((await listed(admin)).wallets).toEqual([]);
  });

  it('count for their merchant and currency alone, and until they are removed', async () => {
    const admin = await Person.admin(h);
    const merchantId = await merchantOf(admin);
    const counts = (over: { merchantId?: string; currency?: string; address?: string; at?: Date; tag?: string } = {}) =>
      isWhitelisted(
        h.db,
        {
          merchantId: over.merchantId ?? merchantId,
          currency: over.currency ?? 'ETH',
          address: over.address ?? checksummed,
          destinationTag: over.tag ?? null,
        },
        over.at ?? new Date(Date.now() + 1000),
      );
    expect(await counts()).toBe(false);
    const { id } = (await addWallet(admin)).body.data as { id: string };
    expect(await counts()).toBe(true);
    expect(await counts({ merchantId: newId() })).toBe(false);
    expect(await counts({ currency: 'USDT_ERC20' })).toBe(false);
    expect(await counts({ address: lower })).toBe(false);
    expect(await counts({ address: checksummed.slice(0, -1) })).toBe(false);
    expect(await counts({ tag: '1' })).toBe(false);
    expect(await counts({ at: new Date(Date.now() - 60_000) })).toBe(false);
    await remove(admin, id);
    expect(await counts()).toBe(false);
    expect((await addWallet(admin)).status).toBe(201);
    expect(await counts()).toBe(true);
  });

  it('cannot be removed under a withdrawal that has looked', async () => {
    const admin = await Person.admin(h);
    const merchantId = await merchantOf(admin);
    const { id } = (await addWallet(admin)).body.data as { id: string };
    const order: string[] = [];
    let removal: Promise<unknown> | undefined;
    await h.db.transaction(async (tx) => {
      expect(
        await isWhitelisted(
          tx,
          { merchantId, currency: 'ETH', address: checksummed, destinationTag: null },
          new Date(Date.now() + 1000),
        ),
      ).toBe(true);
      removal = remove(admin, id).then(({ status }) => order.push(`removed ${status}`));
      await new Promise((resolve) => setTimeout(resolve, 400));
      order.push('sent');
    });
    await removal;
    expect(order).toEqual(['sent', 'removed 200']);
  });

  it('wait for the cooling-off, which cannot be shortened at once', async () => {
    const admin = await Person.admin(h);
    const merchantId = await merchantOf(admin);
    const delay = (whitelistDelayHours: number) => admin.call('PATCH', '/api/v1/settings', { whitelistDelayHours });
    const hoursOf = async (currency: string) => {
      const { createdAt, activeAt } = (await addWallet(admin, { currency })).body.data as Record<string, string>;
      return (Date.parse(activeAt!) - Date.parse(createdAt!)) / 3_600_000;
    };
    expect((await admin.get('/api/v1/settings')).body.data.whitelistDelayHours).toBe(0);
    expect((await delay(72)).body.data.whitelistDelayHours).toBe(72);
    expect(await hoursOf('ETH')).toBe(72);
    expect(
      await isWhitelisted(
        h.db,
        { merchantId, currency: 'ETH', address: checksummed, destinationTag: null },
        new Date(Date.now() + 71 * 3_600_000),
      ),
    ).toBe(false);
    expect(
      await isWhitelisted(
        h.db,
        { merchantId, currency: 'ETH', address: checksummed, destinationTag: null },
        new Date(Date.now() + 73 * 3_600_000),
      ),
    ).toBe(true);
    await delay(1);
    expect(await hoursOf('USDT_ERC20')).toBeCloseTo(72, 1);
    await h.db.query(`UPDATE merchant SET whitelist_not_before = now() - interval '1 second' WHERE id = $1`, [
      merchantId,
    ]);
    expect(await hoursOf('USDC_ERC20')).toBe(1);
    for (const hours of [-1, 721, 1.5, '1']) expect((await delay(hours as number)).status).toBe(400);
  });
});

describe('places that money is sent from', () => {
  it('are addresses and ranges, in one spelling', async () => {
    const admin = await Person.admin(h);
    const range = await addIp(admin, `${admin.ip}/24`, { label: 'Office' });
    expect(range).toMatchObject({
      status: 201,
      body: {
        data: {
          type: 'ip',
          ip: admin.ip.replace(/\d+$/, '0/24'),
          label: 'Office',
          currency: null,
          address: null,
          warnings: [],
        },
      },
    });
    expect((await addIp(admin, '2001:DB8:0::1')).body.data).toMatchObject({ ip: '2001:db8::1', warnings: [] });
    expect(answered(await addIp(admin, '2001:db8::1/128'))).toEqual(refused('ALREADY_WHITELISTED', 409));
    for (const ip of ['127.1', '1.2.3.4/0', 'x', '1.2.3.4/33'])
      expect(answered(await addIp(admin, ip))).toEqual(refused('INVALID_IP', 400));
    expect((await listed(admin)).ips.map(({ ip }) => ip)).toEqual(['2001:db8::1', range.body.data.ip]);
  });

  it('warn whoever shuts themselves out, who then cannot add addresses, whatever the factor', async () => {
    const admin = await Person.admin(h);
    expect((await addWallet(admin)).status).toBe(201);
    const first = await addIp(admin, '198.51.100.7');
    expect(first.body.data.warnings).toEqual(['CALLER_IP_NOT_LISTED']);
    await admin.post(`${path}/send-email-code`);
    const emailCode = /\b\d{6}\b/.exec(await mailTo(h, admin.email))![0];
    const other = { currency: 'USDT_ERC20', address: lower };
    for (const factor of [{ emailCode }, { totpCode: '000000' }, {}])
      expect(answered(await admin.post(`${path}/wallet`, { ...other, ...factor }))).toEqual(
        refused('IP_NOT_WHITELISTED', 403),
      );
    const inside = await admin.post(`${path}/wallet`, { ...other, emailCode }, { 'X-Forwarded-For': '198.51.100.7' });
    expect(inside.status).toBe(201); // the code was not spent
    expect((await remove(admin, first.body.data.id as string)).status).toBe(200);
    expect((await addWallet(admin, { currency: 'USDC_ERC20' })).status).toBe(201);
  });

  it('shut nobody out before they are active', async () => {
    const admin = await Person.admin(h);
    await admin.call('PATCH', '/api/v1/settings', { whitelistDelayHours: 24 });
    expect((await addIp(admin, '198.51.100.7')).body.data.warnings).toEqual(['CALLER_IP_NOT_LISTED']);
    expect((await addWallet(admin)).status).toBe(201);
  });
});

it('removes what is there, and says the same of what is not and what is foreign', async () => {
  const admin = await Person.admin(h);
  const stranger = await Person.admin(h);
  const { id } = (await addWallet(admin)).body.data as { id: string };
  const ip = (await addIp(admin, admin.ip)).body.data as { id: string };
  for (const malformed of ['x', id.toUpperCase(), `${id}0`, '%00'])
    expect(answered(await remove(admin, malformed, {}))).toEqual([
      400,
      { ok: false, error: { code: 'INVALID_ID', message: 'Invalid ID format' } },
    ]);
  expect(answered(await remove(stranger, id))).toEqual(refused('WHITELIST_REMOVE_FAILED', 404));
  expect((await remove(stranger, id)).text).toBe((await remove(stranger, newId())).text);
  const entry = (await listed(admin)).wallets[0];
  expect(answered(await remove(admin, id))).toEqual([200, { ok: true, data: { deleted: true } }]);
  const { items } = (await admin.get('/api/v1/events?types=whitelist.changed')).body.data;
  const time = expect.any(String) as string;
  expect(items).toMatchObject([
    { data: { ...entry, removedAt: null }, previous: {} },
    { data: { type: 'ip', ip: admin.ip, removedAt: null }, previous: {} },
    { data: { ...entry, removedAt: time }, previous: { removedAt: null } },
  ]);
  expect(answered(await remove(admin, id))).toEqual(refused('WHITELIST_REMOVE_FAILED', 404));
  expect(answered(await remove(admin, ip.id))).toEqual([200, { ok: true, data: { deleted: true } }]);
  expect(await listed(admin)).toEqual({ wallets: [], ips: [] });
  expect(await mailTo(h, admin.email)).toContain(`removed ${admin.ip}`);
});

it('wants a fresh factor made for it, with every change', async () => {
  const admin = await Person.admin(h);
  const { id } = (await addWallet(admin)).body.data as { id: string };
  await admin.post('/api/v1/merchant-wallets/send-email-code');
  const emailCode = /\b\d{6}\b/.exec(await mailTo(h, admin.email))![0];
  const acts = [
    (body: object) =>
      admin.post(`${path}/wallet`, {
        currency: 'BTC',
        address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
        ...body,
      }),
    (body: object) => admin.post(`${path}/ip`, { ip: admin.ip, ...body }),
    (body: object) => remove(admin, id, body),
  ];
  for (const act of acts) {
    expect(answered(await act({}))).toEqual(refused('VERIFICATION_FAILED', 400));
    expect(answered(await act({ emailCode }))).toEqual(refused('VERIFICATION_FAILED', 401));
  }
  const sent = await admin.post(`${path}/send-email-code`);
  expect(sent.body.data).toMatchObject({ sent: true });
  const right = /\b\d{6}\b/.exec(await mailTo(h, admin.email))![0];
  expect((await acts[0]!({ emailCode: right })).status).toBe(201);
  expect(answered(await acts[1]!({ emailCode: right }))).toEqual(refused('VERIFICATION_FAILED', 401));
});

it('is for sessions with the right, and only ten times a minute', async () => {
  const admin = await Person.admin(h);
  const viewer = await Person.member(admin, ['whitelist:view']);
  expect((await viewer.get(path)).status).toBe(200);
  expect(await addWallet(viewer)).toMatchObject({
    status: 403,
    body: { requiredPermission: 'whitelist:manage' },
  });
  const { key } = await h.shop();
  expect(answered(await h.call('GET', path, { key }))).toEqual([401, { error: 'Invalid or expired token' }]);
  for (let n = 0; n < 10; n += 1) expect((await remove(admin, 'x', {})).status).toBe(400);
  expect((await remove(admin, 'x', {})).status).toBe(429);
  for (let n = 0; n < 3; n += 1) expect((await admin.post(`${path}/send-email-code`)).status).toBe(200);
  expect((await admin.post(`${path}/send-email-code`)).status).toBe(429);
});
