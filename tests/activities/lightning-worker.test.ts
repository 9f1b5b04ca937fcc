import { MockActivityEnvironment } from '@temporalio/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { lightningActivities } from '../../activities/lightning/keep';
import { lightningReader, lightningTaker, type MacaroonSetting } from '../../chains/lightning/node';
import { knownNode } from '../../db/lightning/node';
import { readLightning } from '../../db/readings/lightning';
import { parseConfig, type Config } from '../../domain/config';
import { checkLightning, checkLightningFollower, checkMacaroon } from '../../workers/doctor/lightning';
import { invoiceMacaroon, payMacaroon, readMacaroon } from '../chain/macaroon-writer';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { aPaymentWithInvoice, askedMsat } from './lightning-shop';
import { LndSimulator, simulatedKey } from './lnd-simulator';

/** What the chain worker does with our Lightning node for as long as it lives, and what `doctor` and the metrics say of
 *  it: by the settings of a process, with the rights of its role. */

const node = new LndSimulator();
const folder = mkdtempSync(join(tmpdir(), 'lightning-worker-'));
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let payments: DataSource;
let chain: DataSource;
let config: Config;
let said: string[];

beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  payments = await connectionsTo(urlFor(database.url, 'payments')).initialize();
  chain = await connectionsTo(urlFor(database.url, 'chain')).initialize();
  await node.start();
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  config = parseConfig({
    BTC_NETWORK: 'regtest',
    LIGHTNING_URL: node.login.url,
    LIGHTNING_TLS_FILE: file('tls.cert', node.login.certificate),
    LIGHTNING_READ_MACAROON_FILE: file('read', Buffer.from(readMacaroon, 'hex')),
    LIGHTNING_INVOICE_MACAROON_FILE: file('invoice', invoiceMacaroon),
    LIGHTNING_PREIMAGE_KEY: '11'.repeat(32),
    POLL_INTERVAL_MS: '50',
  });
});
beforeEach(() => {
  said = [];
  node.mend();
  Object.assign(node, { key: simulatedKey, isUp: true });
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true });
  for (const one of [chain, payments, db]) await one?.destroy();
  await database?.drop();
});

/** Runs the activity of the worker until `isDone`, then has the worker end. */
async function workUntil(isDone: () => Promise<boolean> | boolean): Promise<void> {
  const environment = new MockActivityEnvironment();
  const say = (_: object, text: string): void => void said.push(text);
  const log = { info: say, warn: say, error: say } as never;
  const { followLightning } = lightningActivities({ db: chain, config, log, ...lightningTaker(config)! });
  const ended = environment.run(followLightning).catch((error: unknown) => error);
  for (const end = Date.now() + 20_000; !(await isDone()); await new Promise((go) => setTimeout(go, 20)))
    if (Date.now() > end) break;
  environment.cancel();
  expect(await ended).toMatchObject({ type: 'MOVES', nonRetryable: false });
  expect(await isDone()).toBe(true);
}
const statusOf = async (paymentId: string): Promise<string> =>
  (await db.query<[{ status: string }]>('SELECT status FROM payment WHERE id = $1', [paymentId]))[0].status;
const stateOf = async (invoiceId: string): Promise<string> =>
  (await db.query<[{ state: string }]>('SELECT state FROM lightning_invoice WHERE id = $1', [invoiceId]))[0].state;
const hashOf = async (invoiceId: string): Promise<string> =>
  (await db.query<[{ hash: string }]>('SELECT hash FROM lightning_invoice WHERE id = $1', [invoiceId]))[0].hash;
const readings = async (): Promise<object> =>
  Object.fromEntries(
    (await readLightning(payments)).map(({ name, labels, value }) => [
      [name.replace('payments_lightning_', ''), ...Object.values(labels)].join(' '),
      value,
    ]),
  );

it('says nothing to the node before the signer has confirmed the database', async () => {
  const { invoiceId } = await aPaymentWithInvoice(db, payments);
  let looks = 0;
  await workUntil(() => (looks += 1) > 10);
  expect([await stateOf(invoiceId), node.known.size, await knownNode(payments)]).toEqual(['planned', 0, null]);
  expect(await readLightning(payments)).toEqual([
    { name: 'payments_lightning_invoices', labels: { state: 'planned' }, value: 1 },
  ]);
  await db.query('INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, database_incarnation())');
  await workUntil(async () => (await stateOf(invoiceId)) === 'open');
});

it('makes invoices and takes their money, and notes how the node is', async () => {
  const { paymentId, invoiceId } = await aPaymentWithInvoice(db, payments);
  await workUntil(async () => (await stateOf(invoiceId)) === 'open');
  node.pay(await hashOf(invoiceId), askedMsat);
  await workUntil(async () => (await statusOf(paymentId)) === 'SETTLED');
  expect(said).toEqual([]);
  expect(await knownNode(payments)).toMatchObject({ key: node.key });
  expect(await readings()).toMatchObject({
    ...{ 'capacity_btc in': 0.0598, 'capacity_btc out': 0.04, 'invoices open': 1, decided_age_seconds: 0 },
  });
});

it('plans invoices beside addresses of bitcoin where payments are offered, and not otherwise', async () => {
  const { merchantId, paymentId, invoiceId } = await aPaymentWithInvoice(db, payments);
  await db.query(`SELECT decide_lightning($1, 'return', 'newer quote')`, [invoiceId]);
  await db.query(`UPDATE payment SET currency = 'BTC', deposit_address = 'bcrt1q' WHERE id = $1`, [paymentId]);
  await db.query(
    `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
     VALUES ($1, $1, 'BTC_LN', $2, 'platform')`,
    [merchantId, node.key],
  );
  const beside = async (): Promise<string[]> =>
    (
      await db.query<Array<{ state: string }>>(
        'SELECT state FROM lightning_invoice WHERE payment_id = $1 AND beside IS NOT NULL',
        [paymentId],
      )
    ).map(({ state }) => state);
  let looks = 0;
  await workUntil(() => (looks += 1) > 10);
  expect(await beside()).toEqual([]);
  const before = config;
  config = { ...before, LIGHTNING_PAYMENTS: true };
  node.isSynced = false;
  await db.query('UPDATE lightning_node SET is_synced = false');
  looks = 0;
  await workUntil(() => (looks += 1) > 10);
  expect(await beside()).toEqual([]);
  node.mend();
  await workUntil(async () => (await beside()).includes('open'));
  config = before;
  expect(said).toEqual([]);
});

it('asks the node for one list while payers take their time, and not for each invoice', async () => {
  const asked: string[] = [];
  node.isAway = (path) => asked.push(path) < 0;
  await workUntil(() => asked.filter((path) => path.includes('pending_only')).length > 3);
  expect(asked.filter((path) => path.startsWith('/v1/invoice/'))).toEqual([]);
});

it('tells once that the node is away, and once that it is back', async () => {
  const { invoiceId } = await aPaymentWithInvoice(db, payments);
  let calls = 0;
  node.isAway = () => (calls += 1) <= 12;
  await workUntil(async () => (await stateOf(invoiceId)) === 'open');
  expect(said).toEqual(['The Lightning node cannot be followed', 'The Lightning node is back']);
});

it('follows no other node than that of the books', async () => {
  const { invoiceId } = await aPaymentWithInvoice(db, payments);
  const before = await knownNode(payments);
  node.key = '03'.padEnd(66, 'c');
  await workUntil(() => said.length > 0);
  expect(said).toEqual(['The Lightning node cannot be followed']);
  expect([await stateOf(invoiceId), (await knownNode(payments))!.key]).toEqual(['planned', before!.key]);
});

describe('doctor', () => {
  const found = async (): Promise<string[]> =>
    (await checkLightning(config))
      .concat(await checkLightningFollower(payments, config))
      .map(({ state, what }) => `${state}: ${what}`);

  it('says what the node is, and that it can receive and is followed', async () => {
    await db.query('UPDATE lightning_node SET looked_at = now()');
    await db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('bitcoin', 101, 'b', 101, now())`,
    );
    expect(await found()).toEqual([
      `good: Node ${node.key} answers (lnd 0.20.0-beta, regtest, block 100)`,
      'good: It knows the newest block',
      'good: 1 of 1 channels are up: 0.0598 BTC can be received, 0.04 BTC sent',
      'good: The Lightning node is followed',
    ]);
  });

  it('names what is wrong', async () => {
    Object.assign(node, { isSynced: false, isUp: false });
    await db.query(`UPDATE lightning_node SET looked_at = now() - interval '5 min'`);
    await db.query(`UPDATE chain_cursor SET height = 104 WHERE network = 'bitcoin'`);
    expect(await found()).toEqual([
      expect.stringMatching('^good: Node'),
      'fault: It does not know the newest block: no money is taken until it does',
      'fault: 0 of 1 channels are up: 0 BTC can be received, 0 BTC sent',
      'fault: Nothing was heard of the node for 300 s',
      'fault: It is at block 100, and Bitcoin is read to 104',
    ]);
    node.key = '03'.padEnd(66, 'c');
    expect(await found()).toContainEqual(expect.stringMatching(/^fault: The node is 03.*, and the books are of 02/));
  });

  it('names what keeps withdrawals from being paid, where they are offered', async () => {
    const offers = { ...config, LIGHTNING_WITHDRAWALS: true };
    const faults = async (): Promise<string[]> =>
      (await checkLightning(offers)).flatMap(({ state, what }) => (state === 'fault' ? [what] : []));
    expect(await faults()).toEqual([]);
    Object.assign(node, { isUp: false });
    expect(await faults()).toContain('It can send nothing, and withdrawals are offered');
  });

  it('says what the macaroons of signer and chain worker may do, and refuses each in place of the other', async () => {
    const file = (macaroon: string): string => {
      const path = join(folder, 'other');
      writeFileSync(path, macaroon);
      return path;
    };
    const look = async (name: MacaroonSetting, macaroon: string): Promise<string[]> =>
      (await checkMacaroon(config, name, file(macaroon))).map(({ state, what }) => `${state}: ${what}`);
    const [pays, takes] = ['LIGHTNING_PAY_MACAROON_FILE', 'LIGHTNING_INVOICE_MACAROON_FILE'] as const;
    expect([...(await look(pays, payMacaroon)), ...(await look(takes, invoiceMacaroon))]).toEqual([
      'good: The macaroon of the signer may info:read, offchain:read, offchain:write, and nothing else',
      'good: The macaroon of the chain worker of Bitcoin may invoices:read, invoices:write, and nothing else',
    ]);
    expect(await look(takes, payMacaroon)).toEqual([
      expect.stringMatching(/^fault: The macaroon of the chain .*may info:read, offchain:read, offchain:write, which/),
    ]);
    expect(await look(pays, invoiceMacaroon)).toEqual([
      expect.stringMatching(/^fault: The macaroon of the signer: .* may invoices:read, invoices:write, which nobody/),
    ]);
    node.isAway = () => true;
    expect(await look(pays, payMacaroon)).toEqual([expect.stringMatching(/^fault: The macaroon of the signer: .*at/)]);
  });

  it('does not take a node of another chain, or one that is away', async () => {
    const other = { ...config, chain: { ...config.chain, chainNames: { bitcoin: 'mainnet' } } };
    await expect(checkLightning(other)).rejects.toThrow('this node is of regtest, and mainnet is what we are of');
    node.isAway = () => true;
    await expect(checkLightning(config)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  });
});

it('gives a process that only reads no way to end an invoice, and none to pay one', () => {
  expect(Object.keys(lightningReader(config)!).sort()).toEqual(
    [
      ...['backup', 'channels', 'decode', 'holds', 'incoming', 'info'],
      ...['lookUp', 'newestOf', 'pending', 'toldAfter', 'track'],
    ].sort(),
  );
});
