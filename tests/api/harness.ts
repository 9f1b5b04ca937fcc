import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { DataSource } from 'typeorm';
import { assetOf, assetsOn, networks, sequenceOf } from '../../domain/chains/assets';
import { scopes, type Scope } from '../../domain/access/access';
import { parseConfig, type Config } from '../../domain/config';
import { sharesAccount } from '../../domain/chains/tags';
import { keyRoles } from '../../domain/chains/chain';
import { createCodecs } from '../../chains/codecs';
import { startApi, type RunningApi } from '../../api/main';
import { createApiKey } from '../../db/access/api-keys';
import { createMerchant, type NewMerchant } from '../../db/access/merchants';
import { addWallet } from '../../db/wallets/wallets';
import { startMail, type CaughtMail } from '../../sandbox/parts/mail';
import { freePort } from '../../sandbox/ports';
import { connectionsTo, freshDatabase, urlFor } from '../setup/postgres';
import { recordCall, recordRefusal } from '../setup/record';
import { checkAgainstDeclaration, type Answer } from '../shared/declared';

const secretsKey = 'ab'.repeat(32);
export { secretsKey };

export type { Answer };
export type Shop = { id: string; key: string; ipnSecret: string };
export type Harness = {
  api: RunningApi;
  /** Of the tests, with every right; the API has its own, by the role that it has. */
  db: DataSource;
  /** The database as its owner has it. */
  databaseUrl: string;
  url: string;
  call: (
    method: string,
    path: string,
    options?: { key?: string; body?: unknown; text?: string; headers?: Record<string, string> },
  ) => Promise<Answer>;
  shop: (merchant?: Partial<NewMerchant>, wallets?: readonly string[], rights?: readonly Scope[]) => Promise<Shop>;
  /** Catches what is mailed at once; what a workflow would send waits in the table. */
  mail: Awaited<ReturnType<typeof startMail>>;
  /** Every line that the API has logged. */
  logs: string[];
  setRates: (ageSeconds?: number) => Promise<void>;
  stop: () => Promise<void>;
};

/** In dollars. Whatever is missing here costs 80. */
const prices: Record<string, string> = {
  ...{ BTC: '64000', ETH: '3200', USDT_ERC20: '1', USDC_ERC20: '1' },
  ...{ TRX: '0.3', USDT_TRC20: '1' },
};
/** What a unit of work costs, in base units. */
const feesOf = { utxo: ['5', '0'], account: ['2000000000', '1000000000'] } as const;
const fiats: Record<string, string> = { USD: '1', EUR: '0.92', GBP: '0.79', JPY: '151' };

/** The settings of an API, with a chain id for each EVM chain that a test has put into the registry. */
function withMadeUp(env: Record<string, string>): Config {
  const config = parseConfig(env);
  const ids = Object.values(networks).map(({ id, kind }, n) => [id, kind, 40_000 + n] as const);
  const chainIds = Object.fromEntries(ids.flatMap(([id, kind, made]) => (kind === 'account' ? [[id, made]] : [])));
  return { ...config, chain: { ...config.chain, chainIds: { ...chainIds, ...config.chain.chainIds } } };
}

/** The real API over HTTP on a real, empty database, with keys, rates and fees as workers would have written them.
 *  `mayExplain`: the API connects as the owner of the server, who alone may have statements explained. `inventsEvents`:
 *  its tests write events about no resource, which no schema fits. */
export async function startHarness(
  env: Record<string, string> = {},
  { mayExplain = false, inventsEvents = false }: { mayExplain?: boolean; inventsEvents?: boolean } = {},
): Promise<Harness> {
  const database = await freshDatabase(env.MODE === 'test' ? 'test' : 'live');
  const mail = await startMail({
    dataDir: mkdtempSync(join(tmpdir(), 'mail-')),
    smtpPort: await freePort(),
    port: await freePort(),
  });
  const config = withMadeUp({
    NODE_ENV: 'test',
    DATABASE_URL: mayExplain ? database.url : urlFor(database.url, 'api'),
    // A machine that stands still for a moment is no busy pool, and no market that is silent.
    DATABASE_WAIT_MS: '15000',
    RATE_MAX_AGE_SECONDS: '1800',
    EVEN_ANSWER_MS: '20',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRETS_KEY: secretsKey,
    DASHBOARD_URL: 'http://localhost:3002',
    API_PORT: '0',
    BTC_NETWORK: 'regtest',
    ETH_CHAIN_ID: '31337',
    RATE_LIMIT_STANDARD: '100000',
    LOG_LEVEL: 'silent',
    SMTP_URL: mail.smtpUrl,
    APPROVAL_COOLING_OFF_HOURS: '0',
    ...env,
  });
  const logs: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void logs.push(line) });
  const api = await startApi(config, logger);
  const db = await connectionsTo(database.url).initialize();
  const codecs = createCodecs(config.chain);
  const own = assetsOn(config.networks).map(({ currency }) => currency);
  const seed = Buffer.alloc(64, 7);
  for (const network of config.networks.map((id) => networks[id])) {
    for (const role of keyRoles) {
      await db.query('SELECT register_network_key($1, $2, $3, $4, $5)', [
        network.id,
        role,
        codecs[network.id].extendedKey(seed, role),
        role === 'deposit' ? 0 : 1,
        sequenceOf(network),
      ]);
    }
    // As the signer would: payments share this account.
    const { extendedKey, derive } = codecs[network.id];
    if (sharesAccount(network.id))
      await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'treasury', 0)`, [
        network.id,
        derive(extendedKey(seed, 'treasury'), 0),
      ]);
  }

  await db.query('INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, database_incarnation())');

  const setRates = async (ageSeconds = 0): Promise<void> => {
    for (const currency of own) {
      for (const [fiat, factor] of Object.entries(fiats)) {
        const [rate] = await db.query<Array<{ id: string }>>(
          `INSERT INTO rate (currency, fiat, value, sources, taken_at)
             VALUES ($1, $2, $3::numeric * $4::numeric, '[]', now() - make_interval(secs => $5)) RETURNING id`,
          [currency, fiat, prices[currency] ?? '80', factor, ageSeconds],
        );
        await db.query(
          `INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at) SELECT currency, fiat, id, value, taken_at
             FROM rate WHERE id = $1
           ON CONFLICT (currency, fiat) DO UPDATE SET rate_id = EXCLUDED.rate_id, value = EXCLUDED.value,
             taken_at = EXCLUDED.taken_at`,
          [rate!.id],
        );
      }
    }
    for (const network of config.networks)
      await db.query(
        `INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ($1, $2, $3, now())
         ON CONFLICT (network) DO UPDATE SET taken_at = now()`,
        [network, ...feesOf[networks[network].kind]],
      );
    await db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       SELECT n, 100, 'h', 100, now() FROM unnest($1::text[]) n
       ON CONFLICT (network) DO UPDATE SET scanned_through = now()`,
      [config.networks],
    );
  };
  await setRates();

  return {
    api,
    db,
    databaseUrl: database.url,
    url: api.url,
    setRates,
    mail,
    logs,
    async call(method, path, { key, body, text, headers = {} } = {}) {
      const response = await fetch(api.url + path, {
        method,
        headers: {
          ...(key ? { Authorization: `Bearer ${key}` } : {}),
          ...(body !== undefined || text !== undefined ? { 'Content-Type': 'application/json' } : {}),
          ...headers,
        },
        body: text ?? (body === undefined ? undefined : JSON.stringify(body)),
        redirect: 'manual',
      });
      // A stream has no end to wait for.
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      if (isStream) await response.body?.cancel();
      const raw = isStream ? '' : await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') && raw !== '';
      const answer = {
        status: response.status,
        headers: response.headers,
        text: raw,
        body: isJson ? JSON.parse(raw) : undefined,
      };
      const isInvented = inventsEvents && path.startsWith('/api/v1/events');
      const route = isInvented ? undefined : checkAgainstDeclaration(method, path, answer);
      const shown = route?.success.status === answer.status ? exampleIn(answer) : undefined;
      if (route && shown !== undefined) recordCall(route.name, { path, body, answer: shown });
      else if (route && answer.status >= 400 && isJson) recordRefusal(route, answer.body as object);
      return answer;
    },
    async shop(merchant = {}, wallets = own, rights = scopes) {
      const made = await createMerchant(db, { secretsKey, name: 'Shop', ...merchant });
      for (const currency of wallets) {
        await addWallet(db, { merchantId: made.id, currency }, codecs[assetOf(currency).network]);
      }
      const { apiKey } = await createApiKey(db, made.id, { secretsKey, name: 'test', createdBy: null, scopes: rights });
      return { id: made.id, key: apiKey, ipnSecret: made.ipnSecret };
    },
    async stop() {
      await api.close();
      await db.destroy();
      await mail.stop();
      await database.drop();
    },
  };
}

/** `count` calls, all at once. An API that has no connection free says 503, and nothing has happened: that caller asks
 *  again. */
export function atOnce(count: number, ask: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const call = async (n: number): Promise<Answer> => {
    for (;;) {
      const answer = await ask(n);
      if (answer.status !== 503) return answer;
    }
  };
  return Promise.all(Array.from({ length: count }, (_, n) => call(n)));
}

/** Waits for what a request leaves to be done behind it. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > end) throw new Error('It did not come true');
}

/** What the catcher got for `to`, newest first. */
export const caught = async (h: Harness, to: string): Promise<CaughtMail[]> =>
  (await fetch(`${h.mail.url}/messages.json?to=${to}`)).json() as Promise<CaughtMail[]>;

/** What an answer shows in the API reference: JSON as it is, of a text its beginning. */
const exampleIn = ({ body, text, headers }: Answer): unknown =>
  body ?? (headers.get('content-type')?.startsWith('text/csv') ? text.split('\n').slice(0, 2).join('\n') : undefined);
