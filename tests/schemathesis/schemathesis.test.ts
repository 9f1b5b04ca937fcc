import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RateLimits } from '../../db/rate-limits';
import { routes } from '../../api/routes';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { mailTo, newEmail, password, Person } from '../api/person';

/** The API reference against the API: Schemathesis makes requests of the reference, and holds each answer against it. */

jest.setTimeout(300_000);

type Who = { token: string; totp?: string };
/** What hooks.py puts into requests: credentials (`for`: of single operations), and values that exist, by their names. */
type Given = { who: Who | null; for: Record<string, Who>; known: Record<string, unknown[]> };

let h: Harness;
let shop: Shop;
let admin: Person;
let known: Given['known'];
let clock: NodeJS.Timeout;
const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));

beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  clock = setInterval(() => void timePasses().catch(() => undefined), 250);
  shop = await h.shop();
  admin = await Person.admin(h);
  known = await whatExists();
});
afterAll(async () => {
  clearInterval(clock);
  await h?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Nobody waits for limits, locks and the next authenticator code here. */
async function timePasses(): Promise<void> {
  await h.db.query('DELETE FROM rate_limit');
  await h.db.query('DELETE FROM wrong_factor');
  await h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE totp_last_step <> 0');
  Object.assign(h.api.deps, { limits: new RateLimits(h.db) });
}

async function whatExists(): Promise<Given['known']> {
  const created = [];
  for (const body of [{ amount: 20 }, { amount: 30, currency: 'BTC' }, { amount: 40, currency: 'USDT_ERC20' }])
    created.push((await h.call('POST', '/api/v1/payments', { key: shop.key, body })).body);
  const refused = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 1, currency: 'XYZ' } });
  const invited = await admin.post('/api/v1/team-invitations', {
    email: newEmail(),
    role: 'merchant_member',
    permissions: [],
    totpCode: await admin.code(),
  });
  const apiKey = await admin.post('/api/v1/api-keys', {
    name: 'k',
    scopes: ['payments:read'],
    totpCode: await admin.code(),
  });
  const closed = await h.shop();
  const unverified = new Person(h);
  await unverified.register();
  return {
    paymentId: created.map(({ paymentId }) => paymentId),
    invoiceId: created.map(({ invoiceUrl }) => invoiceUrl.split('/').at(-1)),
    currency: ['BTC', 'usdc_erc20'],
    requestId: [refused.headers.get('x-request-id')],
    invitationId: [invited.body.data.id],
    keyId: [apiKey.body.data.id],
    merchantId: [closed.id],
    name: ['registration'],
    file: ['btc.svg', 'swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'],
    email: [admin.email, unverified.email],
    password: [password],
    currentPassword: [password],
    token: [/token=(\w{64})/.exec(await mailTo(h, invited.body.data.email))![1]],
    code: [/\d{6}/.exec(await mailTo(h, unverified.email))![0]],
  };
}

const credential = (person: Person): Who => ({
  token: person.cookies.get('svc_access')!,
  totp: person.totpSecret,
});
/** `make`s somebody, and two more for the calls after which their own session or membership may be over. */
async function people(make: () => Promise<Person>): Promise<Pick<Given, 'who' | 'for'>> {
  const [who, spare, leaver] = [await make(), await make(), await make()].map(credential) as [Who, Who, Who];
  return {
    who,
    for: { endSession: spare, changeMember: spare, removeMember: spare, changePassword: spare, logout: leaver },
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

/** Public operations do not look at credentials. */
const guarded = routes.filter(({ may, name }) => may !== 'public' || name === 'logout').map(({ name }) => name);

async function run(given: Given, operations: readonly string[] = []): Promise<void> {
  const program = process.env.SCHEMATHESIS_PATH;
  if (!program) throw new Error('SCHEMATHESIS_PATH is not set: npm test installs Schemathesis, or says why it cannot');
  const { code, output } = await new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const child = spawn(
      program,
      [
        'run',
        `${h.url}/api/v1/openapi.json`,
        '--url',
        h.url,
        '--no-color',
        ...operations.flatMap((name) => ['--include-operation-id', name]),
      ],
      {
        cwd: __dirname,
        env: {
          ...process.env,
          SCHEMATHESIS_GIVEN: JSON.stringify(given),
          HYPOTHESIS_STORAGE_DIRECTORY: folder,
          PYTHONDONTWRITEBYTECODE: '1',
        },
        timeout: 240_000,
      },
    );
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    child.stderr.on('data', (text: Buffer) => (output += text.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
  if (process.env.API_TEST_LOG) {
    const stats: Record<string, Record<string, number>> = {};
    for (const line of h.logs) {
      const { msg, method, route, status } = JSON.parse(line);
      if (msg !== 'request') continue;
      const at = (stats[`${method} ${route}`] ??= {});
      at[status] = (at[status] ?? 0) + 1;
    }
    console.log(
      output +
        Object.entries(stats)
          .map(([name, at]) => `${name} ${JSON.stringify(at)}`)
          .join('\n'),
    );
    h.logs.length = 0;
  }
  if (code !== 0) throw new Error(output);
}

it('holds without a credential', () => run({ who: null, for: {}, known }));
it('holds for a secret key', () => run({ who: { token: shop.key }, for: {}, known }, guarded));
it('holds for an admin', async () => run({ ...(await people(() => Person.admin(h))), known }, guarded));
it('holds for a member without permissions', async () =>
  run({ ...(await people(() => Person.member(admin, []))), known }, guarded));
it('holds for a super admin', async () => run({ ...(await people(superAdmin)), known }, guarded));
