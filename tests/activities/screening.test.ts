import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { networks } from '../../domain/chains/assets';
import { restartActivities } from '../../activities/temporal/restart';
import { screeningActivities } from '../../activities/screening/screening';
import { chainalysisProvider } from '../../activities/screening/chainalysis';
import { ListFileError, parseListFile } from '../../activities/screening/list-file';
import { tracingActivities } from '../../activities/screening/tracing';
import { armFailPoints } from '../../db/fail-point';
import { lockPayment } from '../../db/payments/payments';
import { readInvoice, readPayment } from '../../db/payments/payment-queries';
import { lastScreen, requestScreen } from '../../db/screening/screening';
import { parseConfig } from '../../domain/config';
import { newId, newSlug } from '../../domain/ids';
import { viewInvoice } from '../../domain/payments/payment-view';
import type { Trace } from '../../domain/screening/screening';
import { freePort } from '../../sandbox/ports';
import { runScreening } from '../../workers/screening';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { insertMerchant } from '../merchant-row';

const config = parseConfig({ AML_PROVIDER: 'list', BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' });
const codecs = createCodecs(config.chain);
const seed = Buffer.alloc(64, 3);
const addressOf = (network: 'bitcoin' | 'ethereum', index: number): string =>
  codecs[network].derive(codecs[network].extendedKey(seed, 'deposit'), index);
const bad = addressOf('bitcoin', 1);
const badEther = addressOf('ethereum', 1);
const good = addressOf('bitcoin', 2);
const header = 'network,address,category,score,source';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let merchantId: string;
let folder: string;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  merchantId = newId();
  await insertMerchant(db, merchantId);
  folder = mkdtempSync(join(tmpdir(), 'crypto-payments-screening-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db.destroy();
  await database.drop();
});

let at = 0;
/** A payment with one deposit, as the follower would have left it; none with `status` null. */
async function aPayment(status: string | null = 'confirmed', over: { isDust?: boolean; allocation?: string } = {}) {
  const id = newId();
  const address = addressOf('bitcoin', 1000 + at++);
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy,
       expires_at, expires_in) VALUES ($1, $2, $3, 'SETTLED', 'api', 10, 'USD', 'merchant', 40, 1, 'hold', now(),
         3600)`,
      [id, merchantId, newSlug()],
    ),
  );
  await db.query(
    `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
       VALUES ('bitcoin', $1, 'deposit', $2, 'BTC', $3, $4)`,
    [address, 1000 + at, merchantId, id],
  );
  const txId = randomBytes(32).toString('hex');
  if (status)
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
         is_dust, status, first_seen_at, allocation)
       VALUES ('bitcoin', $1, 0, $2, 'deposit', $3, 'BTC', 1, 1, $5, $4, now(), $6)`,
      [txId, address, id, status, over.isDust ?? false, over.allocation ?? null],
    );
  return { id, txId };
}
const trace = (...addresses: string[]): Trace[] => [{ network: 'bitcoin', addresses, incomplete: [] }];
const act = (over: Partial<typeof config> = {}) => screeningActivities({ db, config: { ...config, ...over }, log });
/** One look as the workflow makes it. */
async function look(
  id: string,
  traces: Trace[] | null,
  {
    cause = 'credit',
    key = newId(),
    ...over
  }: { cause?: 'credit' | 'merchant'; key?: string } & Parameters<typeof act>[0] = {},
) {
  const { depositsToScreen, screenPayment } = act(over);
  return screenPayment(id, await depositsToScreen(id), traces, cause, key);
}
const read = async (id: string) => (await readPayment(db, merchantId, id))!;
const eventsOf = async (id: string) =>
  (await db.query<Array<{ type: string; data: { aml: object; exceptions: string[]; stateVersion: number } }>>(
    'SELECT type, data FROM event WHERE entity_id = $1 ORDER BY seq',
    [id],
  )) satisfies unknown[];

async function importFile(text: string): Promise<{ code: number; out: string; err: string }> {
  const file = join(folder, `${newId()}.csv`);
  writeFileSync(file, text);
  const [out, err] = [jest.spyOn(console, 'log').mockReturnValue(), jest.spyOn(console, 'error').mockReturnValue()];
  const code = await runScreening({ ...config, DATABASE_URL: database.url }, ['import', file]);
  const said = { code, out: out.mock.calls.flat().join('\n'), err: err.mock.calls.flat().join('\n') };
  out.mockRestore();
  err.mockRestore();
  return said;
}
const listed = () =>
  db.query<Array<Record<string, unknown>>>(
    'SELECT network, address, category, score, source FROM screening_list ORDER BY source, address, category',
  );

describe('the list', () => {
  it('is imported from a file, with addresses as we store them', async () => {
    const respelt = badEther.toLowerCase();
    const text =
      `\uFEFF${header}\r\nbitcoin,${bad.toUpperCase()},Sanctions,100,OFAC\r\n\r\n` +
      `ethereum, ${respelt} ,"mixer, large",30,"own"\r\n`;
    expect(await importFile(text)).toEqual({ code: 0, out: '2 rows of OFAC, own: 2 new, 0 removed', err: '' });
    expect(await listed()).toEqual([
      { network: 'bitcoin', address: bad, category: 'sanctions', score: 100, source: 'OFAC' },
      { network: 'ethereum', address: badEther, category: 'mixer_large', score: 30, source: 'own' },
    ]);
    const [noted] = await db.query(`SELECT actor_kind, after FROM audit_log WHERE action = 'screening_list.imported'`);
    expect(noted).toMatchObject({ actor_kind: 'operator', after: { rows: 2, added: 2, sources: ['OFAC', 'own'] } });
  });

  it('is whole per source: what a source does not name any more goes, other sources stay', async () => {
    const text = `${header}\nbitcoin,${good},sanctions,100,OFAC\nbitcoin,${bad},sanctions,90,OFAC\n`;
    expect((await importFile(text)).out).toBe('2 rows of OFAC: 1 new, 0 removed');
    expect((await importFile(`${header}\nbitcoin,${bad},sanctions,100,OFAC\n`)).out).toBe(
      '1 rows of OFAC: 0 new, 1 removed',
    );
    expect((await listed()).map((row) => [row.source, row.score])).toEqual([
      ['OFAC', 100],
      ['own', 30],
    ]);
  });

  it('refuses a file with faults as a whole, and names each line', async () => {
    const before = await listed();
    const rows = [
      `bitcoin,${good},scam,50,own`,
      `dogecoin,${good},scam,50,own`,
      `bitcoin,${badEther},scam,50,own`,
      `bitcoin,${good},,50,own`,
      `bitcoin,${good},scam,0,own`,
      `bitcoin,${good},scam,1e1,own`,
      `bitcoin,${good},scam,50,`,
    ];
    const { code, err } = await importFile([header, ...rows].join('\n'));
    expect(code).toBe(1);
    expect(err.split('\n')).toEqual([
      `Line 3: 'dogecoin' is no network; there are ${Object.keys(networks).join(', ')}`,
      `Line 4: '${badEther}' is no address of bitcoin`,
      'Line 5: the category is missing',
      `Line 6: the score '0' is not a whole number from 1 to 100`,
      `Line 7: the score '1e1' is not a whole number from 1 to 100`,
      'Line 8: the source has 1 to 64 characters',
    ]);
    expect(await listed()).toEqual(before);
  });

  it.each([
    ['', /no rows|no column/],
    [header, /no rows/],
    ['network,address\nbitcoin,x', /^Line 1: no column category, score, source/],
    [`${header}\nbitcoin,${good},scam,50`, /line 2/i],
    [`${header}\nbitcoin,"${good},scam,50,own`, /quote/i],
  ])('refuses %j', (text, why) => {
    expect(() => parseListFile(text, codecs)).toThrow(ListFileError);
    expect(() => parseListFile(text, codecs)).toThrow(why);
  });

  it('needs a command and a file that is there', async () => {
    const said = jest.spyOn(console, 'error').mockReturnValue();
    expect(await runScreening(config, [])).toBe(1);
    expect(await runScreening(config, ['import', '/nowhere.csv'])).toBe(1);
    expect(said.mock.calls.flat().join()).toMatch(/Usage.*no such file/s);
  });
});

describe('a screen', () => {
  it('flags a payment from a listed sender, one version and one event further, and moves nothing', async () => {
    const { id } = await aPayment();
    const before = await read(id);
    const { screen, mayChange } = await look(id, trace(good, bad));
    expect(mayChange).toBe(false);
    expect(screen).toEqual({
      status: 'flagged',
      riskScore: 100,
      riskBand: 'severe',
      severity: 'severe',
      categories: ['sanctions'],
      checkedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const { row, now } = await read(id);
    expect(now.aml).toEqual({ status: 'flagged', riskScore: 100, checkedAt: screen.checkedAt });
    const { exceptions, state_version, updated_at: _, ...rest } = row;
    expect({ exceptions, state_version }).toEqual({ exceptions: ['amlFlagged'], state_version: 2 });
    expect(before.row).toMatchObject(rest);
    const [event, ...more] = await eventsOf(id);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: 'payment.aml_screened',
      data: { aml: now.aml, exceptions: ['amlFlagged'], stateVersion: 2 },
    });
    const [stored] = await db.query('SELECT providers, matches FROM aml_screen WHERE payment_id = $1', [id]);
    expect(stored).toEqual({
      providers: ['list'],
      matches: [expect.objectContaining({ provider: 'list', address: bad, score: 100 })],
    });
  });

  it('is never shown to a payer', async () => {
    const { id } = await aPayment();
    await look(id, trace(bad));
    const { row, now, ...rest } = (await readInvoice(db, (await read(id)).row.slug))!;
    expect(row.exceptions).toEqual(['amlFlagged']);
    const seen = viewInvoice(row, {
      ...rest,
      livemode: now.livemode,
      confirmations: now.confirmations,
      other: now.other,
      refunded: now.refunded,
      paymentUri: String,
      underpaidRefund: null,
      isDelayed: false,
      explorers: {},
    });
    expect(seen.exceptions).toEqual([]);
    expect(JSON.stringify(seen)).not.toMatch(/aml/i);
  });

  it('tells what is below severe, and makes no exception of it', async () => {
    const { id } = await aPayment();
    const { screen } = await look(id, [{ network: 'ethereum', addresses: [badEther], incomplete: [] }]);
    expect(screen).toMatchObject({ status: 'flagged', riskScore: 30, severity: 'medium', categories: ['mixer_large'] });
    expect((await read(id)).row.exceptions).toEqual([]);
  });

  it('is clear where all sources are known and none is listed', async () => {
    const { id } = await aPayment();
    expect((await look(id, trace(good))).screen).toMatchObject({ status: 'clear', riskScore: 0, riskBand: 'low' });
  });

  it.each<[string, Trace[] | null, RegExp, boolean]>([
    [
      'a source is not known',
      [{ network: 'bitcoin', addresses: [good], incomplete: ['x'] }],
      /cannot be determined/,
      false,
    ],
    ['no source is known', trace(), /cannot be determined/, false],
    ['no node could tell', null, /could not be looked up/, true],
  ])('is unavailable where %s', async (_, traces, reason, mayChange) => {
    const { id } = await aPayment();
    const made = await look(id, traces);
    expect(made).toMatchObject({ screen: { status: 'unavailable', reason: expect.stringMatching(reason) }, mayChange });
    expect(made.screen).not.toHaveProperty('riskScore');
    expect((await read(id)).now.aml).toEqual({ status: 'unavailable', checkedAt: made.screen.checkedAt });
  });

  it('is unavailable without a deposit: dust, what is gone and our own do not count', async () => {
    for (const { id } of [
      await aPayment(null),
      await aPayment('confirmed', { isDust: true }),
      await aPayment('replaced'),
      await aPayment('confirmed', { allocation: 'own' }),
    ])
      expect((await look(id, [], { cause: 'merchant' })).screen).toMatchObject({
        status: 'unavailable',
        reason: 'There is no deposit to trace',
      });
  });

  it('is skipped where no provider is configured, and changes nothing then', async () => {
    const { id } = await aPayment();
    await db.transaction(async (tx) => requestScreen(tx, await lockPayment(tx, id), false));
    expect(await db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [`screening/${id}`])).toEqual([]);
    const stored = await lastScreen(db, id);
    expect(stored).toMatchObject({ status: 'skipped', skipCause: 'provider_not_configured' });
    const { screen } = await look(id, [], { amlProviders: [], cause: 'merchant' });
    expect(screen).toEqual(stored);
    expect((await read(id)).row.state_version).toBe(1);
    expect((await read(id)).now.aml).toMatchObject({ status: 'skipped' });
  });

  it('is asked for with the credit, and again by the reconciler where that was lost', async () => {
    const { id } = await aPayment();
    await db.transaction(async (tx) => requestScreen(tx, await lockPayment(tx, id), true));
    const asked = () =>
      db.query('SELECT kind, workflow, args FROM temporal_request WHERE workflow_id = $1', [`screening/${id}`]);
    expect(await asked()).toEqual([{ kind: 'signal', workflow: 'screening', args: [id] }]);
    await db.query('DELETE FROM temporal_request');
    const { reconcile } = restartActivities({
      db,
      log,
      config: parseConfig({}),
      running: () => Promise.resolve(new Set()),
    });
    await reconcile();
    expect(await asked()).toEqual([]);
    await db.query(`UPDATE aml_due SET since = now() - interval '2 minutes'`);
    await reconcile();
    expect(await asked()).toEqual([{ kind: 'signal', workflow: 'screening', args: [id] }]);
    await look(id, trace(good));
    await db.query('DELETE FROM temporal_request');
    await reconcile();
    expect(await asked()).toEqual([]);
  });
});

describe('a second screen', () => {
  it('of the same look is the first, also after a crash behind its commit', async () => {
    await db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ('screening.afterCommit', 'throw', 1)`);
    armFailPoints(db);
    const { id } = await aPayment();
    const key = newId();
    await expect(look(id, trace(bad), { key })).rejects.toThrow('screening.afterCommit');
    const { screen } = await look(id, trace(bad), { key });
    expect(screen).toEqual(await lastScreen(db, id));
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('for the same credit changes nothing; asked for by the merchant it is a new one', async () => {
    const { id } = await aPayment();
    const first = await look(id, trace(good));
    expect(await look(id, trace(good))).toEqual(first);
    await importFile(`${header}\nbitcoin,${good},scam,80,late\n`);
    const again = await look(id, trace(good), { cause: 'merchant' });
    expect(again.screen).toMatchObject({ status: 'flagged', categories: ['scam'] });
    expect((await read(id)).row).toMatchObject({ state_version: 3, exceptions: ['amlFlagged'] });
    await db.query(`DELETE FROM screening_list WHERE source = 'late'`);
  });

  it('keeps what is known while somebody is away', async () => {
    const { id } = await aPayment();
    const { screen } = await look(id, trace(bad));
    expect(await look(id, null, { cause: 'merchant' })).toEqual({ screen, mayChange: true });
    expect(await lastScreen(db, id)).toEqual(screen);
    const other = await aPayment();
    await look(other.id, null);
    await look(other.id, null);
    expect(await eventsOf(other.id)).toHaveLength(1);
    await look(other.id, trace(good));
    expect((await eventsOf(other.id)).map(({ data }) => (data.aml as { status: string }).status)).toEqual([
      'unavailable',
      'clear',
    ]);
  });

  it('cannot be edited or removed', async () => {
    await expect(db.query(`UPDATE aml_screen SET status = 'clear'`)).rejects.toThrow();
    await expect(db.query('DELETE FROM aml_screen')).rejects.toThrow();
  });
});

describe('a trace', () => {
  const deposits = [
    { txId: 'a', index: 0 },
    { txId: 'b', index: 1 },
  ];
  const tracing = (sources: Record<string, string[]>) =>
    tracingActivities({
      adapter: { network: 'bitcoin', sources: ({ txId }) => Promise.resolve(sources[txId] ?? []) },
    }).traceSources(deposits);

  it('names every source once, and the deposits that have none', async () => {
    expect(await tracing({ a: ['x', 'y'], b: ['y'] })).toEqual({
      network: 'bitcoin',
      addresses: ['x', 'y'],
      incomplete: [],
    });
    expect(await tracing({ a: ['x'] })).toMatchObject({ addresses: ['x'], incomplete: ['b'] });
  });

  it('stops at 200 sources, and says so', async () => {
    const many = Array.from({ length: 201 }, (_, n) => `address-${n}`);
    const { addresses, incomplete } = await tracing({ a: many.slice(0, 200), b: ['address-3', 'address-200'] });
    expect([addresses.length, incomplete]).toEqual([200, ['b']]);
  });
});

describe('the Chainalysis API', () => {
  type Handler = (request: IncomingMessage, response: ServerResponse) => void;
  const apiKey = 'key-of-this-test';
  let server: Server;
  let url: string;
  let handler: Handler;
  let asked: Array<{ path: string; key: unknown }> = [];
  const json =
    (body: unknown, status = 200): Handler =>
    (_, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  /** As its documentation shows it. */
  const sanctioned = {
    identifications: [
      {
        category: 'sanctions',
        name: 'SANCTIONS: OFAC SDN Somebody',
        description: 'Added in 2021.',
        url: 'https://x.example',
      },
    ],
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push({ path: request.url!, key: request.headers['x-api-key'] });
      handler(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    asked = [];
  });
  const warnings: string[] = [];
  const provider = (timeoutMs = 20_000) =>
    chainalysisProvider({ url, apiKey, timeoutMs, warn: (reason) => warnings.push(reason) });

  it('is asked as documented', async () => {
    handler = json({ identifications: [] });
    expect(await provider().screen(bad, 'bitcoin')).toEqual({ outcome: 'answered', score: 0, categories: [] });
    await provider().screen(badEther, 'ethereum');
    expect(asked).toEqual([
      { path: `/api/v1/address/${bad}`, key: apiKey },
      { path: `/api/v1/address/${badEther.toLowerCase()}`, key: apiKey },
    ]);
  });

  it('knows the sanctioned', async () => {
    handler = json(sanctioned);
    expect(await provider().screen(bad, 'bitcoin')).toEqual({
      outcome: 'answered',
      score: 100,
      categories: ['sanctions'],
    });
  });

  it.each<[string, Handler, RegExp]>([
    ['a wrong key', json({ message: 'Forbidden' }, 403), /HTTP 403/],
    ['too many questions', json({}, 429), /HTTP 429/],
    ['a fault', json({}, 503), /HTTP 503/],
    ['a redirect', (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(), /HTTP 302/],
    ['an empty answer', (_, response) => response.end(), /something else/],
    ['a page', (_, response) => response.end('<html>welcome</html>'), /something else/],
    ['another shape', json({ identifications: 'none' }), /something else/],
    ['findings of another shape', json({ identifications: [null] }), /something else/],
    ['silence', () => undefined, /in time/],
    ['half an answer', (_, response) => void response.writeHead(200).write('{"identifications":'), /in time/],
    ['a cut connection', (request) => request.socket.destroy(), /reached/],
    [
      'more than an answer can be',
      (_, response) => response.end(JSON.stringify({ identifications: [], more: 'x'.repeat(300_000) })),
      /reached/,
    ],
  ])('%s is unavailable', async (_, answer, reason) => {
    handler = answer;
    const finding = await provider(reason.source.includes('in time') ? 1000 : undefined).screen(bad, 'bitcoin');
    expect(finding).toEqual({ outcome: 'unavailable', reason: expect.stringMatching(reason) });
    expect(warnings.at(-1)).toBe((finding as { reason: string }).reason);
    expect(JSON.stringify(finding)).not.toContain(apiKey);
    expect(asked).toHaveLength(1);
  });

  it('is unavailable where nobody listens, and is not asked about what is no address', async () => {
    const nobody = chainalysisProvider({ url: `http://127.0.0.1:${await freePort()}`, apiKey });
    expect(await nobody.screen(bad, 'bitcoin')).toMatchObject({ outcome: 'unavailable' });
    expect(await provider().screen('script:51', 'bitcoin')).toMatchObject({ outcome: 'unavailable' });
    expect(asked).toEqual([]);
  });

  it('screens beside the list: the worse of both counts, and its silence may end', async () => {
    const both = { amlProviders: ['list', 'chainalysis'], AML_API_URL: url, AML_API_KEY: apiKey } as const;
    const [clear, hit, silent] = [await aPayment(), await aPayment(), await aPayment()];
    handler = json({ identifications: [] });
    expect((await look(clear.id, trace(good), both)).screen.status).toBe('clear');
    expect((await look(hit.id, trace(bad), both)).screen.status).toBe('flagged');
    handler = json({}, 500);
    expect(await look(silent.id, trace(good), both)).toMatchObject({
      screen: { status: 'unavailable', reason: 'The screening provider answered HTTP 500' },
      mayChange: true,
    });
    expect(await look(silent.id, trace(bad), both)).toMatchObject({ screen: { status: 'flagged' }, mayChange: false });
    handler = json(sanctioned);
    expect((await look(silent.id, trace(good), { ...both, cause: 'merchant' })).screen).toMatchObject({
      severity: 'severe',
    });
  });
});
