import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { rawProperty } from '../../domain/payments/json-text';
import { eventTypes } from '../../domain/webhooks/event-types';
import { root } from '../../sandbox/paths';
import { writeSandboxFile, type DemoMerchant } from '../../sandbox/sandbox-file';
import { registerDemo } from '../../sandbox/seed';
import { ended, type Ended } from '../child';
import { lanes, type Lane } from '../lanes';
import { World, type Shop } from '../world';
import { startMuteProxy } from './mute-proxy';
import { Receiver, type Got } from './receiver';
import { shops } from './shops';

/** The command-line tool as a process of its own, on a whole sandbox: API, workers, nodes. */

const packageFolder = join(root, 'sdk', 'cli');
const program = join(packageFolder, 'dist', 'main.js');

let world: World;
let shop: DemoMerchant;
let folder: string;
let receiver: Receiver;
let receiverUrl: string;
let received: Got[];
const children = new Set<ChildProcess>();

/** A key of the right form that the service does not know. */
const wrong = `svc_live_${'x'.repeat(32)}`;

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  CRYPTO_PAYMENTS_API_URL: undefined,
  CRYPTO_PAYMENTS_API_KEY: undefined,
  SANDBOX_DATA: undefined,
  CRYPTO_PAYMENTS_CONFIG: join(folder, 'config.json'),
});
async function run(args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const env = { ...environment(), ...more };
  const end = await ended(spawn(process.execPath, [program, ...args], { cwd: folder, env }), input);
  return { ...end, errors: end.errors.trim() };
}
/** What a command says to programs. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
async function told(...args: string[]): Promise<any> {
  const { code, out, errors } = await run(['--json', ...args]);
  expect([args, errors, code]).toEqual([args, '', 0]);
  return JSON.parse(out) as unknown;
}
async function refusal(...args: string[]): Promise<{ code: string; message: string; hint?: string }> {
  const { code: ended, errors } = await run([...args, '--json']);
  const { error } = JSON.parse(errors) as { error: { code: string; message: string } };
  expect([args, ended]).toEqual([args, error.code === 'USAGE' ? 2 : 1]);
  return error;
}
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 120_000; !(await holds()); await sleep(100))
    if (Date.now() > end) throw new Error(`It did not come true: ${JSON.stringify(receiver.seqs)}`);
}

/** A command that goes on until it is ended. */
const begin = (...args: string[]) => beginWith({}, ...args);
function beginWith(more: NodeJS.ProcessEnv, ...args: string[]) {
  const env = { ...environment(), ...more };
  const child = spawn(process.execPath, [program, '--json', ...args], { cwd: folder, env });
  children.add(child);
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
  const lines = (): any[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown);
  return {
    child,
    lines,
    async ready() {
      await until(() => {
        if (child.exitCode !== null) throw new Error(errors);
        return lines().length > 0;
      });
      return lines()[0] as { after: string; secret: string };
    },
    async end() {
      child.kill('SIGINT');
      if (child.exitCode === null) await once(child, 'close');
      return child.exitCode;
    },
  };
}
/** Kills the process of the API, and waits for the one that comes in its place. */
async function restartApi(): Promise<void> {
  const api = world.stack.part('api-1');
  const killed = api.pid()!;
  process.kill(killed, 'SIGKILL');
  await until(async () => {
    if (api.pid() === killed) return false;
    return fetch(`${world.stack.apiUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}
const create = async (order: string, of: Shop = shop): Promise<string> =>
  (await world.call(of, 'POST', '/api/v1/payments', { amount: 25, currency: 'ETH', merchantOrderId: order })).body
    .paymentId as string;
const text = async (path: string): Promise<string> =>
  (await fetch(world.stack.apiUrl + path, { headers: { authorization: `Bearer ${shop.secretKey}` } })).text();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-'));
  receiver = await Receiver.start();
  ({ url: receiverUrl, received } = receiver);
  world = await World.start({
    miner: true,
    restartAfterMs: 500,
    services: { checkout: 1 },
    swap: true,
    env: { AML_PROVIDER: 'list', SWAP_POLL_SECONDS: '1' },
  });
  await Promise.all([world.payIn('USDT_ERC20', '1000'), world.payIn('ETH', '1')]);
  shop = await registerDemo(world.db, world.stack);
  writeSandboxFile(world.stack, shop, '');
}, 240_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  receiver?.stop();
  await world?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, 60_000);
beforeEach(() => receiver.reset());

describe('18.6: logging in', () => {
  it('takes a key that works, from standard input, and keeps it for its owner', async () => {
    expect(await refusal('payments', 'list')).toMatchObject({ code: 'NO_LOGIN' });
    const apiUrl = ['--api-url', world.stack.apiUrl];
    expect((await run(['--json', 'login', ...apiUrl, '--key', '-'], 'pk_live_x\n')).errors).toContain('BAD_KEY');
    const refused = await run(['--json', 'login', ...apiUrl, '--key', '-'], `${wrong}\n`);
    expect(JSON.parse(refused.errors)).toMatchObject({
      error: { code: 'INVALID_API_KEY', requestId: expect.any(String) as string, hint: expect.any(String) as string },
    });
    expect((await run(['login', ...apiUrl, '--key', '-'], `${shop.secretKey}\n`)).code).toBe(0);
    const file = join(folder, 'config.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ apiKey: shop.secretKey });
    expect(await told('payments', 'list')).toEqual([]);
    expect(await refusal('trigger', 'payment.created')).toMatchObject({
      code: 'NO_SANDBOX',
      message: 'trigger works in a sandbox alone: log in to one with login --sandbox',
    });
  });

  it('takes the sandbox that SANDBOX_DATA names, whatever the login', async () => {
    const named = await run(['--json', 'open', 'docs', '--print'], '', { SANDBOX_DATA: world.dataDir });
    expect([named.errors, JSON.parse(named.out)]).toMatchObject(['', { url: `${world.stack.apiUrl}/docs` }]);
    const missing = await run(['--json', 'payments', 'list'], '', { SANDBOX_DATA: folder });
    expect(JSON.parse(missing.errors)).toMatchObject({ error: { code: 'NO_SANDBOX' } });
    const login = await run(['--json', 'login', '--sandbox'], '', { SANDBOX_DATA: world.dataDir });
    expect(JSON.parse(login.out)).toMatchObject({ sandbox: join(world.dataDir, 'sandbox.json') });
  });

  it('forgets it, and takes a sandbox', async () => {
    await told('logout');
    expect(await refusal('payments', 'list')).toMatchObject({ code: 'NO_LOGIN' });
    expect(await refusal('login', '--sandbox', folder)).toMatchObject({ code: 'NO_SANDBOX' });
    expect(await told('login', '--sandbox', world.dataDir)).toMatchObject({ apiUrl: world.stack.apiUrl });
    expect(await told('payments', 'list')).toEqual([]);
  });
});

describe('18.6: what goes wrong is said', () => {
  const nobody = 'http://127.0.0.1:9'; // the discard port: nothing answers there
  const as = (apiUrl: string, apiKey: string) => ({
    CRYPTO_PAYMENTS_API_URL: apiUrl,
    CRYPTO_PAYMENTS_API_KEY: apiKey,
  });

  it('a wrong key and a server that is away, without the key', async () => {
    const refused = async (apiUrl: string, words: string, json: readonly string[]): Promise<void> => {
      const { code, out, errors } = await run(['payments', 'list', ...json], '', as(apiUrl, wrong));
      expect([code, out]).toEqual([1, '']);
      expect(errors).toContain(words);
      expect(errors).not.toContain(wrong);
      expect(errors).not.toMatch(/^ +at /m);
    };
    await Promise.all(
      [[], ['--json']].flatMap((json) => [
        refused(world.stack.apiUrl, 'Log in with another key', json),
        refused(nobody, `No answer from ${nobody}`, json),
      ]),
    );
    const half = await run(['payments', 'list'], '', { CRYPTO_PAYMENTS_API_KEY: wrong });
    expect([half.code, half.errors]).toEqual([1, expect.stringContaining('CRYPTO_PAYMENTS_API_URL is missing')]);
    const noKey = await run(['payments', 'list'], '', as(nobody, 'my-secret'));
    expect([noKey.code, noKey.errors]).toEqual([1, expect.stringContaining('begins with svc_live_')]);
    expect(noKey.errors).not.toContain('my-secret');
  });

  it('an unknown command, with the one that was meant', async () => {
    const { code, out, errors } = await run(['paymnets', 'list']);
    expect([code, out]).toEqual([2, '']);
    expect(errors).toContain("unknown command 'paymnets'");
    expect(errors).toContain('Did you mean payments?');
    const told = await run(['paymnets', '--json']);
    expect([told.code, JSON.parse(told.errors)]).toMatchObject([2, { error: { code: 'USAGE' } }]);
  });

  it('help and version end with 0', async () => {
    for (const args of [['--help'], ['payments', '--help'], ['listen', '--help'], ['help', 'trigger']]) {
      const { code, out, errors } = await run(args);
      expect([args, code, errors]).toEqual([args, 0, '']);
      expect(out).toContain('Usage: crypto-payments');
    }
    const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
    expect(await run(['--version'])).toEqual({ code: 0, out: version, errors: '' });
  });
});

describe('18.6: payments', () => {
  it('are created, read, listed and cancelled', async () => {
    const asked = ['payments', 'create', '25', '--currency', 'BTC', '--order-id', 'o-1', '--idempotency-key', 'k-1'];
    const made = await told(...asked, '--metadata', '{"n":1}');
    expect(made).toMatchObject({ status: 'WAITING', currency: 'BTC' });
    expect((await told(...asked)).paymentId).toBe(made.paymentId);
    const payment = await told('payments', 'get', made.paymentId);
    expect(payment).toMatchObject({ _id: made.paymentId, merchantOrderId: 'o-1', metadata: { n: 1 } });
    const shown = (await run(['payments', 'get', made.paymentId])).out;
    expect(shown).toMatch(new RegExp(`^address +${payment.publicKey}$`, 'm'));
    expect((await run(['payments', 'list', '--status', 'waiting'])).out).toContain(made.paymentId);
    expect(await told('payments', 'cancel', made.paymentId)).toEqual({
      paymentId: made.paymentId,
      status: 'CANCELLED',
    });
    expect(await refusal('payments', 'cancel', made.paymentId)).toMatchObject({ code: 'PAYMENT_NOT_CANCELLABLE' });
    expect(await refusal('payments', 'get', 'f'.repeat(24))).toMatchObject({ code: 'PAYMENT_NOT_FOUND' });
  });

  it('with a wrong command line end with 2, and say how', async () => {
    for (const args of [
      ['payments', 'create', 'much'],
      ['payments', 'create', '25', '--metadata', '{'],
      ['payments', 'create'],
      ['payment'],
      ['listen', '--after', '-1'],
      ['login', '--api-url', 'payments'],
    ]) {
      const { code, errors } = await run(args);
      expect([args, code]).toEqual([args, 2]);
      expect(errors).toContain('--help');
    }
    for (const args of [
      ['trigger', 'nope'],
      ['open', 'nope'],
      ['completion', 'nope'],
      ['listen', '--forward-to', 'ftp://x'],
    ])
      expect([args, await refusal(...args)]).toMatchObject([args, { code: 'USAGE' }]);
  });
});

/** Seconds that `listen` waits for an answer in the tests that take one away. */
const timeout = 2;
/** `listen` for a merchant and a server of its own, with an API at `apiUrl`. */
async function listenApart(apiUrl: string) {
  const [of, at] = [await world.shop(), await Receiver.start()];
  const env = { CRYPTO_PAYMENTS_API_URL: apiUrl, CRYPTO_PAYMENTS_API_KEY: of.secretKey };
  const listening = beginWith(env, 'listen', '--forward-to', at.url, '--timeout', String(timeout));
  const first = parseInt((await listening.ready()).after, 10) + 1;
  return { of, at, listening, first };
}

/** A process that is stopped for longer than it would wait, in the middle of a forward. */
async function stopped(): Promise<void> {
  const { of, at, listening, first } = await listenApart(world.stack.apiUrl);
  const held: ServerResponse[] = [];
  const stopInForward = async (order: string): Promise<ServerResponse> => {
    const before = held.length;
    at.hold = (response) => {
      listening.child.kill('SIGSTOP');
      held.push(response);
    };
    await create(order, of);
    await until(() => held.length > before);
    at.hold = undefined;
    await sleep(timeout * 1000 + 500);
    return held.at(-1)!;
  };
  (await stopInForward('answered while it is stopped')).end();
  listening.child.kill('SIGCONT');
  await until(() => listening.lines().length === 2);
  await stopInForward('never answered');
  listening.child.kill('SIGCONT');
  await until(() => listening.lines().length === 3);
  // Stopped between two forwards, for longer than a look at the API may take.
  listening.child.kill('SIGSTOP');
  await create('asleep', of);
  await sleep(timeout * 1000 + 500);
  listening.child.kill('SIGCONT');
  await create('awake', of);
  await until(() => listening.lines().length === 5);
  expect(at.seqs).toEqual([first, first + 1, first + 1, first + 2, first + 3]);
  expect(at.received[2]!.headers['webhook-id']).toBe(at.received[1]!.headers['webhook-id']);
  const shown = listening.lines().slice(1);
  expect(shown.map(({ seq }) => seq as number)).toEqual([0, 1, 2, 3].map((n) => first + n));
  for (const { answer } of shown) expect(answer).toEqual({ status: 200, ms: expect.any(Number) as number });
  expect(await listening.end()).toBe(0);
  at.stop();
}

/** A connection that goes mute after this many bytes of answers, and stays open. */
async function muted(bytes: number): Promise<void> {
  const proxy = await startMuteProxy(world.stack.apiUrl);
  try {
    const { of, at, listening, first } = await listenApart(proxy.url);
    await create('before the silence', of);
    await until(() => at.received.length === 1);
    proxy.mute(bytes);
    await create('in the silence', of);
    await until(() => at.received.length === 2);
    expect(proxy.swallowed()).toBeGreaterThan(0);
    await create('after it', of);
    await until(() => at.received.length === 3);
    expect(at.seqs).toEqual([first, first + 1, first + 2]);
    expect(await listening.end()).toBe(0);
    at.stop();
  } finally {
    proxy.stop();
  }
}

describe('18.6: listening', () => {
  it('forwards each event once, as it is stored, signed with the secret that it says', async () => {
    const listening = begin('listen', '--forward-to', receiverUrl, '--events', 'payment.created');
    const { secret } = await listening.ready();
    receiver.answers = [500];
    const metadata = '{"big":12345678901234567890,"n":1.10,"a":"\\u0000\\"}"}';
    const made = await fetch(`${world.stack.apiUrl}/api/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/json' },
      body: `{"amount":25,"currency":"ETH","metadata":${metadata}}`,
    });
    const { paymentId } = (await made.json()) as { paymentId: string };
    await world.call(shop, 'POST', `/api/v1/payments/${paymentId}/cancel`, {});
    const second = await create('second');
    await until(() => received.length === 2 && listening.lines().length === 3);
    expect(received.map(({ type }) => type)).toEqual(['payment.created', 'payment.created']);
    for (const { body, headers, id } of received) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeDefined();
      expect(headers['webhook-id']).toBe(id);
      expect(body).toBe(rawProperty(await text(`/api/v1/events/${id}`), 'data'));
    }
    expect(received[0]!.body).toContain(metadata);
    const [, first, next] = listening.lines();
    expect(first).toMatchObject({
      type: 'payment.created',
      event: { data: { _id: paymentId } },
      answer: { status: 500 },
    });
    expect(next).toMatchObject({ event: { data: { _id: second } }, answer: { status: 200 } });
    expect(await listening.end()).toBe(0);
    const again = begin('listen', '--forward-to', receiverUrl);
    expect((await again.ready()).secret).toBe(secret);
    await again.end();
    const watching = begin('listen');
    expect(await watching.ready()).toEqual({ ready: true, after: expect.stringMatching(/^\d+$/) as string });
    await watching.end();
  });

  it('18.Done 3: loses and repeats none while the API restarts and the laptop sleeps', async () => {
    const listening = begin('listen', '--forward-to', receiverUrl);
    const { after } = await listening.ready();
    await create('before');
    await until(() => received.length === 1);
    await restartApi();
    await create('after the restart');
    await until(() => received.length === 2);
    listening.child.kill('SIGSTOP');
    for (let n = 0; n < 3; n += 1) await create(`asleep ${n}`);
    listening.child.kill('SIGCONT');
    await until(() => received.length === 5);
    // The night in which the API restarts too.
    listening.child.kill('SIGSTOP');
    await create('late in the evening');
    await restartApi();
    await create('in the morning');
    listening.child.kill('SIGCONT');
    await until(() => received.length === 7);
    await create('awake');
    await until(() => received.length >= 8);
    const first = parseInt(after, 10) + 1;
    expect(receiver.seqs).toEqual(Array.from({ length: 8 }, (_, n) => first + n));
    expect(await listening.end()).toBe(0);
    // A new start behind the last but one has that one again, and no other.
    const again = begin('listen', '--forward-to', receiverUrl, '--after', String(first + 6));
    await until(() => received.length === 9);
    expect(received[8]!.seq).toBe(first + 7);
    await again.end();
  });

  lanes(
    [['18.Done 3: takes an answer that came while it was stopped, and forwards again where none came', stopped]],
    [['18.Done 3: goes on where a connection dies unnoticed, before an answer', () => muted(0)]],
    [['18.Done 3: goes on where a connection dies unnoticed, in the middle of an answer', () => muted(300)]],
  );

  it('ends where the key is refused, and where it has nowhere to forward to', async () => {
    expect(await refusal('listen', '--forward-to', 'ftp://shop')).toMatchObject({ code: 'USAGE' });
    const wrongKey = { CRYPTO_PAYMENTS_API_URL: world.stack.apiUrl, CRYPTO_PAYMENTS_API_KEY: wrong };
    const refused = await run(['--json', 'listen'], '', wrongKey);
    expect([refused.code, JSON.parse(refused.errors)]).toMatchObject([1, { error: { code: 'INVALID_API_KEY' } }]);
  });
});

async function payParts(): Promise<void> {
  const { paymentId } = await told('payments', 'create', '32', '--currency', 'ETH');
  const part = await told('pay', paymentId, '--amount', '0.004');
  expect(part).toMatchObject({ currency: 'ETH', amount: '0.004' });
  await until(async () => (await world.payment(shop, paymentId)).status === 'PARTIALLY_PAID');
  const rest = await told('pay', paymentId);
  expect(rest).toMatchObject({ amount: '0.006', invoiceUrl: expect.stringContaining('/i/') as string });
  await until(async () => (await world.payment(shop, paymentId)).status === 'SETTLED');
  expect((await world.payment(shop, paymentId)).txIds.sort()).toEqual([part.txId, rest.txId].sort());
  expect(await refusal('pay', paymentId, '--amount', 'much')).toMatchObject({ code: 'NOT_PAID' });
}

async function payOfAnother(): Promise<void> {
  const other = await world.shop();
  const made = await world.call(other, 'POST', '/api/v1/payments', { amount: 32, currency: 'ETH' });
  const { paymentId } = made.body as { paymentId: string };
  const { txId } = await told('pay', paymentId);
  await until(async () => (await world.payment(other, paymentId)).status === 'SETTLED');
  expect((await world.payment(other, paymentId)).txIds).toEqual([txId]);
  expect(await refusal('pay', 'f'.repeat(24))).toMatchObject({
    code: 'NOT_PAID',
    message: `There is no payment ${'f'.repeat(24)} in this sandbox`,
  });
}

/** What fails where a transaction is mined and reverts. */
const refusedByContract = ['withdrawal.failed', 'mass_payout.leg_failed', 'refund.failed'];

/** Prices, and how the pair is converted, are as they were before. */
async function putBack(): Promise<void> {
  const prices = JSON.parse(readFileSync(join(world.dataDir, 'prices.json'), 'utf8')) as { USD: { ETH: string } };
  expect(prices.USD.ETH).toBe('3200');
  const pair = `SELECT mode FROM conversion_pair WHERE from_currency = 'ETH' AND to_currency = 'USDT_ERC20'`;
  expect(await world.db.query(pair)).toEqual([{ mode: 'internal' }]);
}

async function triggered(type: string): Promise<void> {
  // A code of the demo user's authenticator serves once: that it has served is forgotten, so that nobody waits.
  await world.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [shop.email]);
  const event = await told('trigger', type);
  expect(event.type).toBe(type);
  expect(JSON.parse(rawProperty(await text(`/api/v1/events/${event.id}`), 'data')!)).toEqual(event);
  if (refusedByContract.includes(type))
    expect(event.data).toMatchObject({
      status: 'failed',
      merchantMessage: expect.stringContaining('reverted') as string,
    });
  if (type === 'payment.settled')
    expect(await world.payment(shop, event.data._id)).toMatchObject({ status: 'SETTLED', currency: 'ETH' });
}
const triggers = (...types: readonly string[]): Lane =>
  types.map((type) => [`triggers ${type} for real`, () => triggered(type)] as const);

describe('18.6: making things happen in the sandbox', () => {
  beforeAll(() => told('login', '--sandbox', world.dataDir));

  // One of each way: the other types of a way come before or after it. Those that need the session of the one demo
  // user, whose codes serve once, are in one lane.
  lanes(
    [
      ['pays a part, and the rest', payParts],
      ...triggers('payment.settled', 'payment.aml_screened', 'refund.cancelled'),
    ],
    [
      ...triggers('conversion.completed', 'conversion.cancelled', 'conversion.processing', 'conversion.failed'),
      ['puts back what it changed to bring conversions about', putBack],
    ],
    [
      ...triggers('payment.repeat_deposit', 'payment.other_deposit'),
      ['pays the payment of another merchant by its id', payOfAnother],
    ],
    triggers(
      'payment.cross_chain_accepted',
      'payment.failed',
      'refund.completed',
      'withdrawal.completed',
      'withdrawal.cancelled',
      'mass_payout.completed',
      'mass_payout.cancelled',
      ...refusedByContract,
    ),
  );
  lanes(
    triggers(
      'payment.cancelled',
      'payment.currency_selected',
      'wallet.added',
      'wallet.settlement_changed',
      'whitelist.changed',
      'webhook_endpoint.disabled',
      'webhook.test',
    ),
  );

  it('triggers every event that there is', async () => {
    const { types, testOnly } = await told('trigger', '--list');
    expect(types.sort()).toEqual(Object.keys(eventTypes).sort());
    const shown = (await run(['trigger', '--list'])).out.split('\n');
    expect(shown).toContain('payment.settled');
    expect(testOnly).toEqual(['payment.reorged']);
    expect(shown).toContain('payment.reorged (in a test instance alone)');
    expect(await refusal('trigger', 'payment.reorged')).toMatchObject({ code: 'NOT_TRIGGERED' });
    for (const type of ['withdrawal.failed', 'refund.failed', 'mass_payout.failed'])
      expect(await refusal('trigger', type, '--currency', 'USDT_ERC20')).toMatchObject({
        code: 'NOT_TRIGGERED',
        message: expect.stringContaining('--currency ETH') as string,
      });
    expect(await refusal('trigger')).toMatchObject({ code: 'USAGE' });
    // Those that come before or after the ones above.
    const rows: Array<{ type: string }> = await world.db.query(
      'SELECT DISTINCT type FROM event WHERE merchant_id = $1',
      [shop.id],
    );
    const seen = new Set(rows.map(({ type }) => type));
    const waits = ['payment.reorged', 'payment.expired', 'payment.partially_paid']; // by others, and by the next
    expect(types.filter((type: string) => !seen.has(type) && !waits.includes(type))).toEqual([]);
  });

  it('triggers bitcoin payments too, and says what cannot be', async () => {
    const event = await told('trigger', 'payment.partially_paid', '--currency', 'btc');
    expect(event.data).toMatchObject({ status: 'PARTIALLY_PAID', currency: 'BTC' });
    const unknown = await refusal('trigger', 'payment.unknown');
    expect([unknown.code, unknown.message]).toEqual(['USAGE', expect.stringContaining('trigger --list') as string]);
    expect(await refusal('trigger', 'payment.expired', '--timeout', '1')).toMatchObject({ code: 'TOO_LATE' });
  });
});

describe('18.6: looking back', () => {
  /** A request that is refused, under a request id. */
  const refusedAs = (requestId: string) =>
    fetch(`${world.stack.apiUrl}/api/v1/payments/${'f'.repeat(24)}`, {
      headers: { authorization: `Bearer ${shop.secretKey}`, 'x-request-id': requestId },
    });
  const namesOf = (tail: ReturnType<typeof begin>): string[] =>
    tail.lines().map(({ requestId }) => requestId as string);

  it('shows requests as they come, each once, and why one was refused', async () => {
    await refusedAs('before-the-tail');
    await until(async () => (await run(['logs', 'show', 'before-the-tail'])).code === 0);
    const tail = begin('logs', 'tail', '--errors');
    let count = 0;
    await until(async () => {
      await world.call(shop, 'GET', '/api/v1/payments');
      await refusedAs(`while-tailing-${(count += 1)}`);
      return tail.lines().length > 2;
    });
    expect(tail.lines()[0]).toMatchObject({
      method: 'GET',
      route: '/api/v1/payments/{paymentId}',
      path: `/api/v1/payments/${'f'.repeat(24)}`,
      status: 404,
      errorCode: 'PAYMENT_NOT_FOUND',
    });
    const shown = namesOf(tail);
    const first = parseInt(shown[0]!.slice('while-tailing-'.length), 10);
    expect(shown).toEqual(shown.map((_, n) => `while-tailing-${first + n}`));
    expect(await tail.end()).toBe(0);
    const refused = await run(['payments', 'create', '25', '--currency', 'NOPE']);
    const requestId = /logs show (\S+)/.exec(refused.errors)![1]!;
    expect(await told('logs', 'show', requestId)).toMatchObject({ requestId, reason: 'UNKNOWN_CURRENCY' });
    await until(async () => (await told('logs', 'show', requestId)).requests.length === 1);
    const text = (await run(['logs', 'show', requestId])).out;
    expect(text).toMatch(/ 400  POST    \/api\/v1\/payments  \d+ ms  .* PAYMENT_CREATION_FAILED\n.* UNKNOWN_CURRENCY /);
    expect(await refusal('logs', 'show', 'nothing-like-it')).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('goes on showing requests when the API was away', async () => {
    const tail = begin('logs', 'tail');
    const shows = (requestId: string): boolean => namesOf(tail).includes(requestId);
    let count = 0;
    await until(async () => {
      await refusedAs(`before-away-${(count += 1)}`);
      return tail.lines().length > 0;
    });
    await restartApi();
    await refusedAs('after-it-was-away');
    await until(() => shows('after-it-was-away'));
    const shown = namesOf(tail);
    expect(new Set(shown).size).toBe(shown.length);
    expect(await tail.end()).toBe(0);
  });

  it('sends an event again, here or to its endpoints', async () => {
    const shown = (await run(['trigger', 'payment.created'])).out;
    const [, id, about] = /^ *\d+ {2}payment\.created +event ([0-9a-f]{24}) {2}of ([0-9a-f]{24})$/.exec(shown)!;
    expect((await world.payment(shop, about!))._id).toBe(about);
    expect(await told('events', 'resend', id!, '--forward-to', receiverUrl)).toMatchObject({ status: 200 });
    expect(received.map((one) => one.id)).toEqual([id]);
    receiver.answers = [503];
    expect((await run(['events', 'resend', id!, '--forward-to', receiverUrl])).code).toBe(1);
    expect(await refusal('events', 'resend', id!)).toMatchObject({ code: 'NO_DELIVERY' });
    const made = await world.call(shop, 'POST', '/api/v1/webhook-endpoints', {
      url: receiverUrl,
      enabledEvents: ['payment.created'],
    });
    received.length = 0;
    await create('for the endpoint');
    await until(() => received.length === 1);
    const sent = received[0]!;
    await until(async () => {
      const { body } = await world.call(shop, 'GET', `/api/v1/webhook-deliveries?eventId=${sent.id}`);
      return body.data.items[0]?.status === 'succeeded';
    });
    expect(await told('events', 'resend', sent.id)).toMatchObject({ eventId: sent.id, endpointId: made.body.data.id });
    await until(() => received.length === 2);
    expect(received[1]!.id).toBe(sent.id);
  });

  it('opens the pages of an instance and of a payment', async () => {
    const id = await create('to look at');
    expect((await told('open', 'temporal', id)).url).toContain(encodeURIComponent(`payment/${id}`));
    expect((await told('open', 'payment', id)).url).toMatch(new RegExp(`/dashboard/payments/${id}$`));
    const { url } = await told('open', 'checkout', id);
    expect(url).toBe(`${world.stack.checkoutUrl}${(await world.payment(shop, id)).invoiceUrl}`);
    expect((await run(['open', 'docs', '--print'])).out).toBe(`${world.stack.apiUrl}/docs`);
    expect(await refusal('open', 'temporal')).toMatchObject({ code: 'USAGE' });
    expect(await refusal('open', 'nowhere')).toMatchObject({ code: 'USAGE' });
  });
});

describe('18.Done 1: the shops of the samples', () =>
  shops(
    () => world,
    () => shop,
  ));

describe('18.6: the package', () => {
  it('completes commands, events and options in bash', async () => {
    const script = (await run(['completion', 'bash'])).out;
    const completed = (...words: string[]): string[] => {
      const line = words.map((word) => `'${word}'`).join(' ');
      const ask = `COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _crypto_payments; echo "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
        .trim()
        .split(' ');
    };
    expect(completed('crypto-payments', 'lis')).toEqual(['listen']);
    expect(completed('crypto-payments', 'payments', 'c')).toEqual(['create', 'cancel']);
    expect(completed('crypto-payments', 'payments', 'create', '25', '--cur')).toEqual(['--currency']);
    expect(completed('crypto-payments', 'trigger', 'payment.set')).toEqual(['payment.settled']);
    expect((await run(['completion', 'fish'])).out).toContain('complete -c crypto-payments');
    expect((await run(['completion', 'zsh'])).out).toContain('bashcompinit');
    expect(await refusal('completion', 'csh')).toMatchObject({ code: 'USAGE' });
  });

  it('packs its build and texts, and needs commander and the SDK alone', () => {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--offline'], { cwd: packageFolder, encoding: 'utf8' }),
    ) as [{ files: Array<{ path: string }> }];
    const paths = packed.files.map(({ path }) => path);
    for (const path of ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'dist/main.js'])
      expect(paths).toContain(path);
    expect(paths.filter((path) => !/^(dist\/[\w-]+\.js|package\.json$|[A-Z]+(\.md)?$)/.test(path))).toEqual([]);
    const { dependencies } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
      dependencies: object;
    };
    expect(Object.keys(dependencies)).toEqual(['@crypto-payment-service/sdk', 'commander']);
  });

  it('says every command in its README', async () => {
    const readme = readFileSync(join(packageFolder, 'README.md'), 'utf8');
    const { out } = await run(['--help']);
    const names = [...out.matchAll(/^ {2}([a-z]+)(?= [[<]| {2,})/gm)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(9);
    for (const name of names.filter((one) => one !== 'help'))
      expect(readme).toMatch(new RegExp(`\`[^\`]*\\b${name}\\b`));
  });
});
