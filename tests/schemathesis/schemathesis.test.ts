import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { permissions, scopes } from '../../domain/access/access';
import { createCodecs } from '../../chains/codecs';
import { addPasskey } from '../../db/access/passkeys';
import { post } from '../../db/ledger/ledger';
import { RateLimits } from '../../db/access/rate-limits';
import { findUserByEmail } from '../../db/access/users';
import { addWallet } from '../../db/wallets/wallets';
import { openApiDocument } from '../../api/http/openapi';
import type { Examples } from '../../api/http/reference/examples';
import type { Route } from '../../api/http/route';
import { routes } from '../../api/routes';
import { startHarness, type Harness } from '../api/harness';
import { mailTo, newEmail, password, Person } from '../api/person';
import { adjustment } from '../../domain/ledger/entry';
import { root } from '../../sandbox/paths';

/** The API reference against the API: Schemathesis makes requests of the reference, and holds each answer against
 *  it. */

jest.setTimeout(600_000);

type Who = { token: string; totp?: string };
/** What hooks.py puts into requests: credentials (`for`: of single operations), and values that exist, by their
 *  names. */
type Given = { who: Who | null; for: Record<string, Who>; known: Record<string, unknown[]> };

let h: Harness;
let temporal: Http2Server;
let admin: Person;
let key: string;
let known: Given['known'];
let clocks: NodeJS.Timeout[] = [];
const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));
/** Both parts of the API reference in one. */
const document = join(folder, 'openapi.json');

beforeAll(async () => {
  // A Temporal that refuses every call at once, so that commands need not wait for their deadline.
  temporal = createServer().on('stream', (stream) =>
    stream.respond({ 'content-type': 'application/grpc', 'grpc-status': '7' }, { endStream: true }),
  );
  await new Promise<void>((resolve) => temporal.listen(0, '127.0.0.1', resolve));
  const { port } = temporal.address() as AddressInfo;
  h = await startHarness({ MODE: 'test', PROXY_COUNT: '1', TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
  clocks = [
    setInterval(() => void timePasses().catch(() => undefined), 100),
    setInterval(() => void h.setRates().catch(() => undefined), 30_000),
  ];
  const examples = JSON.parse(
    readFileSync(join(root, 'api', 'http', 'reference', 'recorded.json'), 'utf8'),
  ) as Examples;
  writeFileSync(document, JSON.stringify(openApiDocument(routes, { API_URL: h.url }, examples)));
  admin = await Person.admin(h);
  known = await whatExists();
});
afterAll(async () => {
  clocks.forEach(clearInterval);
  await h?.stop();
  temporal?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Nobody waits for limits, locks, the next authenticator code and a fresh look at the markets here. */
async function timePasses(): Promise<void> {
  await h.db.query('DELETE FROM rate_limit');
  await h.db.query('DELETE FROM wrong_factor');
  await h.db.query(
    `UPDATE dashboard_user SET totp_last_step = 0
     WHERE id IN (SELECT id FROM dashboard_user WHERE totp_last_step <> 0 FOR UPDATE SKIP LOCKED)`,
  );
  await h.db.query(
    `INSERT INTO rate_look (started_at, currencies)
       SELECT clock_timestamp(), array_agg(DISTINCT currency::text) FROM rate_latest
     ON CONFLICT (only_one) DO UPDATE SET started_at = EXCLUDED.started_at, currencies = EXCLUDED.currencies`,
  );
  Object.assign(h.api.deps, { limits: new RateLimits(h.db) });
}

/** Gives the admin's merchant something of each kind. */
async function whatExists(): Promise<Given['known']> {
  const user = (await findUserByEmail(h.db, admin.email))!;
  const codecs = createCodecs(h.api.deps.config.chain);
  for (const currency of ['BTC', 'ETH', 'USDT_ERC20'])
    await addWallet(
      h.db,
      { merchantId: user.merchant_id!, currency },
      codecs[currency === 'BTC' ? 'bitcoin' : 'ethereum'],
    );
  const makeKey = async () =>
    (await admin.post('/api/v1/api-keys', { name: 'k', scopes: [...scopes], totpCode: await admin.code() })).body.data;
  const [main, ...others] = [await makeKey(), await makeKey(), await makeKey()];
  key = main.apiKey;
  const create = (body: object) => h.call('POST', '/api/v1/payments', { key, body });
  const created = [];
  for (const currency of [undefined, 'BTC', 'USDT_ERC20']) created.push((await create({ amount: 50, currency })).body);
  const refused = await create({ amount: 50, currency: 'XYZ' });
  const invited = [];
  for (const email of [newEmail(), newEmail(), newEmail()]) {
    const invitation = { email, role: 'merchant_member', permissions: [], totpCode: await admin.code() };
    invited.push((await admin.post('/api/v1/team-invitations', invitation)).body.data);
  }
  const members = [];
  while (members.length < 4) members.push(await Person.member(admin, []));
  const unverified = new Person(h);
  await unverified.register();
  const { id: merchantId } = await h.shop();
  const credit = `L:available:${user.merchant_id!}` as const;
  for (const asset of ['BTC', 'ETH', 'USDT_ERC20'])
    await post(h.db.manager, {
      key: `given/${asset}`,
      entry: adjustment,
      postings: [{ debit: 'Q:capital', credit, asset, amount: '1000' }],
    });
  const address = codecs.ethereum.normalise(`0x${'5a'.repeat(20)}`)!;
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await admin.post(path, { ...body, totpCode: await admin.code() });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.data.id ?? answer.body.data._id;
  };
  const listed = [];
  for (const currency of ['ETH', 'USDT_ERC20'])
    listed.push(await made('/api/v1/whitelist/wallet', { currency, address }));
  const withdrawals = [];
  const batches = [];
  for (const n of [1, 2, 3]) {
    const row = { currency: 'ETH', address, amount: '0.5' };
    withdrawals.push(
      await made('/api/v1/withdrawals', { ...row, feeMode: 'deduct', idempotencyKey: `given-row-${n}` }),
    );
    batches.push(await made('/api/v1/mass-payouts', { rows: [row], idempotencyKey: `given-row-${n}` }));
  }
  const endpoints = [];
  for (const n of [1, 2, 3])
    endpoints.push(
      (await admin.post('/api/v1/webhook-endpoints', { url: `https://example.com/${n}`, enabledEvents: ['*'] })).body
        .data.id,
    );
  return {
    address: [address],
    withdrawalId: withdrawals,
    id: [...batches, ...listed],
    endpointId: endpoints,
    fromCurrency: ['ETH'],
    toCurrency: ['USDT_ERC20'],
    paymentId: created.map(({ paymentId }) => paymentId),
    invoiceId: created.map(({ invoiceUrl }) => invoiceUrl.split('/').at(-1)),
    currency: ['BTC', 'usdt_erc20', 'USDC_ERC20'],
    requestId: [refused.headers.get('x-request-id')],
    invitationId: invited.map(({ id }) => id),
    keyId: others.map(({ id }) => id),
    memberId: await Promise.all(members.map(async ({ email }) => (await findUserByEmail(h.db, email))!.id)),
    merchantId: [merchantId],
    name: ['registration'],
    file: ['btc.svg'],
    email: [members[0]!.email, unverified.email],
    password: [password],
    currentPassword: [password],
    newPassword: [password],
    token: await Promise.all(invited.map(async ({ email }) => /token=(\w{64})/.exec(await mailTo(h, email))![1])),
    code: [/\d{6}/.exec(await mailTo(h, unverified.email))![0]],
  };
}

function credential(person: Person): Who {
  const token = person.cookies.get('svc_access');
  if (!token) throw new Error(`${person.email} is not signed in`);
  return { token, totp: person.totpSecret };
}

/** `who` gets passkeys, and stand-ins for the calls after which their own session is over. */
async function inPlaceOf(
  who: Person,
  make: () => Promise<Person>,
  makeChief: () => Promise<Person> = make,
): Promise<Given> {
  const { id: userId } = (await findUserByEmail(h.db, who.email))!;
  const passkeyId = [];
  for (const credentialId of [`${userId}-1`, `${userId}-2`]) {
    const passkey = { userId, credentialId, publicKey: Buffer.alloc(77), counter: 0, transports: ['usb'], name: 'Key' };
    passkeyId.push((await addPasskey(h.db.manager, passkey))!.id);
  }
  const [ender, chief] = [await make(), await makeChief()];
  const sessions = await ender.get('/api/v1/auth/sessions');
  await ender.signIn();
  return {
    who: credential(who),
    for: {
      logout: credential(await make()),
      changePassword: credential(await make()),
      endSession: credential(ender),
      changeMember: credential(chief),
      removeMember: credential(chief),
    },
    known: { ...known, passkeyId, sessionId: sessions.body.items.map(({ id }: { id: string }) => id) },
  };
}

async function superAdmin(): Promise<Person> {
  const person = await Person.admin(h);
  await h.db.query(`UPDATE dashboard_user SET role = 'super_admin', merchant_id = NULL WHERE email = $1`, [
    person.email,
  ]);
  h.api.deps.sessions.forget();
  return person;
}

/** A stream that is let in has no end to wait for. */
const finite = routes.filter(({ success }) => success.type !== 'text/event-stream');
/** Public operations do not look at credentials. */
const guarded = finite.filter(({ may, name }) => may !== 'public' || name === 'logout');
const isOpen = ({ may }: Route): boolean => may === 'public' || may === 'publishable';
const takesKey = ({ may }: Route): boolean => typeof may === 'object' && may.key !== null;
const takesMember = ({ may }: Route): boolean => may === 'user' || typeof may === 'object';
const takesOperator = ({ may }: Route): boolean => may === 'user' || may === 'super_admin';

/** These answer evenly: in their own good time. */
const slow = [
  ['login', 'forgotPassword'],
  ['register', 'resendVerification'],
  ['verifyEmail', 'resetPassword'],
];

const namesOf = (chosen: readonly Route[]): string[] => chosen.map(({ name }) => name);

/** Every value at its bounds goes to the operations that let the caller in; those that refuse whoever it is get some
 *  requests. */
async function runAs(given: Given, chosen: readonly Route[], letsIn: (route: Route) => boolean): Promise<void> {
  await run(given, namesOf(chosen.filter(letsIn)));
  const refusing = namesOf(chosen.filter((route) => !letsIn(route)));
  await run(given, refusing, ['--phases', 'examples,fuzzing']);
}

async function run(given: Given, operations: readonly string[], options: readonly string[] = []): Promise<void> {
  if (operations.length === 0) return;
  const python = process.env.PYTHON_PATH;
  if (!python) throw new Error('PYTHON_PATH is not set: npm test installs Schemathesis, or says why it cannot');
  const chosen = operations.flatMap((name) => ['--include-operation-id', name]);
  const { code, output } = await new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const child = spawn(
      join(dirname(python), 'schemathesis'),
      ['run', document, '--url', h.url, '--no-color', ...options, ...chosen],
      {
        cwd: __dirname, // where its configuration is
        env: {
          ...process.env,
          SCHEMATHESIS_GIVEN: JSON.stringify(given),
          HYPOTHESIS_STORAGE_DIRECTORY: folder,
          PYTHONDONTWRITEBYTECODE: '1',
        },
        timeout: 560_000,
      },
    );
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    child.stderr.on('data', (text: Buffer) => (output += text.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
  if (code !== 0) throw new Error(output);
}

/** Which of `chosen` have had a request that was good, since the logs were cleared. */
function succeeded(chosen: readonly Route[]): string[] {
  const seen = new Set<string>();
  for (const line of h.logs) {
    const { msg, method, route, status } = JSON.parse(line);
    if (msg === 'request' && status < 300) seen.add(`${method.toLowerCase()} ${route}`);
  }
  return chosen.filter(({ method, path }) => seen.has(`${method} ${path}`)).map(({ name }) => name);
}

it('holds without a credential', async () => {
  const given = { who: null, for: {}, known };
  const fast = routes.filter(({ name }) => !slow.flat().includes(name));
  await Promise.all([runAs(given, fast, isOpen), ...slow.map((operations) => run(given, operations))]);
});
it('holds for a secret key', () => runAs({ who: { token: key }, for: {}, known }, guarded, takesKey));
it('holds for an admin', async () => {
  const chief = () => Person.member(admin, permissions);
  const given = await inPlaceOf(admin, () => Person.admin(h), chief);
  h.logs.length = 0;
  await runAs(given, guarded, takesMember);
  // It is no more than noise at the door unless requests get in.
  const inside = routes.filter(takesMember);
  expect(succeeded(inside).length / inside.length).toBeGreaterThan(0.6);
});
it('holds for a member without permissions', async () => {
  const make = () => Person.member(admin, []);
  await runAs(await inPlaceOf(await make(), make), guarded, ({ may }) => may === 'user');
});
it('holds for a super admin', async () => {
  await runAs(await inPlaceOf(await superAdmin(), superAdmin), guarded, takesOperator);
});
