import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { mnemonicToSeedSync } from '@scure/bip39';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import { createAdapter } from '../chains/adapters';
import { createCodecs } from '../chains/codecs';
import { lightningReader } from '../chains/lightning/node';
import { audit } from '../db/audit/audit';
import type { Violation } from '../db/audit/violation';
import { createDataSource } from '../db/data-source';
import { notifyPayment } from '../db/chains/notify';
import { addWallet } from '../db/wallets/wallets';
import { networkOf, networks } from '../domain/chains/assets';
import { parseConfig } from '../domain/config';
import { newId } from '../domain/ids';
import { finalStatuses } from '../domain/payments/payment';
import { chainsOf } from '../sandbox/chain-tools';
import type { Chains } from '../sandbox/miner';
import { Payer } from '../sandbox/payer';
import { signerSeedFile } from '../sandbox/secrets';
import { call } from '../sandbox/parts/json-rpc';
import { fundAllGas, openShop, payIn, untilPriced } from '../sandbox/seed';
import { startStack, type Stack, type StackOptions } from '../sandbox/stack';
import { chosenStore } from '../sandbox/temporal-store';
import { Visitor } from '../sandbox/visitor';
import { freshDatabase, type Database } from './setup/postgres';
import { recordAnswer } from './setup/record';
import { withoutPaths } from './without-paths';

/** An event as a merchant's server got it. */
export type Received = Readonly<{ id: string; type: string; seq: number; data: Record<string, unknown>; raw: string }>;
export type Shop = Readonly<{ id: string; secretKey: string }>;
export type Owner = Readonly<{ ann: Visitor; shop: Shop }>;
export type Invoice = Readonly<{
  id: string;
  slug: string;
  currency?: string;
  address: string;
  /** Behind the address, where its network has tags. */
  tag?: string;
  amount: number;
  status: string;
}>;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
export type Answer = Readonly<{ status: number; body: any; headers: Headers }>;

type WorldOptions = Partial<StackOptions> & Readonly<{ ownPostgres?: boolean }>;

export const finals = ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'];
/** Depths that make a test short; the registry's are the production ones. */
const depths = Object.values(networks).map(({ id, kind }) => `${id}=${kind === 'utxo' ? 2 : 3}`);

/** A whole service on real parts, with a shop, a payer and a webhook receiver: what the tests of the whole act in. */
export class World {
  readonly received: Received[] = [];
  private receiver: Server | undefined;

  private constructor(
    readonly stack: Stack,
    readonly db: DataSource,
    readonly payer: Payer,
    readonly chains: Chains,
    readonly temporal: Client,
    readonly dataDir: string,
    private readonly database: Database | null,
  ) {}

  /** In a database of its own on the PostgreSQL that all suites share, where there is one; `ownPostgres` for who kills
   *  it, and always where it has Temporal's workflows too. Suites kill processes and cut no power; what is measured
   *  outside of them has its parts as they are. */
  static async start({ ownPostgres = false, ...options }: WorldOptions = {}): Promise<World> {
    const mode = options.env?.MODE === 'test' ? 'test' : 'live';
    const isOwn = ownPostgres || chosenStore(process.env) === 'postgres';
    const database = process.env.TEST_POSTGRES_URL && !isOwn ? await freshDatabase(mode) : null;
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-world-'));
    chmodSync(dataDir, 0o711);
    const stack = await startStack({
      dataDir,
      ports: 'free',
      miner: false,
      isHasty: process.env.TEST_POSTGRES_URL !== undefined,
      isMigrated: database !== null,
      ...options,
      services: options.services === false ? false : { checkout: 0, ...options.services },
      env: {
        NODE_ENV: 'test',
        CONFIRMATIONS: depths.join(','),
        RATE_LIMIT_STANDARD: '1000000',
        POLL_INTERVAL_MS: '150',
        RATE_REFRESH_SECONDS: '5',
        EVEN_ANSWER_MS: '20',
        WEBHOOK_TIME_SCALE: '0.1',
        // A machine that stands still for a moment is no busy pool, and looks at nodes keep it busy for nothing.
        ...(process.env.TEST_POSTGRES_URL ? { DATABASE_WAIT_MS: '15000', POLL_INTERVAL_MS: '250' } : {}),
        ...(database ? { DATABASE_URL: database.url } : {}),
        ...options.env,
      },
    });
    const db = createDataSource(stack.postgres.url, {
      pool: 6,
      name: 'test',
      onLost: () => undefined,
      connectTimeoutMs: 30_000,
    });
    await db.initialize();
    const chains = chainsOf(stack);
    const payer = new Payer(chains, stack.tokens, stack.payerMnemonic);
    const temporal = new Client({ connection: Connection.lazy({ address: stack.temporal.url }) });
    const world = new World(stack, db, payer, chains, temporal, dataDir, database);
    await untilPriced(db, parseConfig(stack.env));
    await payer.fund();
    await fundAllGas(db, stack, payer);
    await world.listen();
    return world;
  }

  /** Money of the platform's own, each hot wallet its share, until the follower has booked it. */
  async payIn(currency: string, amount: string, ms = 60_000): Promise<void> {
    const txIds = await payIn(this.db, this.payer, currency, amount);
    await this.until(
      `${amount} ${currency} are ours`,
      async () => {
        const rows = await this.db.query(`SELECT FROM deposit WHERE tx_id = ANY($1) AND allocation = 'capital'`, [
          txIds,
        ]);
        return rows.length === txIds.length;
      },
      ms,
    );
  }

  /** Ends every process. `keep`: logs and data stay in `dataDir`. */
  async stop({ keep = false } = {}): Promise<void> {
    this.receiver?.closeAllConnections();
    this.receiver?.close();
    await this.temporal.connection.close();
    await this.db.destroy();
    await this.stack.stop();
    if (keep) return;
    await this.database?.drop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  private async listen(): Promise<void> {
    this.receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const secret = this.secrets.get((JSON.parse(raw) as { merchantId: string }).merchantId);
        if (secret) new Webhook(secret).verify(raw, request.headers as Record<string, string>);
        const { id, type, seq, data } = JSON.parse(raw) as Received;
        this.received.push({ id, type, seq, data, raw });
        response.end('ok');
      });
    });
    await new Promise<void>((resolve) => this.receiver!.listen(0, '127.0.0.1', resolve));
  }
  get callbackUrl(): string {
    return `http://127.0.0.1:${(this.receiver!.address() as AddressInfo).port}/ipn`;
  }
  private readonly secrets = new Map<string, string>();

  async shop(options: Parameters<typeof openShop>[3] = {}): Promise<Shop> {
    const shop = await openShop(this.db, this.stack, 'Test Shop', options);
    this.secrets.set(shop.id, shop.ipnSecret);
    return shop;
  }

  /** From now on the shop's money of a currency settles at an address of its own. */
  async settleAt(shop: Shop, currency: string, address: string): Promise<void> {
    await this.db.query('UPDATE merchant_wallet SET is_active = false WHERE merchant_id = $1 AND currency = $2', [
      shop.id,
      currency,
    ]);
    await this.db.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
         VALUES ($1, $2, $3, $4, 'external')`,
      [newId(), shop.id, currency, address],
    );
  }

  /** What can only be read is asked for again where the service is busy. */
  async call(...what: Parameters<World['once']>): Promise<Answer> {
    for (const end = Date.now() + 30_000; ; await sleep(200)) {
      const answer = await this.once(...what);
      if (what[1] !== 'GET' || answer.status !== 503 || Date.now() > end) return answer;
    }
  }

  private async once(
    shop: Shop | null,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(this.stack.apiUrl + path, {
      method,
      headers: {
        ...(shop ? { authorization: `Bearer ${shop.secretKey}` } : {}),
        'content-type': 'application/json',
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    const text = await response.text();
    const answer = { status: response.status, body: text ? (JSON.parse(text) as unknown) : null };
    recordAnswer(method, path, body, answer);
    return { ...answer, headers: response.headers };
  }

  /** A payment whose events come to the receiver. Repeats until the API answers, always with one idempotency key. */
  async invoice(shop: Shop, body: Record<string, unknown>): Promise<Invoice> {
    const key = `test-${Math.random().toString(36).slice(2)}`;
    for (const end = Date.now() + 120_000; ;) {
      const answer = await this.call(
        shop,
        'POST',
        '/api/v1/payments',
        { ipnCallbackUrl: this.callbackUrl, ...body },
        { 'idempotency-key': key },
      ).catch(() => null);
      if (answer?.status === 201) {
        const { paymentId, invoiceUrl, depositAddress: address, destinationTag, ...more } = answer.body;
        const { amount, currency, status } = more;
        const receiver = { address, ...(destinationTag ? { tag: destinationTag } : {}) };
        return { id: paymentId, slug: invoiceUrl.split('/').at(-1), ...receiver, amount, currency, status };
      }
      if (Date.now() > end || (answer && answer.status < 500))
        throw new Error(`No payment: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      await sleep(500);
    }
  }

  async payment(shop: Shop, id: string): Promise<Answer['body']> {
    return (await this.call(shop, 'GET', `/api/v1/payments/${id}`)).body;
  }

  /** Waits until the payment has `status`, mining on the chain of `mine` meanwhile where told. */
  async sees(
    shop: Shop,
    id: string,
    status: string | readonly string[],
    options: { mine?: string; ms?: number } = {},
  ): Promise<Answer['body']> {
    const wanted = typeof status === 'string' ? [status] : status;
    const end = Date.now() + (options.ms ?? 60_000);
    let last: Answer['body'];
    while (Date.now() < end) {
      if (options.mine) await this.payer.mine(options.mine);
      last = await this.payment(shop, id).catch(() => last);
      if (last && wanted.includes(last.status)) return last;
      await sleep(options.mine ? 250 : 100);
    }
    throw new Error(
      `Payment ${id} is ${last?.status} and not ${wanted.join(' or ')}: ` +
        `${JSON.stringify(last)}\n${await this.insideOf(id)}`,
    );
  }

  /** What nobody outside sees of a payment: its deposits, intents and attempts, and what its workflows wait for. */
  private async insideOf(id: string): Promise<string> {
    const rows = await this.db.query(
      `SELECT (SELECT jsonb_agg(to_jsonb(d) - 'inputs') FROM deposit d WHERE d.payment_id = $1) AS deposits,
              jsonb_agg(to_jsonb(i) || jsonb_build_object('attempts', (
                SELECT jsonb_agg(to_jsonb(a) - 'raw') FROM attempt a WHERE a.intent_id = i.id))) AS intents
         FROM intent i WHERE i.payment_id = $1 OR EXISTS (SELECT FROM sweep_share s WHERE s.intent_id = i.id
           AND s.payment_id = $1)`,
      [id],
    );
    const waits = await Promise.all(
      [`payment/${id}`, `sweep/${id}`].map((workflowId) =>
        this.temporal.workflow
          .getHandle(workflowId)
          .describe()
          .then(({ status, raw }) => {
            const pending = raw.pendingActivities?.map((one) => [
              one.activityType?.name,
              one.attempt,
              one.lastFailure?.message,
            ]);
            return `${workflowId}: ${status.name} ${JSON.stringify(pending)}`;
          }, String),
      ),
    );
    return [JSON.stringify(rows), ...waits].join('\n');
  }

  async until(what: string, condition: () => Promise<boolean> | boolean, ms = 60_000): Promise<void> {
    for (const end = Date.now() + ms; !(await condition()); await sleep(100))
      if (Date.now() > end) throw new Error(`Not within ${ms} ms: ${what}`);
  }

  /** Lets the payment's workflow look again, where it has not ended. A plain signal would not wake one that waits. */
  async nudge(id: string): Promise<void> {
    const open = 'SELECT FROM payment WHERE id = $1 AND status <> ALL($2)';
    if ((await this.db.query(open, [id, finalStatuses])).length) await notifyPayment(this.db.manager, id);
  }

  async balance(shop: Shop, currency: string): Promise<{ balance: string; pending: string }> {
    const { body } = await this.call(shop, 'GET', '/api/v1/ledger/balances');
    return body.balances.find((entry: { currency: string }) => entry.currency === currency);
  }

  /** Invariants, against the books and the chains, with the outbox empty; and that books and chains agreed after every
   *  block so far, with nothing booked as unexplained. */
  async audit(): Promise<Violation[]> {
    const config = parseConfig(this.stack.env);
    const adapters = config.networks.map((network) => createAdapter(network, config));
    const differed = (await this.db.query(`SELECT details::text FROM incident WHERE kind = 'unreconciled'`)) as Array<{
      details: string;
    }>;
    const found = differed.map(({ details }) => details);
    const unexplained = (await this.db.query(
      `SELECT key FROM journal WHERE starts_with(key, 'unexplained/auto/')`,
    )) as Array<{ key: string }>;
    const booked = unexplained.map(({ key }) => key);
    return [
      ...(await audit(this.db, { adapters, lightning: lightningReader(config) })),
      ...(found.length ? [{ invariant: 'I5', what: 'books and chain differed after a block', found }] : []),
      ...(booked.length
        ? [{ invariant: 'I5', what: 'a surplus was booked as unexplained after a block', found: booked }]
        : []),
    ];
  }

  /** The next process that comes to `point` does `action` there, once. */
  async arm(point: string, action = 'kill'): Promise<void> {
    await this.db.query(
      `INSERT INTO fail_point (name, action, remaining) VALUES ($1, $2, 1) ON CONFLICT (name) DO UPDATE SET action = $2,
         remaining = 1`,
      [point, action],
    );
  }

  /** Armed points that nobody has come to. */
  async armed(): Promise<string[]> {
    const rows = (await this.db.query('SELECT name FROM fail_point WHERE remaining > 0')) as Array<{ name: string }>;
    return rows.map(({ name }) => name);
  }

  /** A person with a browser and a mailbox. */
  visitor(email: string): Visitor {
    const { apiUrl, env, mail } = this.stack;
    const { DASHBOARD_URL: dashboardUrl } = parseConfig(env);
    return new Visitor({ apiUrl, dashboardUrl, mailUrl: mail.url }, email, 'Correct-Horse-7');
  }

  /** A registered merchant with an authenticator, a wallet in each of `currencies`, and a key of these scopes. */
  async merchant(scopes: readonly string[], currencies = ['ETH', 'BTC', 'USDT_ERC20']): Promise<Owner> {
    const ann = this.visitor('ann@shop.example');
    await ann.register('Books');
    const { merchantId } = await ann.enrol();
    // So many codes are mailed and no more, and those of an authenticator serve one act in half a minute.
    for (const currency of currencies.slice(0, 3)) {
      const emailCode = await ann.emailCode('/api/v1/merchant-wallets/send-email-code');
      await ann.post('/api/v1/merchant-wallets', { currency, emailCode });
    }
    const codecs = createCodecs(parseConfig(this.stack.env).chain);
    for (const currency of currencies.slice(3))
      await addWallet(this.db, { merchantId, currency }, codecs[networkOf(currency).id]);
    const made = await ann.post('/api/v1/api-keys', { name: 'Shop', scopes, totpCode: await ann.totpCode() });
    return { ann, shop: { id: merchantId, secretKey: made.body.data.apiKey } };
  }

  /** Wei. */
  async etherAt(address: string): Promise<bigint> {
    return BigInt(await call<string>(this.stack.anvil.url, 'eth_getBalance', [address, 'latest']));
  }

  /** Types of what a merchant was told of an entity, in order. */
  async eventTypesOf(entityId: string): Promise<string[]> {
    const rows = (await this.db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [
      entityId,
    ])) as Array<{ type: string }>;
    return rows.map(({ type }) => type);
  }

  /** What the signer alone has, for a thief. */
  signerSeed(): Uint8Array {
    return mnemonicToSeedSync(readFileSync(signerSeedFile(this.dataDir), 'utf8').trim());
  }

  eventsOf(id: string): Received[] {
    return this.received.filter((event) => event.data['_id'] === id);
  }

  /** The workflow that sweeps the money of a payment: its own, or that of many. */
  async sweepOf(paymentId: string): Promise<string> {
    const [{ owner }] = await this.db.query(
      `SELECT DISTINCT i.owner_kind || '/' || i.owner_id AS owner
         FROM intent i JOIN deposit d ON d.id = ANY(i.deposit_ids) WHERE d.payment_id = $1`,
      [paymentId],
    );
    return owner;
  }

  /** The history of a workflow's last run, in which every activity and timer must have a summary; kept
   *  under tests/histories when RECORD is set, without the paths of this machine that stack traces have. */
  async history(workflowId: string, name?: string): Promise<{ events: number; bytes: number }> {
    const history = await this.temporal.workflow.getHandle(workflowId).fetchHistory();
    const silent = (history.events ?? []).filter(
      (event) =>
        (event.activityTaskScheduledEventAttributes || event.timerStartedEventAttributes) &&
        !event.userMetadata?.summary?.data?.length,
    );
    if (silent.length) throw new Error(`${workflowId}: ${silent.length} activities or timers without a summary`);
    const { History } = temporal.api.history.v1;
    const binary = History.encode(history).finish();
    if (process.env.RECORD && name) {
      mkdirSync(join(__dirname, 'histories'), { recursive: true });
      const scrubbed = History.fromObject(withoutPaths(History.toObject(History.decode(binary))) as object);
      writeFileSync(join(__dirname, 'histories', `${name}.bin`), History.encode(scrubbed).finish());
    }
    return { events: history.events?.length ?? 0, bytes: binary.length };
  }
}
