import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { sweeperOf } from '../../chains/evm/sweeper';
import { signingActivities } from '../../activities/txmanager/signing';
import { audit } from '../../db/audit/audit';
import { finalizeAttempts } from '../../db/chains/attempts';
import { armFailPoints, disarmFailPoints } from '../../db/fail-point';
import { post } from '../../db/ledger/ledger';
import { createMerchant } from '../../db/access/merchants';
import { addWallet } from '../../db/wallets/wallets';
import { parseConfig } from '../../domain/config';
import { newId, newSlug } from '../../domain/ids';
import { available, depositJournal } from '../../domain/ledger/ledger';
import { add, compare, fromUnits } from '../../domain/money';
import { connectionsTo, freshDatabase, patiently } from '../setup/postgres';
import { paymentsAt } from './run-payment';
import { unguarded } from '../unguarded';
import { bookEnd } from '../book-end';
import { estimating, sweepsAt } from './nodes';

/** Sweeps of many payments in one transaction, planned, signed, shared out and settled on a real database. */

const seed = Buffer.alloc(64, 7);
const local = { BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' };
const { ethereum } = createCodecs(parseConfig(local).chain);
const env = {
  ...local,
  ETH_SWEEPER_CONTRACT: sweeperOf(ethereum.derive(ethereum.extendedKey(seed, 'gas'), 0)).address,
};
const config = parseConfig(env);
const codecs = createCodecs(config.chain);
const codec = codecs.bitcoin;
const evm = codecs.ethereum;
const away = codec.derive(codec.extendedKey(Buffer.alloc(64, 9), 'deposit'), 0);

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let shop: TestShop;
let index = 0;
const signer = () => estimating(db, signingActivities({ db, codecs, seed }));
const sweeps = (over: Record<string, string> = {}) =>
  sweepsAt({ db, config: { ...config, ...parseConfig({ ...env, ...over }) } });
const payments = () => paymentsAt({ db, codecs, config });

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  for (const one of [codec, evm]) {
    for (const role of ['deposit', 'treasury', 'gas'] as const) {
      const xpub = one.extendedKey(seed, role);
      await db.query(`INSERT INTO extended_key (network, role, xpub, sequence_of) VALUES ($1, $2, $3, $1)`, [
        one.network,
        role,
        xpub,
      ]);
      if (role === 'deposit') continue;
      await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, $3, 0)`, [
        one.network,
        one.derive(xpub, 0),
        role,
      ]);
    }
    await db.query(`CREATE SEQUENCE key_index_${one.network}_treasury MINVALUE 0 START 1`);
  }
  await db.query('INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, database_incarnation())');
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});
beforeEach(async () => {
  await priceIs(5);
  await priceIs(2_000_000_000, 'ethereum');
  shop = await newShop();
});
afterEach(async () => {
  await db.query('DELETE FROM temporal_request');
  expect(await audit(db, { settleMs: 0 })).toEqual([]);
});

type TestShop = Readonly<{ id: string; settlement: string; tokens: string }>;
async function newShop(): Promise<TestShop> {
  const { id } = await createMerchant(db, { secretsKey: 'ab'.repeat(32), name: 'Shop' });
  const { settlement_address: settlement } = await addWallet(db, { merchantId: id, currency: 'BTC' }, codec);
  const wallet = await addWallet(db, { merchantId: id, currency: 'USDT_ERC20' }, evm);
  return { id, settlement, tokens: wallet.settlement_address };
}
const priceIs = (unitPrice: number, network = 'bitcoin'): Promise<unknown> =>
  db.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ($2, $1, 0, now())
     ON CONFLICT (network) DO UPDATE SET unit_price = $1, taken_at = now()`,
    [unitPrice, network],
  );

type Paid = { id: string; depositIds: string[] };
/** A payment that is confirmed with these coins. */
async function confirmed(
  coins: readonly string[] = ['0.001'],
  more: {
    shop?: TestShop;
    custody?: 'platform' | 'external';
    settlement?: string;
    agoHours?: number;
    currency?: 'BTC' | 'USDT_ERC20';
  } = {},
): Promise<Paid> {
  const owner = more.shop ?? shop;
  const currency = more.currency ?? 'BTC';
  const chain = currency === 'BTC' ? codec : evm;
  const own = currency === 'BTC' ? owner.settlement : owner.tokens;
  const id = newId();
  const paid = add('0', ...coins);
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy,
       currency, network, amount, exchange_rate, native_rate, network_fee_amount, amount_paid,
       settlement_address, custody, expires_at, expires_in,
       required_confirmations, confirmed_at, tx_ids)
     VALUES ($1, $2, $3, 'CONFIRMED', 'api', 64, 'USD', 'merchant', 40, 1, 'hold', $8, $9, $4, 1, $10, 0.00002, $4, $5,
       $6,
       now() + interval '1 hour', 3600, 2, clock_timestamp() - make_interval(hours => $7), '{}')`,
      [
        id,
        owner.id,
        newSlug(),
        paid,
        more.settlement ?? own,
        more.custody ?? 'platform',
        more.agoHours ?? 0,
        currency,
        chain.network,
        currency === 'BTC' ? '1' : '3200',
      ],
    ),
  );
  await db.query('UPDATE merchant_counter SET open_payments = open_payments + 1 WHERE merchant_id = $1', [owner.id]);
  const depositIds: string[] = [];
  for (const amount of coins) {
    const address = chain.derive(chain.extendedKey(seed, 'deposit'), ++index);
    await db.query(
      `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
         VALUES ($5, $1, 'deposit', $2, $6, $3, $4)`,
      [address, index, owner.id, id, chain.network, currency],
    );
    const txId = newId().padStart(64, '0');
    const [row] = await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
         is_dust, status, first_seen_at,
         confirmed_at, allocation, exchange_rate, quote_amount, rated_at)
       VALUES ($5, $1, 0, $2, 'deposit', $3, $6, $4, $4, false, 'confirmed', now(), now(), 'unsettled', 1, $7,
         date_trunc('milliseconds', now()))
       RETURNING id`,
      [txId, address, id, amount, chain.network, currency, paid],
    );
    depositIds.push(row.id);
    const journal = { network: chain.network, txId, index: 0, currency, amount, merchantId: owner.id };
    await db.transaction((tx) => post(tx, depositJournal(journal)));
  }
  return { id, depositIds };
}
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM payment WHERE id = $1', [id]))[0].status;
const requests = async (): Promise<string[]> =>
  (await db.query('SELECT DISTINCT workflow_id FROM temporal_request ORDER BY 1')).map(
    (row: { workflow_id: string }) => row.workflow_id,
  );
/** The batch that a payment is in: its own id, and its intent's. */
async function batchOf(id: string): Promise<{ id: string; intentId: string }> {
  const [row] = await db.query(
    `SELECT i.id, i.owner_id FROM sweep_share s JOIN intent i ON i.id = s.intent_id WHERE s.payment_id = $1
       ORDER BY i.id DESC LIMIT 1`,
    [id],
  );
  return { id: row.owner_id, intentId: row.id };
}
const attemptsOf = (intentId: string) =>
  db.query(
    `SELECT id, n, inputs, outputs, max_fee_units::float8 AS fee, moved_units::float8 AS moved
      FROM attempt WHERE intent_id = $1 ORDER BY n`,
    [intentId],
  );
/** Its transaction is mined and deep. `n`: which attempt. */
async function mine(intentId: string, n = 1, { isReverted = false, block = 'b', feeCut = 0n } = {}): Promise<void> {
  const [row] = await db.query(
    `UPDATE attempt SET status = 'mined', block_hash = $3, height = 5 WHERE intent_id = $1 AND n = $2 RETURNING id,
       intent_id, tx_id, block_hash, height::int, max_fee_units`,
    [intentId, n, block],
  );
  await db.transaction((tx) =>
    finalizeAttempts(tx, [{ attempt: row[0], success: !isReverted, feeUnits: BigInt(row[0].max_fee_units) - feeCut }]),
  );
  await bookEnd(db, intentId);
}
const settledNet = async (id: string): Promise<string> =>
  (await db.query('SELECT settled_net_amount::text AS net FROM payment WHERE id = $1', [id]))[0].net;
/** A reorganisation takes the coins; the payment notices. */
async function loseCoins(paid: Paid, status: 'orphaned' | 'replaced' = 'replaced'): Promise<void> {
  await db.query(`UPDATE deposit SET status = $2 WHERE id = ANY($1::bigint[])`, [paid.depositIds, status]);
  expect((await payments().runPayment(paid.id)).status).not.toBe('SWEEP_QUEUED');
}
async function regain(paid: Paid): Promise<void> {
  await db.query(`UPDATE deposit SET status = 'confirmed' WHERE id = ANY($1::bigint[])`, [paid.depositIds]);
  expect((await payments().runPayment(paid.id)).status).toBe('CONFIRMED');
}

it('sweeps all that are ready in one transaction, and settles each by its own part', async () => {
  const all = [await confirmed(), await confirmed(['0.002', '0.003']), await confirmed(['0.0004'])];
  const foreign = await confirmed(['0.001'], { shop: await newShop() });
  expect(await sweeps().queueSweep(all[0]!.id)).toEqual({ queued: true });
  for (const paid of all) expect(await statusOf(paid.id)).toBe('SWEEP_QUEUED');
  expect(await statusOf(foreign.id)).toBe('CONFIRMED');
  const batch = await batchOf(all[0]!.id);
  expect(await requests()).toEqual(
    [`sweep-batch/${batch.id}`, ...all.slice(1).map((paid) => `payment/${paid.id}`)].sort(),
  );
  expect(await sweeps().queueSweep(all[1]!.id)).toMatchObject({ queued: true });
  expect(await sweeps().nextBatchIntent(batch.id)).toMatchObject({
    id: batch.intentId,
    network: 'bitcoin',
    kind: 'sweep',
  });
  expect(await sweeps().nextIntent(all[0]!.id)).toBeNull();

  expect(await signer().signOnce(batch.intentId)).toEqual({ state: 'stored' });
  expect(await signer().signOnce(batch.intentId)).toEqual({ state: 'stored' });
  const [attempt, more] = await attemptsOf(batch.intentId);
  expect(more).toBeUndefined();
  expect(attempt.inputs).toHaveLength(4);
  expect(attempt.outputs).toEqual([{ address: shop.settlement, units: String(640_000 - attempt.fee) }]);

  await mine(batch.intentId);
  await db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ('settle.beforeCommit', 'throw', 1)`);
  armFailPoints(db);
  await expect(payments().runPayment(all[0]!.id)).rejects.toThrow('settle.beforeCommit');
  disarmFailPoints();
  for (const paid of all) expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
  const shares = await db.query(
    `SELECT fee_units::int AS fee FROM sweep_share WHERE intent_id = $1 ORDER BY position`,
    [batch.intentId],
  );
  expect(shares.reduce((sum: number, share: { fee: number }) => sum + share.fee, 0)).toBe(attempt.fee);
  const postings = await db.query(
    `SELECT sum(p.amount) FILTER (WHERE p.debit = 'A:treasury')::text AS moved,
       sum(p.amount) FILTER (WHERE p.debit = 'E:network')::text AS fee
       FROM posting p JOIN journal j ON j.id = p.journal_id WHERE j.key LIKE 'sweep/' || $1 || '/%'`,
    [batch.intentId],
  );
  expect(compare(postings[0].moved, `0.00${attempt.moved}`)).toBe(0);
  expect(await sweeps().nextBatchIntent(batch.id)).toBeNull();
  expect((await payments().runPayment(foreign.id)).status).toBe('CONFIRMED');
});

it('pays the merchant’s own address the sum of the nets', async () => {
  const external = { custody: 'external' as const, settlement: away };
  const all = [await confirmed(['0.001'], external), await confirmed(['0.002'], external)];
  await sweeps().queueSweep(all[0]!.id);
  const { intentId } = await batchOf(all[1]!.id);
  await signer().signOnce(intentId);
  const [attempt] = await attemptsOf(intentId);
  await mine(intentId);
  let nets = '0';
  for (const paid of all) {
    expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
    nets = add(nets, await settledNet(paid.id));
  }
  expect(compare(`0.00${attempt.outputs[0].units}`, nets)).toBe(0);
  expect(attempt.outputs[0].address).toBe(away);
});

it('goes alone at once where nobody else is ready', async () => {
  const paid = await confirmed();
  expect(await sweeps().queueSweep(paid.id)).toEqual({ queued: true });
  expect(await requests()).toEqual([`sweep/${paid.id}`]);
  expect(await sweeps().nextIntent(paid.id)).toMatchObject({ kind: 'sweep' });
});

it('makes one batch however many ask for it at once', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => confirmed()));
  await Promise.all(all.map((paid) => patiently(() => sweeps().queueSweep(paid.id))));
  const intents = await db.query(`SELECT DISTINCT s.intent_id FROM sweep_share s WHERE s.payment_id = ANY($1)`, [
    all.map((paid) => paid.id),
  ]);
  expect(intents).toHaveLength(1);
  for (const paid of all) expect(await statusOf(paid.id)).toBe('SWEEP_QUEUED');
});

it('leaves out whom a reorganisation has taken before the signature, and sweeps them later', async () => {
  const [one, two, lost] = [await confirmed(), await confirmed(), await confirmed()];
  await sweeps().queueSweep(one.id);
  const { intentId } = await batchOf(one.id);
  await loseCoins(lost, 'orphaned');
  expect(await signer().signOnce(intentId)).toEqual({ state: 'stored' });
  expect((await attemptsOf(intentId))[0].inputs).toHaveLength(2);
  await regain(lost);
  await sweeps().queueSweep(lost.id); // as far as anybody knows its batch may still take it along
  await mine(intentId);
  for (const paid of [one, two]) expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
  expect((await payments().runPayment(lost.id)).status).toBe('SWEEP_QUEUED');
  const alone = await sweeps().nextIntent(lost.id);
  await signer().signOnce(alone!.id);
  await mine(alone!.id);
  expect((await payments().runPayment(lost.id)).status).toBe('SETTLED');
});

it('is signed again without whom a reorganisation has taken away since, so that one can be mined', async () => {
  const [one, two, lost] = [await confirmed(), await confirmed(), await confirmed()];
  await sweeps().queueSweep(one.id);
  const { intentId } = await batchOf(one.id);
  await signer().signOnce(intentId);
  await loseCoins(lost);
  expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
  const [first, second] = await attemptsOf(intentId);
  expect(second.inputs).toHaveLength(2);
  expect(first.inputs).toEqual(expect.arrayContaining(second.inputs));
  expect(second.fee).toBeGreaterThan(first.fee);
  await mine(intentId, 2);
  for (const paid of [one, two]) expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
  await regain(lost);
  await sweeps().queueSweep(lost.id);
  const alone = await sweeps().nextIntent(lost.id);
  expect(await signer().signOnce(alone!.id)).toEqual({ state: 'stored' });
});

it('never signs a transaction that could be mined beside an earlier one of it', async () => {
  const [one, two] = [await confirmed(), await confirmed()];
  await sweeps().queueSweep(one.id);
  const { intentId } = await batchOf(one.id);
  await loseCoins(two);
  await signer().signOnce(intentId);
  await loseCoins(one);
  await regain(two);
  expect(await signer().signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  await loseCoins(two);
  expect(await signer().signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  await regain(one);
  expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
});

it('bumps a stuck one with the same coins and a higher fee', async () => {
  const [one] = [await confirmed(), await confirmed()];
  await sweeps().queueSweep(one.id);
  const { intentId } = await batchOf(one.id);
  await signer().signOnce(intentId);
  expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
  const [first, second] = await attemptsOf(intentId);
  expect(second.inputs).toEqual(first.inputs);
  expect(second.fee).toBeGreaterThanOrEqual(first.fee * 1.125);
});

it('lets its payments go by themselves where it cannot be signed', async () => {
  const [one, two] = [await confirmed(), await confirmed()];
  await sweeps().queueSweep(one.id);
  const batch = await batchOf(one.id);
  // Its cap would have it wait for lower prices.
  await db.query('UPDATE intent SET max_unit_price = 2000, fee_budget = 1e9 WHERE id = $1', [batch.intentId]);
  await priceIs(2000);
  for (let tries = 1; tries < 5; tries += 1)
    expect(await signer().signOnce(batch.intentId)).toMatchObject({ state: 'waiting' });
  expect(await signer().signOnce(batch.intentId)).toMatchObject({ state: 'dropped' });
  expect(await sweeps().nextBatchIntent(batch.id)).toBeNull();
  expect(
    await db.query(`SELECT FROM incident WHERE key = $1`, [`sweep-batch-failed/intent/${batch.intentId}`]),
  ).toHaveLength(1);
  await priceIs(5);
  for (const paid of [one, two]) {
    expect((await payments().runPayment(paid.id)).status).toBe('SWEEP_QUEUED');
    const alone = await sweeps().nextIntent(paid.id);
    await signer().signOnce(alone!.id);
    await mine(alone!.id);
    expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
  }
});

it.each<[string, string]>([
  ['another settlement address', `UPDATE intent SET outputs = '[{"address":"${away}","units":null}]' WHERE id = $1`],
  ['a second output', `UPDATE intent SET outputs = outputs || '[{"address":"${away}","units":"1000"}]' WHERE id = $1`],
  ['a payment of somebody else', `UPDATE intent SET merchant_id = repeat('a', 24) WHERE id = $1`],
  [
    'a deposit in two parts',
    `UPDATE sweep_share SET deposit_ids = (SELECT deposit_ids FROM sweep_share WHERE intent_id = $1 AND position = 0)
       WHERE intent_id = $1`,
  ],
])('signs nothing with %s', async (_what, change) => {
  const [one] = [await confirmed(), await confirmed()];
  await sweeps().queueSweep(one.id);
  const { intentId } = await batchOf(one.id);
  await db.query(change, [intentId]);
  await expect(signer().signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(await attemptsOf(intentId)).toEqual([]);
});

it('waits for others as long as it is told to', async () => {
  const patient = { SWEEP_BATCH_SECONDS: '60' };
  const [one, two] = [await confirmed(), await confirmed()];
  const answer = await sweeps(patient).queueSweep(one.id);
  expect(answer).toMatchObject({ queued: false, reason: expect.stringContaining('with others') as string });
  expect(answer.lookAgainInMs).toBeLessThanOrEqual(60_100);
  await db.query(`UPDATE payment SET confirmed_at = now() - interval '1 minute' WHERE id = $1`, [one.id]);
  expect(await sweeps(patient).queueSweep(one.id)).toEqual({ queued: true });
  expect(await statusOf(two.id)).toBe('SWEEP_QUEUED');
});

it('waits for other payments or a better price, says so once, and keeps its promise', async () => {
  await priceIs(300);
  const paid = await confirmed();
  const notes = () =>
    db.query(`SELECT details->>'reason' AS reason FROM payment_event WHERE payment_id = $1 AND cause = 'sweep-waits'`, [
      paid.id,
    ]);
  for (const _ of [1, 2]) {
    expect(await sweeps().queueSweep(paid.id)).toMatchObject({ queued: false, lookAgainInMs: 60_000 });
    expect(await notes()).toEqual([{ reason: expect.stringContaining('more than 25 %') as string }]);
  }
  await db.query(`UPDATE payment SET confirmed_at = now() - interval '1 hour' WHERE id = $1`, [paid.id]);
  expect(await sweeps().queueSweep(paid.id)).toMatchObject({ queued: false, lookAgainInMs: 900_000 });
  await db.query(`UPDATE payment SET confirmed_at = now() - interval '24 hours' WHERE id = $1`, [paid.id]);
  expect(await sweeps().queueSweep(paid.id)).toEqual({ queued: true });

  const late = await confirmed(['0.0002'], { agoHours: 25 });
  expect(await sweeps().queueSweep(late.id)).toMatchObject({ queued: false });
  expect(await db.query(`SELECT FROM incident WHERE key = $1`, [`sweep-overdue/payment/${late.id}`])).toHaveLength(1);
  await priceIs(5);
  expect(await sweeps().queueSweep(late.id)).toEqual({ queued: true });
});

it('is taken along by one that can go', async () => {
  await priceIs(180);
  const small = await confirmed(['0.0007']);
  expect(await sweeps().queueSweep(small.id)).toMatchObject({ queued: false });
  const big = await confirmed(['0.05']);
  expect(await sweeps().queueSweep(big.id)).toEqual({ queued: true });
  expect(await statusOf(small.id)).toBe('SWEEP_QUEUED');
});

describe('tokens', () => {
  const tokens = { currency: 'USDT_ERC20' as const };
  const accountsOf = (intentId: string, n: number) =>
    db.query(
      `SELECT c.address, c.nonce, c.units::int AS units FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id
         WHERE a.intent_id = $1 AND a.n = $2 ORDER BY c.address`,
      [intentId, n],
    );

  it('of many addresses go in one transaction of the gas wallet, each with its part of the gas', async () => {
    const all = [
      await confirmed(['25'], tokens),
      await confirmed(['10', '7'], tokens),
      await confirmed(['31.5'], tokens),
    ];
    expect(await sweeps().queueSweep(all[0]!.id)).toEqual({ queued: true });
    const { intentId } = await batchOf(all[2]!.id);
    expect(await signer().signOnce(intentId)).toEqual({ state: 'stored' });
    const [attempt] = await attemptsOf(intentId);
    expect(attempt).toMatchObject({ inputs: [], outputs: [{ address: shop.tokens, units: '73500000' }] });
    expect((await accountsOf(intentId, 1)).map((one: { nonce: number }) => one.nonce)).toEqual([0, 0, 0, 0]);
    await mine(intentId);
    for (const paid of all) expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
    const [{ fee, moved }] = await db.query(
      `SELECT sum(p.amount) FILTER (WHERE p.credit = 'A:gas' AND p.debit = 'E:network')::text AS fee,
              sum(p.amount) FILTER (WHERE p.debit = 'A:treasury')::text AS moved
         FROM posting p JOIN journal j ON j.id = p.journal_id WHERE j.key LIKE 'sweep/' || $1 || '/%'`,
      [intentId],
    );
    expect(compare(moved, '73.5')).toBe(0);
    const [{ spent }] = await db.query(`SELECT (fee_units / 1e18)::text AS spent FROM attempt WHERE intent_id = $1`, [
      intentId,
    ]);
    expect(compare(fee, spent)).toBe(0);
  });

  it('A5: of one address go the same way, and no coin is sent to it', async () => {
    const paid = await confirmed(['25'], tokens);
    expect(await sweeps().queueSweep(paid.id)).toEqual({ queued: true });
    const { id, intentId } = await batchOf(paid.id);
    expect(await requests()).toEqual([`sweep-batch/${id}`]);
    expect(await signer().signOnce(intentId)).toEqual({ state: 'stored' });
    const [attempt] = await attemptsOf(intentId);
    expect(attempt).toMatchObject({ outputs: [{ address: shop.tokens, units: '25000000' }] });
    await mine(intentId);
    expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
    const [{ topUps }] = await db.query(
      `SELECT count(*)::int AS "topUps" FROM intent WHERE kind = 'gas' AND (payment_id = $1 OR deposit_ids && $2)`,
      [paid.id, paid.depositIds],
    );
    expect(topUps).toBe(0);
  });

  it('A5: of one address bear what was quoted where they are the first, and the chain’s fee from then on', async () => {
    const fees: string[] = [];
    for (const quoted of ['0.5', '0.5', '1000', '0.5']) {
      // Before the last one the sweeper was another contract, whose delegates are its own.
      if (fees.length === 3)
        await db.query(
          `UPDATE attempt SET raw = replace(raw, $1, repeat('ab', 20)) WHERE intent_id IN (
             SELECT id FROM intent WHERE owner_kind = 'sweep-batch')`,
          [env.ETH_SWEEPER_CONTRACT.slice(2).toLowerCase()],
        );
      const paid = await confirmed(['2500'], tokens);
      await db.query('UPDATE payment SET network_fee_amount = $2 WHERE id = $1', [paid.id, quoted]);
      await sweeps().queueSweep(paid.id);
      const { intentId } = await batchOf(paid.id);
      await signer().signOnce(intentId);
      await mine(intentId);
      expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
      const [{ charged, spent }] = await db.query(
        `SELECT (SELECT p.amount::text FROM posting p JOIN journal j ON j.id = p.journal_id
                  WHERE j.key = 'payment/' || $1 || '/settle' AND p.credit = 'I:network') AS charged,
                (SELECT (fee_units / 1e18 * 3200)::text FROM attempt WHERE intent_id = $2) AS spent`,
        [paid.id, intentId],
      );
      fees.push(compare(charged, quoted) === 0 ? 'quoted' : compare(charged, spent) >= 0 ? 'chain' : charged);
      expect(compare(spent, '0.5')).toBe(1);
    }
    expect(fees).toEqual(['quoted', 'chain', 'chain', 'quoted']);
  });

  it('A5: of one address go by a top-up once a batch of their own has failed', async () => {
    const paid = await confirmed(['25'], tokens);
    await sweeps().queueSweep(paid.id);
    const { intentId } = await batchOf(paid.id);
    await signer().signOnce(intentId);
    await mine(intentId, 1, { isReverted: true });
    expect((await payments().runPayment(paid.id)).status).toBe('SWEEP_QUEUED');
    expect(await requests()).toContain(`sweep/${paid.id}`);
    const kinds = await db.query('SELECT kind FROM intent WHERE payment_id = $1 ORDER BY id', [paid.id]);
    expect(kinds).toEqual([{ kind: 'gas' }, { kind: 'sweep' }]);
  });

  it('A2: go by a top-up of another gas wallet while the one that the sweeper obeys is held up', async () => {
    const [first, second] = [0, 1].map((index) => evm.derive(evm.extendedKey(seed, 'gas'), index));
    await db.query(
      `INSERT INTO address (network, address, role, key_index, lane) VALUES ('ethereum', $1, 'gas', 1, 'used')`,
      [second],
    );
    const freeze = (reason: string | null): Promise<unknown> =>
      db.query(
        `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ('ethereum', $1, $2, now())
         ON CONFLICT (network, address) DO UPDATE SET frozen_reason = $2`,
        [first, reason],
      );
    const before = await confirmed(['26'], tokens);
    await sweeps().queueSweep(before.id);
    const { id: batchId } = await batchOf(before.id);
    await freeze('stolen');
    try {
      // What is planned and not signed does not wait for it.
      expect(await sweeps().nextBatchIntent(batchId)).toBeNull();
      expect((await payments().runPayment(before.id)).status).toBe('SWEEP_QUEUED');
      const gas = `SELECT from_address FROM intent WHERE payment_id = $1 AND kind = 'gas'`;
      expect(await db.query(gas, [before.id])).toEqual([{ from_address: second }]);
      await db.query('DELETE FROM temporal_request');
      const paid = await confirmed(['25'], tokens);
      expect(await sweeps().queueSweep(paid.id)).toEqual({ queued: true });
      expect(await requests()).toEqual([`sweep/${paid.id}`]);
      const [topUp] = await db.query('SELECT kind, from_address FROM intent WHERE payment_id = $1 ORDER BY id', [
        paid.id,
      ]);
      expect(topUp).toEqual({ kind: 'gas', from_address: second });
    } finally {
      await freeze(null);
      await db.query(`UPDATE address SET lane = NULL WHERE address = $1`, [second]);
    }
    const again = await confirmed(['25'], tokens);
    await sweeps().queueSweep(again.id);
    expect(await batchOf(again.id)).toBeDefined();
  });

  it('go one by one where no sweeper is configured', async () => {
    const [one] = [await confirmed(['25'], tokens), await confirmed(['25'], tokens)];
    await sweeps({ ETH_SWEEPER_CONTRACT: '' }).queueSweep(one.id);
    expect(await requests()).toEqual([`sweep/${one.id}`]);
  });

  describe('A5: whose contract is the one of another release, or obeys another wallet', () => {
    const others = [`0x${'ab'.repeat(20)}`, sweeperOf(evm.derive(evm.extendedKey(seed, 'gas'), 1)).address];

    it.each(others)('are planned one by one: %s', async (contract) => {
      const one = await confirmed(['25'], tokens);
      await sweeps({ ETH_SWEEPER_CONTRACT: contract }).queueSweep(one.id);
      expect(await requests()).toEqual([`sweep/${one.id}`]);
      expect(await sweeps({ ETH_SWEEPER_CONTRACT: contract }).nextIntent(one.id)).toMatchObject({ kind: 'gas' });
    });

    it('go one by one where they were planned before, after five refusals', async () => {
      const one = await confirmed(['25'], tokens);
      await sweeps().queueSweep(one.id);
      const { intentId } = await batchOf(one.id);
      const { chain } = parseConfig({ ...env, ETH_SWEEPER_CONTRACT: others[0]! });
      const outdated = estimating(db, signingActivities({ db, codecs: createCodecs(chain), seed }));
      for (let n = 0; n < 4; n += 1)
        expect(await outdated.signOnce(intentId)).toEqual({
          state: 'waiting',
          reason: expect.stringContaining("is not this release's sweeper"),
        });
      expect(await outdated.signOnce(intentId)).toMatchObject({ state: 'dropped' });
      expect(await attemptsOf(intentId)).toEqual([]);
      expect((await payments().runPayment(one.id)).status).toBe('SWEEP_QUEUED');
      expect(await sweeps().nextIntent(one.id)).toMatchObject({ kind: 'gas' });
    });
  });

  describe('A5: to the merchant’s own address', () => {
    const external = () => ({
      ...tokens,
      custody: 'external' as const,
      settlement: evm.derive(evm.extendedKey(Buffer.alloc(64, 9), 'deposit'), 0),
    });
    const own = async (coins: readonly string[]): Promise<Paid> => {
      const paid = await confirmed(coins, external());
      await unguarded(db, (tx) => tx.query('UPDATE payment SET network_fee_amount = 3 WHERE id = $1', [paid.id]));
      return paid;
    };
    const postingsOf = (key: string): Promise<Array<Record<string, string>>> =>
      db.query(
        `SELECT p.debit, p.credit, p.asset, trim_scale(p.amount)::text AS amount FROM posting p
           JOIN journal j ON j.id = p.journal_id WHERE j.key = $1 ORDER BY p.id`,
        [key],
      );
    const feeAddress = (): string => evm.derive(evm.extendedKey(seed, 'treasury'), 0);

    it('go together too, without gas of their own: the net there, and the rest to us', async () => {
      const [one, two] = [await own(['250']), await own(['100', '20'])];
      await sweeps().queueSweep(one.id);
      const batch = await batchOf(one.id);
      expect(await requests()).toContain(`sweep-batch/${batch.id}`);
      expect(
        await db.query(`SELECT FROM intent WHERE kind = 'gas' AND payment_id = ANY($1)`, [[one.id, two.id]]),
      ).toEqual([]);
      expect(await signer().signOnce(batch.intentId)).toEqual({ state: 'stored' });
      // 0.4 % of 250 and of 120, and 3 of provision each.
      const [attempt] = await attemptsOf(batch.intentId);
      expect(attempt).toMatchObject({
        moved: 370_000_000,
        outputs: [
          { address: external().settlement, units: `${250_000_000 - 4_000_000 + 120_000_000 - 3_480_000}` },
          { address: feeAddress(), units: '7480000' },
        ],
      });
      await mine(batch.intentId);
      for (const { id } of [one, two]) expect((await payments().runPayment(id)).status).toBe('SETTLED');
      expect([await settledNet(one.id), await settledNet(two.id)].map(Number)).toEqual([246, 116.52]);
      const [share] = await db.query('SELECT fee_units FROM sweep_share WHERE payment_id = $1', [one.id]);
      expect(await postingsOf(`sweep/${batch.intentId}/${one.id}`)).toEqual([
        { debit: available(shop.id), credit: 'A:deposit', asset: 'USDT_ERC20', amount: '246' },
        { debit: 'A:treasury', credit: 'A:deposit', asset: 'USDT_ERC20', amount: '4' },
        { debit: 'E:network', credit: 'A:gas', asset: 'ETH', amount: fromUnits(BigInt(share.fee_units), 18) },
      ]);
    });

    it('are bumped without those that a reorganisation has taken: the net of the others, and no more', async () => {
      const [one, lost] = [await own(['250']), await own(['100'])];
      await sweeps().queueSweep(one.id);
      const { intentId } = await batchOf(one.id);
      await signer().signOnce(intentId);
      await loseCoins(lost);
      expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
      const [, second] = await attemptsOf(intentId);
      expect(second.outputs).toEqual([
        { address: external().settlement, units: '246000000' },
        { address: feeAddress(), units: '4000000' },
      ]);
      await mine(intentId, 2);
      expect((await payments().runPayment(one.id)).status).toBe('SETTLED');
      await regain(lost);
      await sweeps().queueSweep(lost.id);
      const again = await batchOf(lost.id);
      expect(again.intentId).not.toBe(intentId);
      await signer().signOnce(again.intentId);
      await mine(again.intentId);
      expect((await payments().runPayment(lost.id)).status).toBe('SETTLED');
    });

    it('never together with payments that settle with us', async () => {
      const [one, other] = [await own(['250']), await confirmed(['25'], tokens)];
      await sweeps().queueSweep(one.id);
      expect(await statusOf(other.id)).toBe('CONFIRMED');
      await sweeps().queueSweep(other.id);
      expect((await batchOf(one.id)).intentId).not.toBe((await batchOf(other.id)).intentId);
    });

    it('are not signed where the row says another part than the payments', async () => {
      const one = await own(['250']);
      await sweeps().queueSweep(one.id);
      const { intentId } = await batchOf(one.id);
      await db.query(
        `UPDATE intent SET outputs = jsonb_set(outputs, '{1,address}', to_jsonb($2::text)) WHERE id = $1`,
        [intentId, evm.derive(evm.extendedKey(Buffer.alloc(64, 3), 'deposit'), 0)],
      );
      await expect(signer().signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
      await db.query(
        `UPDATE intent SET outputs = jsonb_set(outputs, '{1,address}', to_jsonb($2::text)) WHERE id = $1`,
        [intentId, feeAddress()],
      );
      expect(await signer().signOnce(intentId)).toEqual({ state: 'stored' });
      await mine(intentId);
      expect((await payments().runPayment(one.id)).status).toBe('SETTLED');
    });

    it('wait where our part would not pay for the gas, and go by themselves when it was reverted', async () => {
      const one = await own(['250']);
      await priceIs(400_000_000_000, 'ethereum');
      expect(await sweeps().queueSweep(one.id)).toMatchObject({ queued: false });
      await priceIs(2_000_000_000, 'ethereum');
      await sweeps().queueSweep(one.id);
      const { intentId } = await batchOf(one.id);
      await signer().signOnce(intentId);
      await mine(intentId, 1, { isReverted: true });
      expect((await payments().runPayment(one.id)).status).toBe('SWEEP_QUEUED');
      expect(await sweeps().nextIntent(one.id)).toMatchObject({ kind: 'gas' });
    });
  });

  it('are bumped with the same delegations, without those that a reorganisation has taken', async () => {
    const [one, two, lost] = [
      await confirmed(['25'], tokens),
      await confirmed(['26'], tokens),
      await confirmed(['27'], tokens),
    ];
    await sweeps().queueSweep(one.id);
    const { intentId } = await batchOf(one.id);
    await signer().signOnce(intentId);
    await loseCoins(lost);
    expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
    const units = (await accountsOf(intentId, 2)).map((account: { units: number }) => account.units);
    expect(units.sort()).toEqual([0, 25_000_000, 26_000_000]);
    await mine(intentId, 2);
    for (const paid of [one, two]) expect((await payments().runPayment(paid.id)).status).toBe('SETTLED');
    await regain(lost);
    await sweeps({ ETH_SWEEPER_CONTRACT: '' }).queueSweep(lost.id);
    const topUp = await sweeps().nextIntent(lost.id);
    expect(topUp).toMatchObject({ kind: 'gas' });
    const [sweep] = await db.query(`SELECT id FROM intent WHERE payment_id = $1 AND kind = 'sweep'`, [lost.id]);
    await signer().signOnce(sweep.id);
    expect(await db.query('SELECT nonce FROM attempt WHERE intent_id = $1', [sweep.id])).toEqual([{ nonce: 1 }]);
  });

  it('A5: of one address that has delegated before go the same way, on its next nonce', async () => {
    const [one, lost] = [await confirmed(['25'], tokens), await confirmed(['27'], tokens)];
    await sweeps().queueSweep(one.id);
    const { intentId } = await batchOf(one.id);
    await signer().signOnce(intentId);
    await loseCoins(lost);
    expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
    await mine(intentId, 2);
    expect((await payments().runPayment(one.id)).status).toBe('SETTLED');
    await regain(lost);
    await sweeps().queueSweep(lost.id);
    const again = await batchOf(lost.id);
    expect(again.intentId).not.toBe(intentId);
    expect(await signer().signOnce(again.intentId)).toEqual({ state: 'stored' });
    expect(await accountsOf(again.intentId, 1)).toMatchObject([{ nonce: 1, units: 27_000_000 }]);
    await mine(again.intentId);
    expect((await payments().runPayment(lost.id)).status).toBe('SETTLED');
  });

  it('A11: get no further transaction while one of their accounts is frozen: it would delegate once more', async () => {
    const paid = [await confirmed(['25'], tokens), await confirmed(['26'], tokens)];
    await sweeps().queueSweep(paid[0]!.id);
    const { intentId } = await batchOf(paid[0]!.id);
    expect(await signer().signOnce(intentId)).toEqual({ state: 'stored' });
    const [{ address }] = await db.query(
      `SELECT address FROM attempt_account ORDER BY attempt_id DESC, address LIMIT 1`,
    );
    await db.query(`UPDATE wallet_sequence SET frozen_reason = 'stolen', frozen_at = now() WHERE address = $1`, [
      address,
    ]);
    expect(await signer().signBump(intentId, 1)).toEqual({
      state: 'waiting',
      reason: expect.stringContaining(`${address}: stolen`),
    });
    await db.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL WHERE address = $1', [address]);
    expect(await signer().signBump(intentId, 1)).toEqual({ state: 'stored' });
    await mine(intentId, 2);
    for (const { id } of paid) expect((await payments().runPayment(id)).status).toBe('SETTLED');
  });

  it('go by themselves when their transaction was reverted, which cost the gas wallet its fee', async () => {
    const [one, two] = [await confirmed(['25'], tokens), await confirmed(['26'], tokens)];
    await sweeps().queueSweep(one.id);
    const { intentId } = await batchOf(one.id);
    await signer().signOnce(intentId);
    await mine(intentId, 1, { isReverted: true });
    expect(
      await db.query(`SELECT FROM incident WHERE key = $1`, [`sweep-batch-failed/intent/${intentId}`]),
    ).toHaveLength(1);
    for (const paid of [one, two]) {
      expect((await payments().runPayment(paid.id)).status).toBe('SWEEP_QUEUED');
      expect(await sweeps().nextIntent(paid.id)).toMatchObject({ kind: 'gas' });
    }
  });

  it('mined again after a reorganisation for another fee, book the difference', async () => {
    const [one, two, late] = [
      await confirmed(['25'], tokens),
      await confirmed(['26'], tokens),
      await confirmed(['27'], tokens),
    ];
    await sweeps().queueSweep(one.id);
    const { intentId } = await batchOf(one.id);
    await signer().signOnce(intentId);
    await mine(intentId);
    for (const paid of [one, two]) await payments().runPayment(paid.id);
    await db.query(`UPDATE intent SET booked = false, status = 'sent' WHERE id = $1`, [intentId]);
    await mine(intentId, 1, { block: 'c', feeCut: 1_000_001n });
    expect((await payments().runPayment(late.id)).status).toBe('SETTLED');
  });

  it('are signed for the gas wallet alone', async () => {
    const [one] = [await confirmed(['25'], tokens), await confirmed(['26'], tokens)];
    await sweeps().queueSweep(one.id);
    const { intentId } = await batchOf(one.id);
    await db.query(`UPDATE intent SET from_address = $2 WHERE id = $1`, [intentId, shop.tokens]);
    await expect(signer().signOnce(intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  });
});
