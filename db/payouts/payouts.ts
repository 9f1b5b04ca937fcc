import type { EntityManager } from 'typeorm';
import { assetOf, findAsset, networkOf, type Currency, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec, KeyPath } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { holdJournal, releaseJournal } from '../../domain/ledger/ledger';
import { add, fit, trim } from '../../domain/money';
import {
  batchStatusOf,
  judgeBatch,
  legStatuses,
  viewBatch,
  viewLeg,
  viewRow,
  type BatchRow,
  type BatchStatus,
  type JudgedBatch,
  type LegCounts,
  type LegRow,
  type LegStatus,
  type PayoutEventType,
  type PayoutRow,
} from '../../domain/payouts/payout';
import { admitEgress, readmit, releaseAdmission } from '../limits/egress';
import { emitEvents } from '../webhooks/events';
import { dropIntents, type IntentRow } from '../txmanager/intents';
import { ensureEnds, postAll, reverseEnd } from '../ledger/ledger';
import { pricesNow, type Queryable } from '../pricing/pricing';
import { changedRows } from '../query';
import { contentHash, spend } from '../records';
import { requestSignal } from '../temporal/temporal-requests';

export const payoutWorkflow = (batchId: string): string => `payout-batch/${batchId}`;

type Deps = Readonly<{
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'normalise'>>>;
  rateMaxAgeSeconds: number;
}>;

/** Judges rows by the facts of now. With `lock` the whitelist entries that let them pass stay until the transaction ends. */
export async function judge(
  tx: Queryable,
  { codecs, rateMaxAgeSeconds }: Deps,
  merchantId: string,
  rows: readonly PayoutRow[],
  lock = false,
): Promise<JudgedBatch> {
  const spellings = new Map<string, string | null>();
  for (const row of rows) {
    const network = findAsset(row.currency.trim().toUpperCase())?.network;
    const address = row.address.trim();
    if (network) spellings.set(`${network} ${address}`, codecs[network].normalise(address));
  }
  const addresses = [...new Set([...spellings.values()].filter((one) => one !== null))];
  const ours = new Set(
    (
      await tx.query<Array<{ key: string }>>(
        `SELECT network || ' ' || address AS key FROM address WHERE address = ANY($1)`,
        [addresses],
      )
    ).map((row) => row.key),
  );
  const listed = new Set(
    (
      await tx.query<Array<{ currency: string; address: string; destination_tag: string | null }>>(
        `SELECT currency, address, destination_tag FROM whitelist_entry WHERE merchant_id = $1 AND type = 'wallet' AND address = ANY($2)
            AND active_at <= now() AND removed_at IS NULL ${lock ? 'FOR SHARE' : ''}`,
        [merchantId, addresses],
      )
    ).map(({ currency, address, destination_tag }) => keyOf(currency, address, destination_tag)),
  );
  const fees = new Map(
    (
      await tx.query<Array<{ network: string; unit_price: string }>>(
        `SELECT network, unit_price::text FROM network_fee WHERE taken_at > now() - interval '10 minutes'`,
      )
    ).map((row) => [row.network, row.unit_price]),
  );
  const prices = await pricesNow(tx, { merchantId: null, fiat: 'USD', maxAgeSeconds: rateMaxAgeSeconds });
  const balances = await tx.query<Array<{ asset: string; amount: string }>>(
    'SELECT asset, amount::text FROM balance WHERE account = $1',
    [`L:available:${merchantId}`],
  );
  return judgeBatch(rows, {
    priceOf(currency) {
      const unitPrice = fees.get(assetOf(currency).network);
      const nativeRate = networkOf(currency).native === currency ? '1' : prices.get(currency)?.nativeRate;
      return unitPrice === undefined || nativeRate === undefined ? undefined : { unitPrice, nativeRate };
    },
    normalise({ network }, address) {
      const spelt = spellings.get(`${network} ${address}`) ?? null;
      return spelt === null || ours.has(`${network} ${spelt}`) ? null : spelt;
    },
    isListed: (currency, address, tag) => listed.has(keyOf(currency, address, tag)),
    balances: Object.fromEntries(balances.map(({ asset, amount }) => [asset, trim(amount)])),
  });
}
const keyOf = (currency: string, address: string, tag: string | null): string =>
  JSON.stringify([currency, address, tag]);

export type NewBatch = Readonly<{ rows: readonly PayoutRow[]; label?: string; idempotencyKey?: string }>;

const hashOf = (rows: readonly PayoutRow[]): string =>
  contentHash(rows.map((row) => [row.currency, row.address, row.amount, row.destinationTag ?? null]));

/** The batch that came with this key before; null where there is none. Throws IDEMPOTENCY_KEY_REUSED where its rows were others. */
export async function findQueued(db: Queryable, merchantId: string, ask: NewBatch): Promise<BatchRow | null> {
  if (ask.idempotencyKey === undefined) return null;
  const [row] = await db.query<BatchRow[]>(
    'SELECT * FROM payout_batch WHERE merchant_id = $1 AND idempotency_key = $2',
    [merchantId, ask.idempotencyKey],
  );
  if (row && row.rows_hash !== hashOf(ask.rows)) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
  return row ?? null;
}

/** What a leg holds in the ledger; in the merchant's book it is of its batch. */
export const holdOfLeg = (leg: LegRow) => ({
  kind: 'leg' as const,
  id: leg.id,
  merchantId: leg.merchant_id,
  currency: leg.currency,
  gross: fit(leg.amount, 18, 'down'),
  sourceId: leg.batch_id,
});
/** Balances are locked currency by currency, always in the same order. */
export const byCurrency = (legs: readonly LegRow[]): LegRow[] =>
  legs.toSorted((a, b) => (a.currency === b.currency ? a.row_index - b.row_index : a.currency < b.currency ? -1 : 1));

/** J7 of legs that nothing will be sent for. */
export const giveBackLegs = (tx: EntityManager, legs: readonly LegRow[]): Promise<void> =>
  ensureEnds(
    tx,
    byCurrency(legs).map((leg) => releaseJournal(holdOfLeg(leg))),
  );

/** Queues a batch: every row or none, with a hold for each, in the caller's transaction. The same key finds the first one.
 *  Throws BATCH_INVALID, INSUFFICIENT_BALANCE, IDEMPOTENCY_KEY_REUSED. */
export async function queueBatch(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  user: Readonly<{ id: string; email: string }>,
  ask: NewBatch,
): Promise<{ row: BatchRow; counts: LegCounts; replayed: boolean }> {
  const first = await findQueued(tx, merchantId, ask);
  if (first) return { row: first, counts: await countLegs(tx, first.id), replayed: true };
  const judged = await judge(tx, deps, merchantId, ask.rows, true);
  if (!judged.legs.length || judged.legs.length < ask.rows.length)
    throw new DomainError('BATCH_INVALID', undefined, { rows: judged.rows.map(viewRow) });
  if (judged.overBalanceCurrencies.length) throw new DomainError('INSUFFICIENT_BALANCE');
  const id = newId();
  const [row] = await tx.query<BatchRow[]>(
    `INSERT INTO payout_batch (id, merchant_id, status, label, idempotency_key, rows_hash, row_count, totals, fees, created_by, created_by_id)
     VALUES ($1, $2, 'awaiting_approval', $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (merchant_id, idempotency_key) DO NOTHING RETURNING *`,
    [
      id,
      merchantId,
      ask.label || null,
      ask.idempotencyKey ?? null,
      hashOf(ask.rows),
      ask.rows.length,
      judged.totalsByCurrency,
      judged.feeByCurrency,
      user.email,
      user.id,
    ],
  );
  // Two with one key at once: the other was first.
  if (!row) return queueBatch(tx, deps, merchantId, user, ask);
  const { needsApproval } = await admitEgress(tx, {
    kind: 'mass_payout',
    ref: id,
    merchantId,
    amounts: Object.entries(judged.totalsByCurrency).map(([currency, amount]) => ({ currency, amount })),
    rateMaxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  const legs = await tx.query<LegRow[]>(
    `INSERT INTO payout_leg (id, batch_id, merchant_id, row_index, currency, network, address, destination_tag, amount, network_fee, net_amount)
     SELECT l.id, $1, $2, l.row_index, l.currency, l.network, l.address, l.destination_tag, l.amount, l.network_fee, l.net_amount
       FROM jsonb_to_recordset($3::jsonb) AS l (id char(24), row_index integer, currency text, network text, address text, destination_tag text,
         amount numeric, network_fee numeric, net_amount numeric)
     RETURNING *`,
    [
      row.id,
      merchantId,
      JSON.stringify(
        judged.legs.map((leg) => ({
          id: newId(),
          row_index: leg.rowIndex,
          currency: leg.currency,
          network: assetOf(leg.currency).network,
          address: leg.address,
          destination_tag: leg.destinationTag,
          amount: leg.amount,
          network_fee: leg.networkFee,
          net_amount: leg.net,
        })),
      ),
    ],
  );
  await hold(tx, legs);
  const counts = countsOf([{ status: 'pending', n: legs.length }]);
  const made = needsApproval ? row : await letGo(tx, row, null);
  await announceBatch(tx, made, counts, 'mass_payout.created');
  return { row: made, counts, replayed: false };
}

/** From here on it is signed. `by`: who let it go, where that is another than who queued it. */
async function letGo(tx: EntityManager, batch: BatchRow, by: string | null): Promise<BatchRow> {
  const [row] = await changedRows<BatchRow>(
    tx,
    `UPDATE payout_batch SET status = 'queued', approved_by = $3, approved_at = clock_timestamp(), updated_at = clock_timestamp(),
            state_version = state_version + CASE WHEN $3::text IS NULL THEN 0 ELSE 1 END
      WHERE id = $1 AND status = 'awaiting_approval' AND state_version = $2 RETURNING *`,
    [batch.id, batch.state_version, by],
  );
  if (!row) throw new Error(`Payout ${batch.id} does not wait for an approval`);
  await requestPayout(tx, row);
  return row;
}

/** Lets go what waits for a second person. Of one that a second person has let go already the same again, `replayed`.
 *  Throws BATCH_NOT_FOUND, BATCH_STATE, SECOND_PERSON. */
export async function approveBatch(
  tx: EntityManager,
  merchantId: string,
  id: string,
  user: Readonly<{ id: string; email: string }>,
): Promise<{ row: BatchRow; counts: LegCounts; replayed: boolean }> {
  const batch = await lockBatch(tx, id);
  if (!batch || batch.merchant_id !== merchantId) throw new DomainError('BATCH_NOT_FOUND');
  const counts = await countLegs(tx, id);
  if (batch.approved_by !== null && batch.status !== 'cancelled') return { row: batch, counts, replayed: true };
  if (batch.status !== 'awaiting_approval') throw new DomainError('BATCH_STATE');
  if (batch.created_by_id === user.id) throw new DomainError('SECOND_PERSON');
  return { row: await letGo(tx, batch, user.email), counts, replayed: false };
}

async function hold(tx: EntityManager, legs: readonly LegRow[]): Promise<void> {
  const holds = byCurrency(legs).map((leg) => holdJournal(holdOfLeg(leg)));
  await spend(postAll(tx, holds));
}

const requestPayout = (tx: EntityManager, row: BatchRow): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'payoutBatch',
    workflowId: payoutWorkflow(row.id),
    args: [row.id],
    signal: 'news',
    attributes: { MerchantId: row.merchant_id, summary: `Mass payout of ${row.row_count} payments` },
  });

const countsOf = (rows: ReadonlyArray<{ status: LegStatus; n: number }>): LegCounts => ({
  ...(Object.fromEntries(legStatuses.map((status) => [status, 0])) as LegCounts),
  ...Object.fromEntries(rows.map(({ status, n }) => [status, n])),
});
export async function countLegs(db: Queryable, batchId: string): Promise<LegCounts> {
  return countsOf(
    await db.query('SELECT status, count(*)::int AS n FROM payout_leg WHERE batch_id = $1 GROUP BY status', [batchId]),
  );
}

/** The batch, locked until the transaction ends; null where there is none. Whoever changes a leg holds this lock: signing and
 *  calling back exclude each other. Lock order: batch, intent, wallet. */
export async function lockBatch(tx: EntityManager, id: string): Promise<BatchRow | null> {
  const [row] = await tx.query<BatchRow[]>('SELECT * FROM payout_batch WHERE id = $1 FOR UPDATE', [id]);
  return row ?? null;
}

export const legsOf = (
  tx: Queryable,
  batchId: string,
  statuses: readonly LegStatus[] = legStatuses,
): Promise<LegRow[]> =>
  tx.query<LegRow[]>('SELECT * FROM payout_leg WHERE batch_id = $1 AND status = ANY($2) ORDER BY row_index', [
    batchId,
    statuses,
  ]);

/** A payment as the signer reads it beside others; amounts as decimal strings. */
export type DueLeg = Pick<
  LegRow,
  'id' | 'intent_id' | 'network' | 'currency' | 'address' | 'destination_tag' | 'net_amount'
>;
export type DueIntent = Pick<
  IntentRow,
  'id' | 'network' | 'currency' | 'from_address' | 'outputs' | 'max_unit_price' | 'fee_budget'
>;
/** What transfers of one payout from one address are judged by. */
export type ToSign = Readonly<{
  status: BatchStatus;
  intents: DueIntent[];
  legs: DueLeg[];
  isListed: (leg: DueLeg) => boolean;
  isFrozen: boolean;
  /** Its limits have let it be signed. */
  isAdmitted: boolean;
  /** null where it is frozen, or not admitted yet. */
  nonce: number | null;
  walletFrozen: string | null;
  key: KeyPath | null;
  price: Readonly<{ unitPrice: string; tipPrice: string }> | null;
}>;

/** Everything that the signer looks at, and locks, of planned transfers; null where there is nothing to sign. Lock order as ever: batch,
 *  intents, whitelist, freezes, wallet; the limits, where it is not admitted yet, are the caller's to ask before he asks again. */
export async function payoutToSign(
  tx: EntityManager,
  batchId: string,
  intentIds: readonly string[],
): Promise<ToSign | null> {
  type Found = Omit<ToSign, 'isListed' | 'intents'> & {
    intents: Array<Omit<DueIntent, 'fee_budget'>>;
    listed: Array<[currency: string, address: string, tag: string | null]>;
  };
  const [row] = await tx.query<Array<{ found: Found | null; budgets: Record<string, string> }>>(
    `SELECT payout_to_sign($1, $2) AS found,
            (SELECT jsonb_object_agg(id, fee_budget::text) FROM intent WHERE id = ANY($2)) AS budgets`,
    [batchId, intentIds],
  );
  if (!row?.found) return null;
  const { listed, ...found } = row.found;
  const rest = { ...found, intents: found.intents.map((one) => ({ ...one, fee_budget: row.budgets[one.id]! })) };
  const keys = new Set(listed.map(([currency, address, tag]) => keyOf(currency, address, tag)));
  return { ...rest, isListed: (leg) => keys.has(keyOf(leg.currency, leg.address, leg.destination_tag)) };
}

export type SignedTransfer = Readonly<{
  intent_id: string;
  leg_id: string;
  tx_id: string;
  raw: string;
  nonce: number;
  unit_price: string;
  max_fee_units: string;
  moved_units: string;
  outputs: ReadonlyArray<{ address: string; units: string }>;
}>;

/** Keeps signed transfers with nonces in a row: attempts, wallet, intents and payments, or nothing. */
export const storeSigned = (
  tx: EntityManager,
  of: Readonly<{ network: string; from_address: string }>,
  rows: readonly SignedTransfer[],
): Promise<unknown> =>
  tx.query('SELECT store_payout_signatures($1, $2, $3)', [of.network, of.from_address, JSON.stringify(rows)]);

/** A node has these attempts. */
export async function noteSent(tx: EntityManager, batchId: string, attemptIds: readonly string[]): Promise<void> {
  const [row] = await tx.query<Array<{ changes: boolean }>>('SELECT note_payout_sent($1, $2) AS changes', [
    batchId,
    attemptIds,
  ]);
  const batch = row!.changes ? await lockBatch(tx, batchId) : null;
  if (batch) await refreshBatch(tx, batch);
}

/** What is planned of a batch and can be signed now: tokens wait until their gas is in the chain. */
export const unsignedOf = (
  tx: Queryable,
  batchId: string,
): Promise<Array<Pick<IntentRow, 'id' | 'kind' | 'network' | 'currency' | 'from_address'>>> =>
  tx.query(
    `SELECT i.id, i.kind, i.network, i.currency, i.from_address FROM intent i WHERE i.owner_workflow = $1 AND i.status = 'planned' AND NOT EXISTS (
       SELECT FROM intent g WHERE g.owner_workflow = $1 AND g.kind = 'gas' AND g.status IN ('planned', 'stored', 'sent') AND g.id < i.id
          AND i.kind <> 'gas' AND i.network = g.network AND i.currency <> g.currency AND i.from_address = g.outputs->0->>'address') ORDER BY i.id`,
    [payoutWorkflow(batchId)],
  );

/** The one way legs change: together, each one version further. Journals and events are the caller's, who holds the batch's lock.
 *  Throws where one of them is no longer as it was read. */
export async function moveLegs(
  tx: EntityManager,
  legs: readonly LegRow[],
  to: LegStatus,
  patch: Partial<Pick<LegRow, 'tx_id' | 'merchant_message' | 'intent_id'>> = {},
): Promise<LegRow[]> {
  if (!legs.length) return [];
  const columns = Object.keys(patch) as Array<keyof typeof patch>;
  const rows = await changedRows<LegRow>(
    tx,
    `UPDATE payout_leg l SET status = $3, state_version = l.state_version + 1, updated_at = clock_timestamp()
            ${columns.map((column, index) => `, ${column} = $${index + 4}`).join('')}
       FROM unnest($1::text[], $2::text[]) AS was (id, status) WHERE l.id = was.id AND l.status = was.status RETURNING l.*`,
    [legs.map((leg) => leg.id), legs.map((leg) => leg.status), to, ...columns.map((column) => patch[column])],
  );
  if (rows.length !== legs.length) throw new Error(`Legs of payout ${legs[0]!.batch_id} have changed meanwhile`);
  return rows;
}

/** Those of `legs` whose address is not on the whitelist now. The entries of the others stay until the transaction ends: a removal
 *  waits, and one that came first is seen. */
export async function unlistedLegs(tx: EntityManager, legs: readonly LegRow[]): Promise<LegRow[]> {
  const rows = await tx.query<Array<{ currency: string; address: string; destination_tag: string | null }>>(
    `SELECT currency, address, destination_tag FROM whitelist_entry WHERE merchant_id = $1 AND type = 'wallet' AND address = ANY($2)
        AND active_at <= now() AND removed_at IS NULL FOR SHARE`,
    [legs[0]?.merchant_id, legs.map((leg) => leg.address)],
  );
  const listed = new Set(rows.map((row) => keyOf(row.currency, row.address, row.destination_tag)));
  return legs.filter((leg) => !listed.has(keyOf(leg.currency, leg.address, leg.destination_tag)));
}

/** Enqueues an event per leg. Call last in the transaction, before the batch's own. */
export const announceLegs = (
  tx: EntityManager,
  legs: readonly LegRow[],
  type: 'mass_payout.leg_completed' | 'mass_payout.leg_failed',
): Promise<void> =>
  emitEvents(
    tx,
    legs.map((leg) => ({
      merchantId: leg.merchant_id,
      type,
      entityId: leg.id,
      stateVersion: leg.state_version,
      data: JSON.stringify({ ...viewLeg(leg), massPayoutId: leg.batch_id }),
      previous: {},
    })),
  );

const announceBatch = (
  tx: EntityManager,
  row: BatchRow,
  counts: LegCounts,
  type: PayoutEventType,
  before?: BatchStatus,
): Promise<void> =>
  emitEvents(tx, [
    {
      merchantId: row.merchant_id,
      type,
      entityId: row.id,
      stateVersion: row.state_version,
      data: JSON.stringify(viewBatch(row, counts)),
      previous: before === undefined || before === row.status ? {} : { status: before },
    },
  ]);

const isLost = (status: BatchStatus): boolean => status === 'failed' || status === 'cancelled';
const events: Partial<Record<BatchStatus, PayoutEventType>> = {
  processing: 'mass_payout.processing',
  completed: 'mass_payout.completed',
  partially_completed: 'mass_payout.completed',
  failed: 'mass_payout.failed',
  cancelled: 'mass_payout.cancelled',
};

/** Makes a batch say what its legs say, with an event for what is new. Where nothing of it will leave any more, it no longer counts against
 *  the day's limits. Call last in the transaction. */
export async function refreshBatch(
  tx: EntityManager,
  batch: BatchRow,
  { isCancelled = false }: { isCancelled?: boolean } = {},
): Promise<BatchRow> {
  const counts = await countLegs(tx, batch.id);
  const stands = batchStatusOf(counts);
  const status = stands === 'queued' && !batch.approved_at ? 'awaiting_approval' : stands;
  const isEnd = !['awaiting_approval', 'queued', 'processing'].includes(status);
  const isSent = counts.pending + counts.processing === 0 && counts.broadcast > 0;
  if (status === batch.status && !isCancelled && (!isSent || batch.sent_at)) return batch;
  const told: PayoutEventType[] = [];
  if (status !== batch.status && status !== 'cancelled' && events[status]) told.push(events[status]);
  if (isCancelled || (status === 'cancelled' && batch.status !== 'cancelled')) told.push('mass_payout.cancelled');
  const [row] = await changedRows<BatchRow>(
    tx,
    `UPDATE payout_batch SET status = $2, state_version = state_version + 1, updated_at = clock_timestamp(),
            completed_at = CASE WHEN $3 THEN coalesce(completed_at, clock_timestamp()) END,
            sent_at = CASE WHEN $4 THEN coalesce(sent_at, clock_timestamp()) ELSE sent_at END,
            cancelled_at = CASE WHEN $5 THEN clock_timestamp() ELSE cancelled_at END
      WHERE id = $1 AND state_version = $6 RETURNING *`,
    [batch.id, status, isEnd, isSent, isCancelled, batch.state_version],
  );
  if (!row) throw new Error(`Payout ${batch.id} is no longer at version ${batch.state_version}`);
  if (isLost(status)) await releaseAdmission(tx, 'mass_payout', batch.id);
  else if (isLost(batch.status)) await readmit(tx, 'mass_payout', batch.id);
  if (isSent && batch.sent_at === null) told.push('mass_payout.broadcast');
  for (const type of told) await announceBatch(tx, row, counts, type, batch.status);
  return row;
}

/** Payments whose transactions the blocks above `height` had brought to their end, completed or reverted, are on their way again: their
 *  ends in the ledger are mirrored. What came back and is spent stays failed. Call before the transactions themselves are put back.
 *  Invariants: 5, step 6. */
export async function reopenLegs(tx: EntityManager, network: string, height: number): Promise<void> {
  const gone = await tx.query<Array<{ batch_id: string; intent_ids: string[] }>>(
    `SELECT l.batch_id, array_agg(DISTINCT l.intent_id::text) AS intent_ids
       FROM attempt a JOIN intent i ON i.id = a.intent_id AND i.kind = 'leg' JOIN payout_leg l ON l.intent_id = i.id
      WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' AND l.status IN ('completed', 'failed') GROUP BY 1 ORDER BY 1`,
    [network, height],
  );
  for (const { batch_id, intent_ids } of gone) {
    const batch = (await lockBatch(tx, batch_id))!;
    const ended = (await legsOf(tx, batch_id, ['completed', 'failed'])).filter((leg) =>
      intent_ids.includes(leg.intent_id ?? ''),
    );
    const reopened: LegRow[] = [];
    for (const leg of byCurrency(ended)) if (await reverseEnd(tx, holdOfLeg(leg))) reopened.push(leg);
    if (!reopened.length) continue;
    await moveLegs(tx, reopened, 'broadcast', { merchant_message: null });
    await refreshBatch(tx, batch);
  }
}

export type Cancelled = Readonly<{
  row: BatchRow;
  refundedLegs: number;
  refundedByCurrency: Readonly<Record<Currency, string>>;
  sentLegs: number;
  /** It was done before, and nothing was done now. */
  replayed: boolean;
}>;

/** Calls back what is not signed: J7 for each of its legs. Signing takes the same lock, so that each leg has one of the two ends.
 *  Of one that was called back before the same again. Throws BATCH_NOT_FOUND, BATCH_NOT_CANCELLABLE. */
export async function cancelBatch(tx: EntityManager, merchantId: string, id: string): Promise<Cancelled> {
  const batch = await lockBatch(tx, id);
  if (!batch || batch.merchant_id !== merchantId) throw new DomainError('BATCH_NOT_FOUND');
  const pending = await legsOf(tx, id, ['pending']);
  if (!pending.length && !batch.cancelled_at) throw new DomainError('BATCH_NOT_CANCELLABLE');
  let row = batch;
  if (pending.length) {
    const refunded = await moveLegs(tx, pending, 'refunded', { intent_id: null });
    await dropIntents(tx, payoutWorkflow(id));
    await giveBackLegs(tx, refunded);
    if (batch.approved_at) await requestPayout(tx, batch);
    row = await refreshBatch(tx, batch, { isCancelled: true });
  }
  const refundedByCurrency: Record<Currency, string> = {};
  const legs = await legsOf(tx, id);
  const refunded = legs.filter((leg) => leg.status === 'refunded');
  for (const leg of refunded)
    refundedByCurrency[leg.currency] = add(refundedByCurrency[leg.currency] ?? '0', leg.amount);
  const sentLegs = legs.filter((leg) => ['processing', 'broadcast', 'completed'].includes(leg.status)).length;
  return { row, refundedLegs: refunded.length, refundedByCurrency, sentLegs, replayed: !pending.length };
}

export type BatchFilter = Readonly<{ status?: BatchStatus; dateFrom?: Date; dateTo?: Date }>;
type Page = Readonly<{ page: number; limit: number }>;

/** One page of a merchant's batches, newest first, and how many there are in all. */
export async function listBatches(
  db: Queryable,
  merchantId: string,
  filter: BatchFilter,
  page: Page,
): Promise<{ items: Array<{ row: BatchRow; counts: LegCounts }>; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR status = $2) AND ($3::timestamptz IS NULL OR created_at >= $3)
    AND ($4::timestamptz IS NULL OR created_at < $4)`;
  const values = [merchantId, filter.status, filter.dateFrom, filter.dateTo];
  const rows = await db.query<Array<BatchRow & { leg_counts: Array<{ status: LegStatus; n: number }> }>>(
    `SELECT b.*, (SELECT jsonb_agg(c) FROM (SELECT status, count(*) AS n FROM payout_leg l WHERE l.batch_id = b.id GROUP BY status) c) AS leg_counts
       FROM payout_batch b WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`,
    [...values, page.limit, (page.page - 1) * page.limit],
  );
  const [counted] = await db.query<Array<{ n: number }>>(
    `SELECT count(*)::int AS n FROM payout_batch WHERE ${where}`,
    values,
  );
  return { items: rows.map((row) => ({ row, counts: countsOf(row.leg_counts) })), total: counted!.n };
}

/** A batch of the merchant; null where there is none. */
export async function readBatch(db: Queryable, merchantId: string, id: string): Promise<BatchRow | null> {
  const [row] = await db.query<BatchRow[]>('SELECT * FROM payout_batch WHERE id = $1 AND merchant_id = $2', [
    id,
    merchantId,
  ]);
  return row ?? null;
}

/** One page of a batch's legs in the order of its rows, and how many there are in all. */
export async function pageOfLegs(
  db: Queryable,
  batchId: string,
  status: LegStatus | undefined,
  page: Page,
): Promise<{ items: LegRow[]; total: number }> {
  const statuses: readonly LegStatus[] = status === undefined ? legStatuses : [status];
  const items = await db.query<LegRow[]>(
    'SELECT * FROM payout_leg WHERE batch_id = $1 AND status = ANY($2) ORDER BY row_index LIMIT $3 OFFSET $4',
    [batchId, statuses, page.limit, (page.page - 1) * page.limit],
  );
  const counts = await countLegs(db, batchId);
  return { items, total: statuses.reduce((sum, one) => sum + counts[one], 0) };
}
