import type { DataSource } from 'typeorm';
import { broadcastActivities } from '../../activities/txmanager/broadcast';
import { createCodecs } from '../../chains/codecs';
import { rollBack } from '../../txmanager/reorganise';
import { parseTransaction, type Hex } from 'viem';
import { payoutActivities } from '../../activities/payouts/payouts';
import { signingActivities } from '../../activities/txmanager/signing';
import { audit } from '../../db/audit/audit';
import { finalizeAttempts, type OpenAttempt } from '../../db/chains/attempts';
import { freeze, setLimits, unfreeze } from '../../db/limits/outbound';
import { armFailPoints, disarmFailPoints } from '../../db/fail-point';
import { dropIntents } from '../../db/txmanager/intents';
import { post } from '../../db/ledger/ledger';
import { createMerchant } from '../../db/access/merchants';
import { lockBatch, shownLinesOf, storeSigned } from '../../db/payouts/payouts';
import { cancelBatch } from '../../commands/payouts/cancel';
import { approveBatch } from '../../commands/payouts/approve';
import { queueBatch } from '../../commands/payouts/queue';
import { resolveShortfalls } from '../../txmanager/shortfalls';
import { addToWhitelist, removeFromWhitelist } from '../../db/wallets/whitelist';
import type { BroadcastAnswer, ChainAdapter, Sighting } from '../../domain/chains/chain';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { subtract, toUnits } from '../../domain/money';
import { viewLine, type PayoutLineRow } from '../../domain/payouts/payout';
import { waitMessages } from '../../domain/txmanager/waits';
import { connectionsTo, freshDatabase, patiently } from '../setup/postgres';
import { adjustment } from '../../domain/ledger/entry';
import type { Approver } from '../../commands/access/second-person';
import { anApprover } from '../approver';
import { estimating, nodes } from './nodes';

/** How a mass payout is processed: what is planned, signed, sent and booked, and what happens to what cannot be paid.
 *  The node is played. */

const seed = Buffer.alloc(64, 7);
const { chain } = parseConfig({
  NETWORKS: 'bitcoin,litecoin,ethereum',
  BTC_NETWORK: 'regtest',
  LTC_NETWORK: 'regtest',
  ETH_CHAIN_ID: '31337',
});
const codecs = createCodecs(chain);
const own = ['bitcoin', 'litecoin', 'ethereum'] as const;
const networkOf = (currency: string) => assetOf(currency).network;
const away = (currency: string, index = 0): string => {
  const codec = codecs[networkOf(currency)];
  return codec.derive(codec.extendedKey(Buffer.alloc(64, 9), 'deposit'), index);
};
const hot = (network: NetworkId, role: 'treasury' | 'gas' = 'treasury'): string =>
  codecs[network].derive(codecs[network].extendedKey(seed, role), 0);
const user = { id: newId(), email: 'ann@shop.example' };
const deps = { codecs, rateMaxAgeSeconds: 3600 };

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let activities: ReturnType<typeof payoutActivities>;
/** What the node was sent, and what it says. */
const sent: string[] = [];
const known = new Set<string>();
/** What the log was told. */
let lines: object[] = [];
let nextNonce = 0;
let says: (raw: string) => BroadcastAnswer = () => ({ outcome: 'accepted' });
const sender = (network: NetworkId) =>
  broadcastActivities({
    db,
    log: { info: (fields: object, text: string) => void lines.push({ text, ...fields }) },
    adapter: {
      network,
      broadcast: (raw: string) => {
        sent.push(raw);
        return Promise.resolve(says(raw));
      },
      lookUp: (txId: string) => Promise.resolve({ state: known.has(txId) ? 'pool' : 'unknown' } as Sighting),
      nextNonce: () => Promise.resolve(network === 'ethereum' ? nextNonce : null),
    } as Partial<ChainAdapter> as ChainAdapter,
  });

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  // Payouts here are larger than what new destinations get in a day: tests/activities/new-destinations.test.ts.
  const newDestinations = { coolingOffHours: 0, dailyCaps: {} };
  signer = estimating(db, signingActivities({ db, codecs, seed, newDestinations }));
  activities = payoutActivities({ db, nodes });
  for (const network of own)
    await db.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'treasury', 0), ($1, $3, 'gas', 0)`,
      [network, hot(network), hot(network, 'gas')],
    );
  await db.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, taken_at)
       VALUES ('ethereum', 2000000000, 1000000000, now()), ('bitcoin', 2, 0, now()), ('litecoin', 2, 0, now())`,
  );
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('bitcoin', 100, 'b', 100, 'infinity'), ('litecoin', 100, 'l', 100, 'infinity'),
              ('ethereum', 100, 'e', 100, 'infinity')`,
  );
  for (const [currency, price] of [
    ['ETH', '3200'],
    ['BTC', '64000'],
    ['LTC', '80'],
    ['USDT_ERC20', '1'],
  ]) {
    const [rate] = await db.query(
      `INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ($1, 'USD', $2, '[]', now()) RETURNING id`,
      [currency, price],
    );
    await db.query(
      `INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at) VALUES ($1, 'USD', $2, $3, now())`,
      [currency, rate.id, price],
    );
  }
  merchantId = (await createMerchant(db, { secretsKey: 'ab'.repeat(32), name: 'Shop' })).id;
  for (const currency of ['ETH', 'BTC', 'LTC', 'USDT_ERC20']) {
    await holds(currency, '100');
    await db.transaction((tx) =>
      post(tx, {
        key: `test/${currency}`,
        entry: adjustment,
        postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: currency, amount: '100' }],
      }),
    );
    for (let index = 0; index < 12; index += 1) await list(currency, away(currency, index));
  }
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});
afterEach(async () => {
  says = () => ({ outcome: 'accepted' });
  expect(
    (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
      ['I1', 'I2', 'I3', 'I7', 'I8', 'I9', 'I11'].includes(invariant),
    ),
  ).toEqual([]);
});

let made = 0;
const holds = (currency: string, amount: string): Promise<unknown> =>
  db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     VALUES ($1, $2, 0, $3, 'treasury', $4, $5, $5, false, 'confirmed', now(), 'own')`,
    [networkOf(currency), (made += 1).toString(16).padStart(64, '0'), hot(networkOf(currency)), currency, amount],
  );
const list = (currency: string, address: string) =>
  addToWhitelist(db.manager, merchantId, user, { type: 'wallet', currency, address, destinationTag: null });
async function queued(
  rows: ReadonlyArray<readonly [currency: string, amount: string, index?: number]>,
): Promise<string> {
  const { row } = await db.transaction((tx) =>
    queueBatch(tx, deps, merchantId, user, {
      rows: rows.map(([currency, amount, index = 0]) => ({ currency, amount, address: away(currency, index) })),
    }),
  );
  return row.id;
}
const linesOf = (id: string): Promise<PayoutLineRow[]> =>
  db.query('SELECT * FROM payout_leg WHERE batch_id = $1 ORDER BY row_index', [id]);
const statuses = async (id: string): Promise<string[]> => (await linesOf(id)).map((line) => line.status);
const batchStatus = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM payout_batch WHERE id = $1', [id]))[0].status;
const events = async (id: string): Promise<string[]> =>
  (
    await db.query(
      `SELECT type FROM event WHERE entity_id = $1 OR entity_id IN (SELECT id FROM payout_leg WHERE batch_id = $1)
         ORDER BY seq`,
      [id],
    )
  ).map((row: { type: string }) => row.type.replace('mass_payout.', ''));
type Attempt = {
  id: string;
  kind: string;
  outputs: Array<{ address: string; units: string }>;
  nonce: number | null;
  tx_id: string;
};
const attempts = (id: string): Promise<Attempt[]> =>
  db.query(
    `SELECT i.id, i.kind, a.outputs, a.nonce, a.tx_id FROM attempt a JOIN intent i ON i.id = a.intent_id
       WHERE i.owner_kind = 'payout-batch' AND i.owner_id = $1 ORDER BY a.id`,
    [id],
  );
/** What a chain would do to everything of a batch that is sent. */
const mine = async (id: string, success = true): Promise<void> => {
  const mined = await db.query(
    `UPDATE attempt a SET status = 'final', success = $2, fee_units = least(a.max_fee_units, 30000), height = 1
       FROM intent i
      WHERE i.id = a.intent_id AND i.owner_kind = 'payout-batch' AND i.owner_id = $1
        AND a.status = 'sent' RETURNING i.id`,
    [id, success],
  );
  await db.query(`UPDATE intent SET status = $2 WHERE id = ANY($1)`, [
    mined[0].map((row: { id: string }) => row.id),
    success ? 'final' : 'failed',
  ]);
};
/** Until nothing more happens without a block. */
async function round(id: string): Promise<void> {
  const step = await activities.payoutStep(id);
  if (!step) return;
  if (step.sign) await signer.signPayouts(id);
  for (const network of step.networks) await sender(network).sendPayouts(id);
}
const reserved = async (currency: string): Promise<string> =>
  (
    await db.query(
      `SELECT trim_scale(coalesce(sum(amount), 0))::text AS sum FROM balance WHERE account = 'L:reserved:' || $1
         AND asset = $2`,
      [merchantId, currency],
    )
  )[0].sum;

it('pays coins in one transaction, ether one by one, and tokens once their gas is there', async () => {
  const id = await queued([
    ['BTC', '0.01'],
    ['ETH', '0.5'],
    ['USDT_ERC20', '5'],
    ['BTC', '0.02', 1],
    ['USDT_ERC20', '6', 1],
  ]);
  await round(id);
  expect(await statuses(id)).toEqual(['broadcast', 'broadcast', 'pending', 'broadcast', 'pending']);
  expect((await attempts(id)).map((one) => one.kind).sort()).toEqual(['gas', 'leg', 'leg']);
  expect(await batchStatus(id)).toBe('processing');
  await mine(id);
  await round(id);
  expect(await statuses(id)).toEqual(['completed', 'completed', 'broadcast', 'completed', 'broadcast']);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
  expect(await activities.payoutStep(id)).toBeNull();
  expect(await batchStatus(id)).toBe('completed');
  const paid = await linesOf(id);
  expect(paid.map((line) => line.status)).toEqual(Array(5).fill('completed'));
  expect(new Set([paid[0]!.tx_id, paid[3]!.tx_id]).size).toBe(1);
  const [coins] = (await attempts(id)).filter((one) => one.outputs.length > 1);
  expect(coins!.outputs.slice(0, 2).map((output) => output.address)).toEqual([away('BTC'), away('BTC', 1)]);
  expect(await events(id)).toEqual([
    'created',
    'processing',
    'leg_completed',
    'leg_completed',
    'leg_completed',
    'broadcast',
    'leg_completed',
    'leg_completed',
    'completed',
  ]);
  expect([await reserved('BTC'), await reserved('ETH'), await reserved('USDT_ERC20')]).toEqual(['0', '0', '0']);
});

it('pays the coins of each network in a transaction of their own', async () => {
  await holds('BTC', '1');
  const id = await queued([
    ['LTC', '0.3'],
    ['BTC', '0.01'],
    ['LTC', '0.4', 1],
  ]);
  await round(id);
  expect(await statuses(id)).toEqual(['broadcast', 'broadcast', 'broadcast']);
  const rows = await linesOf(id);
  const planned = await db.query('SELECT id, currency FROM intent WHERE id = ANY($1)', [
    rows.map((row) => row.intent_id),
  ]);
  const currencies = new Map(planned.map((row: { id: string; currency: string }) => [row.id, row.currency]));
  expect(rows.map((row) => currencies.get(row.intent_id!))).toEqual(['LTC', 'BTC', 'LTC']);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
  expect(await statuses(id)).toEqual(['completed', 'completed', 'completed']);
});

it('signs and sends each once, however often it is asked', async () => {
  const id = await queued(Array.from({ length: 12 }, (_, index) => ['ETH', '0.01', index] as const));
  await activities.payoutStep(id);
  await Promise.all([signer.signPayouts(id), signer.signPayouts(id), signer.signPayouts(id)]);
  const signed = await attempts(id);
  expect(signed).toHaveLength(12);
  expect(new Set(signed.map((one) => one.nonce)).size).toBe(12);
  sent.length = 0;
  lines = [];
  await sender('ethereum').sendPayouts(id);
  await sender('ethereum').sendPayouts(id);
  expect(sent).toHaveLength(24);
  expect(lines).toHaveLength(12); // one for each transaction, however often it is sent
  const line = { text: 'transaction sent', kind: 'leg', network: 'ethereum', attempt: 1, massPayoutId: id };
  expect(lines[0]).toMatchObject({ ...line, txId: expect.any(String) as string, workflowId: `payout-batch/${id}` });
  expect(new Set(sent).size).toBe(12);
  await mine(id);
  await Promise.all([activities.payoutStep(id), activities.payoutStep(id)]);
  expect(await batchStatus(id)).toBe('completed');
});

/** What the rows of each line say, but for what differs from line to line: ids, hashes, nonces and moments. */
async function rowsByLine(id: string): Promise<Array<Record<'line' | 'intent' | 'attempt', Record<string, unknown>>>> {
  const rows: Array<Record<'line' | 'intent' | 'attempt', Record<string, unknown>>> = await db.query(
    `SELECT to_jsonb(l) AS line, to_jsonb(i) AS intent, to_jsonb(a) AS attempt
       FROM payout_leg l JOIN intent i ON i.id = l.intent_id JOIN attempt a ON a.intent_id = i.id
      WHERE l.batch_id = $1 ORDER BY l.row_index`,
    [id],
  );
  const own = ['id', 'intent_id', 'row_index', 'ref', 'tx_id', 'raw', 'nonce', 'created_at', 'updated_at', 'sent_at'];
  const shared = (row: Record<string, unknown>) => {
    for (const moment of ['sent_at', 'gas_estimated_at'])
      if (moment in row) row[`has_${moment}`] = row[moment] !== null;
    return Object.fromEntries(Object.entries(row).filter(([column]) => ![...own, 'gas_estimated_at'].includes(column)));
  };
  return rows.map(({ line, intent, attempt }) => ({
    line: { ...shared(line), has_tx_id: line.tx_id === attempt.tx_id },
    intent: shared(intent),
    attempt: shared(attempt),
  }));
}

it('leaves the same rows of a line that goes by itself as of one that goes with others', async () => {
  const id = await queued([0, 0].map((index) => ['ETH', '0.01', index] as const));
  await activities.payoutStep(id);
  const [first] = await linesOf(id);
  expect(await signer.signOnce(first!.intent_id!)).toEqual({ state: 'stored' });
  expect(await signer.signPayouts(id)).toEqual({ stored: 1 });
  const [storedAlone, storedTogether] = await rowsByLine(id);
  expect(storedAlone).toEqual(storedTogether);
  expect(storedAlone).toMatchObject({ line: { status: 'processing' }, intent: { status: 'stored' } });

  await expect(sender('ethereum').followIntent(first!.intent_id!)).rejects.toThrow('it is in no block yet');
  await sender('ethereum').sendPayouts(id);
  const [sentAlone, sentTogether] = await rowsByLine(id);
  expect(sentAlone).toEqual(sentTogether);
  expect(sentAlone).toMatchObject({
    line: { status: 'broadcast', has_tx_id: true },
    attempt: { status: 'sent', has_sent_at: true },
  });
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('keeps nothing of what was signed for another nonce, or for what has changed since', async () => {
  const id = await queued([0, 1].map((index) => ['ETH', '0.01', index] as const));
  await activities.payoutStep(id);
  const due = await linesOf(id);
  const [{ next_nonce: next }] = await db.query(`SELECT next_nonce FROM wallet_sequence WHERE address = $1`, [
    hot('ethereum'),
  ]);
  const rows = due.map((line, n) => ({
    intent_id: line.intent_id!,
    leg_id: line.id,
    tx_id: `0x${id}${n}`,
    raw: '0x00',
    nonce: next + n,
    data_part: '0',
    unit_price: '1',
    max_fee_units: '1',
    moved_units: '1',
    outputs: [],
  }));
  const from = { network: 'ethereum', from_address: hot('ethereum') };
  const store = (some: typeof rows) => db.transaction((tx) => storeSigned(tx, from, some));
  await expect(store(rows.map((row) => ({ ...row, nonce: row.nonce + 1 })))).rejects.toThrow('is not at nonce');
  await expect(store(rows.map((row) => ({ ...row, leg_id: due[0]!.id })))).rejects.toThrow('payout lines of wallet');
  await db.transaction((tx) => dropIntents(tx, { kind: 'payout-batch', id }, [due[1]!.intent_id!]));
  await expect(store(rows)).rejects.toThrow('intents of wallet');
  const [wallet] = await db.query(`SELECT next_nonce FROM wallet_sequence WHERE address = $1`, [hot('ethereum')]);
  expect([await attempts(id), await statuses(id), wallet.next_nonce]).toEqual([[], ['pending', 'pending'], next]);
  await db.transaction((tx) => cancelBatch(tx, merchantId, id));
});

it('signs nothing of what is frozen, nor from a wallet that is', async () => {
  const id = await queued([['ETH', '0.01']]);
  await activities.payoutStep(id);
  await freeze(db.manager, 'ETH', 'a test');
  expect(await signer.signPayouts(id)).toEqual({ stored: 0, reason: 'frozen: a test' });
  // 12: its merchant reads that it waits, and not why operators have stopped it.
  const told = async (): Promise<Array<string | null>> =>
    (await shownLinesOf(db, id)).map((line) => viewLine(line).merchantMessage);
  expect(new Set(await told())).toEqual(new Set([waitMessages.paused]));
  await unfreeze(db.manager, 'ETH');
  await db.query(`UPDATE wallet_sequence SET frozen_reason = 'a test' WHERE address = $1`, [hot('ethereum')]);
  expect(await signer.signPayouts(id)).toMatchObject({ stored: 0, reason: expect.stringContaining('a test') });
  await db.query(`UPDATE wallet_sequence SET frozen_reason = NULL WHERE address = $1`, [hot('ethereum')]);
  await round(id);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('sends what the signer stores beside it, and leaves what it does not', async () => {
  const id = await queued(Array.from({ length: 12 }, (_, index) => ['ETH', '0.01', index] as const));
  await activities.payoutStep(id);
  sent.length = 0;
  const sending = sender('ethereum').sendPayouts(id, true);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await signer.signPayouts(id);
  let said = await sending;
  while (said.isLeft) said = await sender('ethereum').sendPayouts(id, true);
  // By these hashes its workflow is found.
  const txIds = (await attempts(id)).map((one) => one.tx_id).toSorted();
  expect({ ...said, txIds: said.txIds?.toSorted() }).toEqual({ stuck: [], isLeft: false, txIds });
  expect([sent.length, new Set(sent).size, new Set(await statuses(id))]).toEqual([12, 12, new Set(['broadcast'])]);
  const nonces = sent.map((raw) => codecs.ethereum.decode(raw).nonce);
  expect(nonces).toEqual(nonces.toSorted((a, b) => a! - b!));
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();

  const other = await queued([['ETH', '0.01']]);
  await activities.payoutStep(other);
  expect(await sender('ethereum').sendPayouts(other, true)).toMatchObject({ stuck: [], isLeft: true });
  await signer.signPayouts(other);
  expect(await sender('ethereum').sendPayouts(other)).toMatchObject({ stuck: [], isLeft: false });
  await mine(other);
  expect(await activities.payoutStep(other)).toBeNull();
});

it('leaves a payout that somebody has locked for long to the next look, and holds up no other', async () => {
  const id = await queued([['ETH', '0.01']]);
  await activities.payoutStep(id);
  const held = db.transaction(async (tx) => {
    await lockBatch(tx, id);
    await tx.query('SELECT pg_sleep(3.5)');
  });
  const ended: string[] = [];
  const locked = sender('ethereum')
    .sendPayouts(id, true)
    .finally(() => ended.push(id));
  // Another one does not wait for the signer of this one.
  const other = await queued([['ETH', '0.01']]);
  await activities.payoutStep(other);
  const beside = sender('ethereum')
    .sendPayouts(other, true)
    .finally(() => ended.push(other));
  await signer.signPayouts(other);
  await beside;
  expect([ended, await statuses(other)]).toEqual([[other], ['broadcast']]);
  expect(await locked).toMatchObject({ stuck: [], isLeft: true });
  await held;
  await mine(other);
  expect(await activities.payoutStep(other)).toBeNull();
  await round(id);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('keeps for each line what its data cost on another chain, and offers the rest', async () => {
  const prices = (unit: string, data: string): Promise<unknown> =>
    db.query(`UPDATE network_fee SET unit_price = $1, data_part = $2 WHERE network = 'ethereum'`, [unit, data]);
  await prices('3000000000', '1000000000');
  const id = await queued([0, 1].map((index) => ['ETH', '0.01', index] as const));
  await round(id);
  const rows = await db.query<Array<{ raw: Hex; unit: string; data: string; most: string }>>(
    `SELECT a.raw, trim_scale(a.unit_price)::text AS unit, trim_scale(a.data_part)::text AS data,
            a.max_fee_units::text AS most
       FROM attempt a JOIN payout_leg l ON l.intent_id = a.intent_id WHERE l.batch_id = $1`,
    [id],
  );
  expect(rows).toHaveLength(2);
  for (const { raw, unit, data, most } of rows) {
    const { maxFeePerGas, gas } = parseTransaction(raw);
    expect([unit, data, maxFeePerGas]).toEqual(['3000000000', '1000000000', 2_000_000_000n]);
    expect(BigInt(most)).toBe(gas! * 3_000_000_000n);
  }
  await prices('2000000000', '0');
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('keeps no more under way than nodes hold', async () => {
  const id = await queued(Array.from({ length: 70 }, () => ['ETH', '0.01'] as const));
  await round(id);
  const count = async (status: string): Promise<number> => (await statuses(id)).filter((one) => one === status).length;
  expect([await count('broadcast'), await count('pending')]).toEqual([64, 6]);
  await round(id);
  expect(await count('pending')).toBe(6);
  await mine(id);
  await round(id);
  expect([await count('completed'), await count('broadcast')]).toEqual([64, 6]);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('returns what is reverted, and pays the others', async () => {
  const id = await queued([
    ['ETH', '0.01'],
    ['ETH', '0.02', 1],
  ]);
  await round(id);
  await db.query(
    `UPDATE attempt SET status = 'final', success = false, fee_units = 21000, height = 1
       WHERE intent_id = (SELECT intent_id FROM payout_leg WHERE batch_id = $1 AND row_index = 0)`,
    [id],
  );
  await db.query(
    `UPDATE intent SET status = 'failed' WHERE id = (SELECT intent_id FROM payout_leg WHERE batch_id = $1
       AND row_index = 0)`,
    [id],
  );
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
  expect(await statuses(id)).toEqual(['failed', 'completed']);
  expect((await linesOf(id))[0]!.merchant_message).toContain('reverted');
  expect([await batchStatus(id), await reserved('ETH')]).toEqual(['partially_completed', '0']);
  expect(await events(id)).toEqual(expect.arrayContaining(['leg_failed', 'leg_completed', 'completed']));
});

describe('a reorganisation takes back what was final', () => {
  /** The cursor is above what these tests have mined. */
  const above = (network: string, height: number) =>
    db.query('UPDATE chain_cursor SET height = $2, hash = $3 WHERE network = $1', [network, height, `h${height}`]);
  // Out of reach of the next one.
  afterEach(() => db.query('UPDATE attempt SET height = 1 WHERE height >= 1000'));
  const takenBack = async (network: 'bitcoin' | 'ethereum'): Promise<void> => {
    await db.query('DELETE FROM temporal_request');
    await above(network, 1000);
    const [from, ancestor] = [1000, 999].map((height) => ({ height, hash: `h${height}` }));
    await db.transaction((tx) => rollBack(tx, network, from!, ancestor!));
    await above(network, 100);
  };
  /** One of the transactions of a payment is final in a block. */
  async function final(
    line: PayoutLineRow,
    {
      n = 1,
      success = true,
      block = 'x',
      fee = 21_000n,
    }: { n?: number; success?: boolean; block?: string; fee?: bigint },
  ): Promise<void> {
    const [[attempt]] = (await db.query(
      `UPDATE attempt SET status = 'mined', block_hash = $3, height = 1000 WHERE intent_id = $1 AND n = $2 RETURNING *`,
      [line.intent_id, n, block],
    )) as [OpenAttempt[], number];
    await db.query(`UPDATE intent SET status = 'mined' WHERE id = $1`, [line.intent_id]);
    await db.transaction((tx) => finalizeAttempts(tx, [{ attempt: attempt!, success, feeUnits: fee }]));
    expect(await activities.payoutStep(line.batch_id)).toBeNull();
  }
  /** What the books say of an asset beyond what its transactions explain: the same before and after. */
  const beyond = async (currency: string): Promise<string> => {
    const found = (await audit(db, { settleMs: 1 })).filter(({ invariant }) => invariant === 'I5');
    const [, accounts, rows] =
      found
        .flatMap((one) => one.found.map((text) => /^(\w+): accounts (\S+), rows (\S+)$/.exec(text)!.slice(1)))
        .find(([asset]) => asset === currency) ?? [];
    return subtract(accounts ?? '0', rows ?? '0');
  };
  const available = async (currency: string): Promise<string> =>
    (
      await db.query(`SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1 AND asset = $2`, [
        `L:available:${merchantId}`,
        currency,
      ])
    )[0].amount;
  const clean = async (): Promise<void> =>
    expect(
      (await audit(db, { settleMs: 1 })).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant)),
    ).toEqual([]);
  const isRequested = async (id: string): Promise<boolean> =>
    (await db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [`payout-batch/${id}`])).length > 0;
  const txIds = async (line: PayoutLineRow): Promise<string[]> =>
    (await db.query('SELECT tx_id FROM attempt WHERE intent_id = $1 ORDER BY n', [line.intent_id])).map(
      (row: { tx_id: string }) => row.tx_id,
    );
  async function broadcast(rows: Parameters<typeof queued>[0]): Promise<{ id: string; first: PayoutLineRow }> {
    const id = await queued(rows);
    await round(id);
    return { id, first: (await linesOf(id))[0]! };
  }

  it('mined again: on its way, held, and completed once more, at the fee of now', async () => {
    const [beyondBefore, before] = [await beyond('ETH'), await reserved('ETH')];
    const { id, first } = await broadcast([['ETH', '0.01']]);
    for (const [block, fee] of [
      ['a', 21_000n],
      ['b', 25_000n],
      ['c', 19_000n],
      ['a', 21_000n],
    ] as const) {
      await final(first, { block, fee });
      expect([await statuses(id), await batchStatus(id)]).toEqual([['completed'], 'completed']);
      expect([await beyond('ETH'), await reserved('ETH')]).toEqual([beyondBefore, before]);
      await clean();
      await takenBack('ethereum');
      expect([await statuses(id), await batchStatus(id), await isRequested(id)]).toEqual([
        ['broadcast'],
        'processing',
        true,
      ]);
      expect([await beyond('ETH'), await reserved('ETH')]).toEqual([beyondBefore, '0.01']);
      await clean();
      expect(await activities.payoutStep(id)).toMatchObject({ sign: false, networks: ['ethereum'] });
    }
    await final(first, {});
    expect((await events(id)).slice(-5)).toEqual([
      'leg_completed',
      'completed',
      'processing',
      'leg_completed',
      'completed',
    ]);
    expect(await beyond('ETH')).toBe(beyondBefore);
  });

  it('mined again by a bumped transaction: the row names that one', async () => {
    const before = await beyond('ETH');
    const { id, first } = await broadcast([['ETH', '0.01']]);
    expect(await signer.bumpPayouts([{ id: first.intent_id!, attempts: 1 }])).toBe(1);
    await final(first, { n: 1 });
    await takenBack('ethereum');
    await final(first, { n: 2, fee: 30_000n });
    const [line] = await linesOf(id);
    expect([line!.status, line!.tx_id]).toEqual(['completed', (await txIds(first))[1]]);
    expect(await beyond('ETH')).toBe(before);
    await clean();
  });

  it('mined again and reverted, and then not: the money is back, and gone again', async () => {
    const before = [await beyond('ETH'), subtract(await available('ETH'), '0.00000000000003')];
    const { id, first } = await broadcast([['ETH', '0.01']]);
    await final(first, { success: true });
    const paid = await available('ETH');
    for (let n = 0; n < 2; n += 1) {
      await takenBack('ethereum');
      await final(first, { success: false, block: 'b', fee: 30_000n });
      expect([await statuses(id), await batchStatus(id), await reserved('ETH')]).toEqual([['failed'], 'failed', '0']);
      expect([await beyond('ETH'), await available('ETH')]).toEqual(before);
      await clean();
      await takenBack('ethereum');
      expect([await statuses(id), await batchStatus(id), await reserved('ETH')]).toEqual([
        ['broadcast'],
        'processing',
        '0.01',
      ]);
      expect((await linesOf(id))[0]!.merchant_message).toBeNull();
      await clean();
      await final(first, { success: true, block: 'c' });
      expect([await statuses(id), await batchStatus(id)]).toEqual([['completed'], 'completed']);
      expect([await beyond('ETH'), await available('ETH')]).toEqual([before[0], paid]);
      await clean();
    }
  });

  it('reverted first, and then not: completed, as if it had never failed', async () => {
    const before = await beyond('ETH');
    const { id, first } = await broadcast([['ETH', '0.01']]);
    await final(first, { success: false });
    await takenBack('ethereum');
    await final(first, { success: true, block: 'b', fee: 30_000n });
    expect([await statuses(id), await beyond('ETH'), await reserved('ETH')]).toEqual([['completed'], before, '0']);
    await clean();
    await takenBack('ethereum');
    await final(first, { success: true, block: 'c', fee: 31_000n });
    expect([await statuses(id), await beyond('ETH')]).toEqual([['completed'], before]);
  });

  it('what was returned and is spent cannot be held again: operators are told', async () => {
    const { id, first } = await broadcast([['ETH', '0.01']]);
    await final(first, { success: false });
    const all = await available('ETH');
    const spent = { debit: `L:available:${merchantId}`, credit: 'Q:capital', asset: 'ETH', amount: all } as const;
    await db.transaction((tx) => post(tx, { key: 'test/spent', entry: adjustment, postings: [spent] }));
    await takenBack('ethereum');
    expect([await statuses(id), await batchStatus(id)]).toEqual([['failed'], 'failed']);
    expect(await db.query('SELECT kind FROM incident WHERE key = $1', [`hold-gone/payout-line/${first.id}`])).toEqual([
      { kind: 'hold-gone' },
    ]);
    await clean();
    await final(first, { success: false, block: 'b' });
    expect(await statuses(id)).toEqual(['failed']);
    const back = { ...spent, debit: spent.credit, credit: spent.debit };
    await db.transaction((tx) => post(tx, { key: 'test/back', entry: adjustment, postings: [back] }));
  });

  it.each([1, 2])('coins for several, mined again as attempt %i: each held and completed, one fee', async (n) => {
    await holds('BTC', '1');
    const before = await beyond('BTC');
    const { id, first } = await broadcast([
      ['BTC', '0.01'],
      ['BTC', '0.02', 1],
      ['BTC', '0.03', 2],
    ]);
    if (n === 2) expect(await signer.bumpPayouts([{ id: first.intent_id!, attempts: 1 }])).toBe(1);
    await final(first, { n: 1, fee: 500n });
    expect(await beyond('BTC')).toBe(before);
    await takenBack('bitcoin');
    expect([await statuses(id), await batchStatus(id), await reserved('BTC')]).toEqual([
      ['broadcast', 'broadcast', 'broadcast'],
      'processing',
      '0.06',
    ]);
    expect(await beyond('BTC')).toBe(before);
    await clean();
    await final(first, { n, block: 'b', fee: 700n });
    expect([await statuses(id), await batchStatus(id), await reserved('BTC')]).toEqual([
      ['completed', 'completed', 'completed'],
      'completed',
      '0',
    ]);
    expect(new Set((await linesOf(id)).map((line) => line.tx_id))).toEqual(new Set([(await txIds(first))[n - 1]]));
    expect(await beyond('BTC')).toBe(before);
  });
});

describe('a process that dies', () => {
  const arm = (point: string) =>
    db.query(
      `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)
         ON CONFLICT (name) DO UPDATE SET remaining = 1`,
      [point],
    );
  beforeAll(() => armFailPoints(db));
  afterAll(disarmFailPoints);

  it('before what it has signed is stored: another signs, with the same nonces', async () => {
    const [before] = await db.query(`SELECT next_nonce FROM wallet_sequence WHERE address = $1`, [hot('ethereum')]);
    const id = await queued([
      ['ETH', '0.01'],
      ['ETH', '0.02', 1],
    ]);
    await activities.payoutStep(id);
    await arm('sign.beforeCommit');
    await expect(signer.signPayouts(id)).rejects.toThrow('Fail point');
    expect([await attempts(id), await statuses(id)]).toEqual([[], ['pending', 'pending']]);
    await Promise.all([signer.signPayouts(id), signer.signPayouts(id)]);
    const next: number = before?.next_nonce ?? 0;
    expect((await attempts(id)).map((one) => one.nonce)).toEqual([next, next + 1]);
    await round(id);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
  });

  it('before what is mined is booked: it is booked once', async () => {
    const id = await queued([['ETH', '0.01']]);
    await round(id);
    await mine(id);
    await arm('payout.beforeBooked');
    await expect(activities.payoutStep(id)).rejects.toThrow('Fail point');
    expect([await statuses(id), await reserved('ETH')]).toEqual([['broadcast'], '0.01']);
    await Promise.all([activities.payoutStep(id), activities.payoutStep(id)]);
    expect([await statuses(id), await reserved('ETH')]).toEqual([['completed'], '0']);
    const entries = await db.query(`SELECT FROM ledger_entry WHERE source_id = $1 AND type = 'payout_leg'`, [id]);
    expect(entries).toHaveLength(1);
  });
});

it('gives a node that has lost its pool the same bytes, and nothing back', async () => {
  const id = await queued([
    ['ETH', '0.01'],
    ['ETH', '0.02', 1],
  ]);
  await round(id);
  const [before, linesBefore] = [await reserved('ETH'), await linesOf(id)];
  sent.length = 0;
  nextNonce = 0; // the node has forgotten both
  for (let n = 0; n < 3; n += 1) await round(id);
  expect([sent.length, new Set(sent).size]).toEqual([6, 2]);
  expect([await reserved('ETH'), await linesOf(id)]).toEqual([before, linesBefore]);
  expect(await attempts(id)).toHaveLength(2);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('sends again of what a node took only what it does not have; after some blocks, all of it', async () => {
  const id = await queued([0, 1, 2].map((index) => ['ETH', '0.01', index] as const));
  await round(id);
  const nonces = (await attempts(id)).map((one) => one.nonce!);
  const again = async (): Promise<Array<number | null>> => {
    sent.length = 0;
    expect(await sender('ethereum').sendPayouts(id)).toMatchObject({ stuck: [], isLeft: false });
    return sent.map((raw) => codecs.ethereum.decode(raw).nonce);
  };
  nextNonce = nonces[2]! + 1; // it has them all
  expect(await again()).toEqual([]);
  nextNonce = nonces[1]!; // it has lost the last two
  expect(await again()).toEqual(nonces.slice(1));
  nextNonce = nonces[2]! + 1;
  await db.query(
    `UPDATE attempt a SET sent_at = sent_at - interval '61 seconds' FROM intent i WHERE i.id = a.intent_id
       AND i.owner_kind = 'payout-batch' AND i.owner_id = $1`,
    [id],
  );
  expect(await again()).toEqual(nonces);
  nextNonce = 0;
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it('of 500 payments pays the half that the treasury holds, and the rest when it holds more', async () => {
  await db.query(`UPDATE deposit SET amount = 0 WHERE currency = 'BTC'`);
  for (const coin of ['1.001', '1.001', '0.501']) await holds('BTC', coin); // with fees
  const id = await queued(Array.from({ length: 500 }, (_, n) => ['BTC', '0.01', n % 12] as const));
  const count = async (status: string): Promise<number> => (await statuses(id)).filter((one) => one === status).length;
  const until = async (): Promise<void> => {
    do {
      await round(id);
      await mine(id);
    } while ((await count('broadcast')) > 0);
  };
  await until();
  const half = await count('completed');
  expect(half).toBe(250);
  expect(await count('pending')).toBe(500 - half);
  expect((await activities.payoutStep(id))?.summary).toContain('the treasury has');
  const [alert] = await db.query(
    `SELECT count(*)::int AS n FROM incident WHERE kind = 'treasury-low' AND details->>'currency' = 'BTC'`,
  );
  expect(alert.n).toBeGreaterThan(0);
  // What went out is whole payments, each once.
  const paid = (await attempts(id)).flatMap((one) => one.outputs).filter((one) => one.address !== hot('bitcoin'));
  const nets = (await linesOf(id))
    .filter((line) => line.status === 'completed')
    .map((line) => toUnits(line.net_amount, 8));
  expect(paid.map((one) => BigInt(one.units))).toEqual(nets);
  expect(await reserved('BTC')).toBe(`${(500 - half) / 100}`);
  for (const coin of ['1.001', '1.001', '0.501']) await holds('BTC', coin);
  await until();
  expect([await count('completed'), await batchStatus(id), await reserved('BTC')]).toEqual([500, 'completed', '0']);
});

describe('an address is taken off the whitelist', () => {
  const off = async (currency: string, index: number) => {
    const [entry] = await db.query(
      'SELECT id FROM whitelist_entry WHERE currency = $1 AND address = $2 AND removed_at IS NULL',
      [currency, away(currency, index)],
    );
    await removeFromWhitelist(db.manager, merchantId, entry.id, user.id);
  };

  it.each(['ETH', 'BTC'])(
    '%s: before it is planned, or signed: it comes back, and the others are paid',
    async (currency) => {
      const id = await queued([
        [currency, '0.01', 8],
        [currency, '0.01', 9],
        [currency, '0.01', 0],
      ]);
      await holds(currency, '1');
      await off(currency, 8);
      await activities.payoutStep(id);
      expect(await statuses(id)).toEqual(['failed', 'pending', 'pending']);
      await off(currency, 9);
      await signer.signPayouts(id);
      await round(id);
      await round(id);
      expect(await statuses(id)).toEqual(['failed', 'failed', 'broadcast']);
      await mine(id);
      expect(await activities.payoutStep(id)).toBeNull();
      expect(await batchStatus(id)).toBe('partially_completed');
      expect((await linesOf(id))[1]!.merchant_message).toContain('whitelist');
      expect(await reserved(currency)).toBe('0');
      await list(currency, away(currency, 8));
      await list(currency, away(currency, 9));
    },
  );

  it('and put there again around its signature: it has come back all the same', async () => {
    const id = await queued([
      ['ETH', '0.01', 8],
      ['ETH', '0.01', 0],
    ]);
    await activities.payoutStep(id);
    await off('ETH', 8);
    await signer.signPayouts(id);
    await list('ETH', away('ETH', 8));
    expect([await statuses(id), await reserved('ETH')]).toEqual([['failed', 'processing'], '0.01']);
    await round(id);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
    expect(await batchStatus(id)).toBe('partially_completed');

    const alone = await queued([['ETH', '0.01', 8]]);
    await activities.payoutStep(alone);
    await off('ETH', 8);
    await signer.signPayouts(alone);
    await list('ETH', away('ETH', 8));
    expect([await statuses(alone), await batchStatus(alone), await activities.payoutStep(alone)]).toEqual([
      ['failed'],
      'failed',
      null,
    ]);
    expect(await db.query('SELECT FROM egress_admission WHERE ref = $1 AND released_at IS NULL', [alone])).toEqual([]);
  });

  it('after it is signed: it goes on', async () => {
    const id = await queued([['ETH', '0.01', 10]]);
    await round(id);
    await off('ETH', 10);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
    expect(await statuses(id)).toEqual(['completed']);
  });
});

it.each(['BTC', 'USDT_ERC20'])('%s: a want of the treasury is over once it is met, or cancelled', async (currency) => {
  const open = async (id: string): Promise<number> => {
    await db.transaction(resolveShortfalls);
    const found = `SELECT FROM incident WHERE kind = 'treasury-low' AND subject_kind = 'payout-batch'
        AND subject_id = $1
                        AND resolved_at IS NULL`;
    return (await db.query(found, [id])).length;
  };
  await db.query(`UPDATE deposit SET amount = 0 WHERE currency = $1`, [currency]);
  const row = [currency, '30'] as const;
  const [met, back] = [await queued([row]), await queued([row])];
  for (const id of [met, back]) await activities.payoutStep(id);
  expect([await open(met), await open(back)]).toEqual([1, 1]);
  await db.transaction((tx) => cancelBatch(tx, merchantId, back));
  expect([await open(met), await open(back)]).toEqual([1, 0]);
  await holds(currency, '95');
  await activities.payoutStep(met);
  expect(await open(met)).toBe(0);
  await db.transaction((tx) => cancelBatch(tx, merchantId, met));
});

it('waits where the treasury holds too little, and pays what it can', async () => {
  await db.query(`UPDATE deposit SET amount = 0 WHERE currency = 'USDT_ERC20'`);
  await holds('USDT_ERC20', '16'); // 11 were sent before
  const id = await queued([
    ['USDT_ERC20', '4'],
    ['USDT_ERC20', '4', 1],
  ]);
  await round(id);
  await mine(id);
  await round(id);
  expect(await statuses(id)).toEqual(['broadcast', 'pending']);
  await mine(id);
  const step = await activities.payoutStep(id);
  expect(step?.summary).toContain('the treasury has');
  expect(await db.query(`SELECT FROM incident WHERE kind = 'treasury-low'`)).not.toEqual([]);
  await holds('USDT_ERC20', '95');
  for (let n = 0; n < 3; n += 1) {
    await round(id);
    await mine(id);
  }
  expect(await activities.payoutStep(id)).toBeNull();
  expect(await batchStatus(id)).toBe('completed');
});

it('says that all is sent where a node takes the last one only when it is looked into', async () => {
  const id = await queued([['ETH', '0.01']]);
  await activities.payoutStep(id);
  await signer.signPayouts(id);
  let asked = 0;
  says = () => ((asked += 1) === 1 ? { outcome: 'refused', why: 'funds', reason: 'no' } : { outcome: 'accepted' });
  await sender('ethereum').sendPayouts(id);
  expect([asked, await statuses(id), (await events(id)).at(-1)]).toEqual([2, ['broadcast'], 'broadcast']);
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
});

it.each<[string, BroadcastAnswer]>([
  ['lost it', { outcome: 'refused', why: 'funds', reason: 'insufficient funds' }],
  ['wants more', { outcome: 'refused', why: 'fee', reason: 'max fee per gas less than block base fee' }],
])('sends again what a node has not taken: it %s', async (_what, answer) => {
  const id = await queued([
    ['ETH', '0.01'],
    ['ETH', '0.01', 1],
  ]);
  await activities.payoutStep(id);
  await signer.signPayouts(id);
  const [first] = await attempts(id);
  const [{ raw }] = await db.query('SELECT raw FROM attempt WHERE intent_id = $1', [first!.id]);
  says = (given) => (given === raw ? answer : { outcome: 'accepted' });
  const { stuck } = await sender('ethereum').sendPayouts(id);
  expect([await statuses(id), (await events(id)).includes('broadcast')]).toEqual([['processing', 'broadcast'], false]);
  expect(stuck).toEqual(answer.outcome === 'refused' && answer.why === 'fee' ? [{ id: first!.id, attempts: 1 }] : []);
  says = () => ({ outcome: 'accepted' });
  if (stuck.length) expect(await signer.bumpPayouts(stuck)).toBe(1);
  await sender('ethereum').sendPayouts(id);
  expect([await statuses(id), (await events(id)).at(-1)]).toEqual([['broadcast', 'broadcast'], 'broadcast']);
  const all = await attempts(id);
  expect(new Set(all.map((one) => one.nonce)).size).toBe(2);
  await db.query(
    `UPDATE attempt SET status = 'replaced' WHERE intent_id = $1
       AND n < (SELECT max(n) FROM attempt WHERE intent_id = $1)`,
    [first!.id],
  );
  await mine(id);
  expect(await activities.payoutStep(id)).toBeNull();
  expect(await batchStatus(id)).toBe('completed');
});

it.each<[string, string]>([
  [
    'another address',
    `UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', '"${away('ETH', 5)}"') WHERE id = $1`,
  ],
  ['another amount', `UPDATE intent SET outputs = jsonb_set(outputs, '{0,units}', '"1"') WHERE id = $1`],
  [
    'another output',
    `UPDATE intent SET outputs = outputs || '[{"address":"${away('ETH', 5)}","units":"1"}]' WHERE id = $1`,
  ],
  ['nobody behind it', `UPDATE intent SET owner_id = '${newId()}' WHERE id = $1`],
])('signs nothing of an intent with %s, and the others', async (_what, change) => {
  const id = await queued([
    ['ETH', '0.01'],
    ['ETH', '0.01', 1],
  ]);
  await activities.payoutStep(id);
  const [line] = await linesOf(id);
  await db.query(change, [line!.intent_id]);
  await signer.signPayouts(id);
  await expect(signer.signOnce(line!.intent_id!)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(await statuses(id)).toEqual(['pending', 'processing']);
  expect(await db.query('SELECT FROM attempt WHERE intent_id = $1', [line!.intent_id])).toEqual([]);
  await db.query(`UPDATE intent SET status = 'dead' WHERE id = $1`, [line!.intent_id]);
  const back = await db.transaction((tx) => cancelBatch(tx, merchantId, id));
  expect([back.refundedLegs, back.sentLegs, back.row.status]).toEqual([1, 1, 'processing']);
});

it('what a row pays can no longer be changed', async () => {
  const id = await queued([['ETH', '0.01']]);
  for (const change of [
    `address = '${away('ETH', 5)}'`,
    'amount = 1, net_amount = 1 - network_fee',
    `currency = 'BTC'`,
  ])
    await expect(db.query(`UPDATE payout_leg SET ${change} WHERE batch_id = $1`, [id])).rejects.toThrow(
      'may not change',
    );
  await db.transaction((tx) => cancelBatch(tx, merchantId, id));
  await expect(
    db.query(`UPDATE payout_leg SET status = 'pending', state_version = 9 WHERE batch_id = $1`, [id]),
  ).rejects.toThrow('may not go from refunded to pending');
});

it('waits for a second person above the limit, and is refused above the day’s', async () => {
  await setLimits(db.manager, merchantId, { dailyUsd: '100000000', hourlyCount: null, approvalUsd: '50' }, 'test', 0);
  const id = await queued([['ETH', '0.1']]);
  expect(await batchStatus(id)).toBe('awaiting_approval');
  expect(await activities.payoutStep(id)).toBeNull();
  const approve = (by: Approver) => db.transaction((tx) => approveBatch(tx, merchantId, id, by));
  await expect(approve({ ...user, coolingOffHours: 0 })).rejects.toMatchObject({ code: 'SECOND_PERSON' });
  const bob = anApprover('bob@shop.example');
  expect((await approve(bob)).row).toMatchObject({ status: 'queued', approved_by: bob.email });
  expect((await approve(bob)).row.status).toBe('queued');
  await round(id);
  expect(await statuses(id)).toEqual(['broadcast']);
  await setLimits(db.manager, merchantId, { dailyUsd: '1', hourlyCount: null, approvalUsd: null }, 'test', 0);
  await expect(queued([['ETH', '0.1']])).rejects.toMatchObject({ code: 'EGRESS_LIMIT' });
  await db.query('DELETE FROM egress_limit');
});

describe('a database that was restored from an old backup', () => {
  const chainAt = (height: number) =>
    db.query(`UPDATE chain_cursor SET height = $1 WHERE network = 'ethereum'`, [height]);
  const frozen = () =>
    db.query(`SELECT address, frozen_reason FROM wallet_sequence WHERE frozen_reason IS NOT NULL`) as Promise<
      Array<{ frozen_reason: string }>
    >;

  beforeAll(() => db.query('UPDATE attempt SET sent_at = now() WHERE sent_at IS NULL')); // by the tests above

  it('sends nothing of a wallet whose nonces the chain knows better, and freezes it', async () => {
    // What it no longer knows has used the first nonce; what is paid first now is another payment, and its own has the
    // next.
    const id = await queued([
      ['ETH', '0.01'],
      ['ETH', '0.02', 1],
    ]);
    await activities.payoutStep(id);
    await signer.signPayouts(id);
    const [first, second] = await attempts(id);
    nextNonce = first!.nonce! + 1;
    sent.length = 0;
    await chainAt(100);
    expect(await sender('ethereum').sendPayouts(id)).toMatchObject({ stuck: [], isLeft: false });
    await chainAt(102);
    await sender('ethereum').sendPayouts(id);
    expect([sent, await frozen()]).toEqual([[], []]);
    await chainAt(103);
    await sender('ethereum').sendPayouts(id);
    expect([sent, await statuses(id)]).toEqual([[], ['processing', 'processing']]);
    expect((await frozen())[0]!.frozen_reason).toContain('None of our transactions');
    expect(await db.query(`SELECT FROM incident WHERE kind = 'wallet-frozen'`)).not.toEqual([]);
    const another = await queued([['ETH', '0.01', 2]]);
    await activities.payoutStep(another);
    expect(await signer.signPayouts(another)).toMatchObject({ stored: 0 });
    await db.transaction((tx) => cancelBatch(tx, merchantId, another));

    // Somebody has found out that the node was wrong.
    nextNonce = first!.nonce!;
    await db.query('UPDATE wallet_sequence SET frozen_reason = NULL');
    await sender('ethereum').sendPayouts(id);
    expect(new Set(sent).size).toBe(2);
    expect(second!.nonce).toBe(first!.nonce! + 1);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
  });

  it('asks again about a wallet whose next nonce was used before it was signed for', async () => {
    const id = await queued([['ETH', '0.01']]);
    await activities.payoutStep(id);
    const [wallet] = await db.query('SELECT next_nonce FROM wallet_sequence WHERE address = $1', [hot('ethereum')]);
    nextNonce = wallet.next_nonce + 1;
    sent.length = 0;
    const sending = sender('ethereum').sendPayouts(id, true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await signer.signPayouts(id)).toMatchObject({ stored: 1 });
    await sending;
    expect([sent, await statuses(id)]).toEqual([[], ['processing']]);

    // Somebody has found out that the node was wrong.
    nextNonce = wallet.next_nonce;
    await sender('ethereum').sendPayouts(id);
    expect(sent).toHaveLength(1);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
  });

  it('goes on with what a node has and no row says so', async () => {
    const id = await queued([['ETH', '0.01']]);
    await activities.payoutStep(id);
    await signer.signPayouts(id);
    const [one] = await attempts(id);
    const [{ tx_id }] = await db.query('SELECT tx_id FROM attempt WHERE intent_id = $1', [one!.id]);
    known.add(tx_id);
    nextNonce = one!.nonce! + 1;
    says = () => ({ outcome: 'known' });
    await sender('ethereum').sendPayouts(id);
    expect(await statuses(id)).toEqual(['broadcast']);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
    nextNonce = 0;
  });

  it.each([
    [
      'until the chain is read to its end',
      `UPDATE chain_cursor SET scanned_through = now() - interval '1 day'`,
      `UPDATE chain_cursor SET scanned_through = 'infinity'`,
    ],
    [
      'while its asset is stopped, as by a coin that it does not know to be spent',
      `INSERT INTO egress_freeze (currency, reason) VALUES ('BTC', 'Coin x was spent by y')`,
      'DELETE FROM egress_freeze',
    ],
  ])('sends no coins %s', async (_what, stop, heal) => {
    await holds('BTC', '1');
    const id = await queued([['BTC', '0.01']]);
    await activities.payoutStep(id);
    await signer.signPayouts(id);
    await db.query(stop);
    sent.length = 0;
    await sender('bitcoin').sendPayouts(id);
    expect([sent, await statuses(id)]).toEqual([[], ['processing']]);
    await db.query(heal);
    await sender('bitcoin').sendPayouts(id);
    expect(await statuses(id)).toEqual(['broadcast']);
    // Bytes that a node was given once are given again, whatever happens.
    await db.query(stop);
    await sender('bitcoin').sendPayouts(id);
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(1);
    await db.query(heal);
    await mine(id);
    expect(await activities.payoutStep(id)).toBeNull();
  });
});

it('200 times cancelled while it is being signed: each hold is captured or released, never both', async () => {
  const ends = { refunded: 0, processing: 0 };
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < 200; n += 4) {
      const currency = n % 4 === 3 ? 'BTC' : 'ETH';
      if (currency === 'BTC') await holds('BTC', '0.1');
      const id = await queued([
        [currency, '0.001'],
        [currency, '0.001', 1],
      ]);
      await activities.payoutStep(id);
      const cancel = async () => {
        await new Promise((resolve) => setTimeout(resolve, (n % 10) * 3));
        return patiently(() => db.transaction((tx) => cancelBatch(tx, merchantId, id))).catch(
          (error: { code: string }) => error.code,
        );
      };
      const [, cancelled] = await Promise.all([patiently(() => signer.signPayouts(id)), cancel()]);
      const now = await statuses(id);
      for (const status of now) ends[status as keyof typeof ends] += 1;
      expect(now.every((status) => status in ends)).toBe(true);
      const signed = (await attempts(id))
        .flatMap((one) => one.outputs)
        .filter((output) => output.address !== hot('bitcoin'));
      expect(signed).toHaveLength(now.filter((status) => status === 'processing').length);
      if (typeof cancelled === 'string')
        expect([cancelled, now]).toEqual(['BATCH_NOT_CANCELLABLE', ['processing', 'processing']]);
      else expect(cancelled.refundedLegs + cancelled.sentLegs).toBe(2);
    }
  };
  await Promise.all([0, 1, 2, 3].map(lane));
  expect(ends.refunded).toBeGreaterThan(20);
  expect(ends.processing).toBeGreaterThan(20);
});
