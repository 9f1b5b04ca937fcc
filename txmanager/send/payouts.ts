import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { payoutWindow } from '../../domain/payouts/payout';
import { findableTxIds } from '../../domain/txmanager/findable';
import { failPoint } from '../../db/fail-point';
import { unsignedOf } from '../../db/payouts/payouts';
import { prepared } from '../../db/query';
import type { AttemptRow } from '../../db/txmanager/intents';
import { noteSent } from '../../commands/payouts/refresh';
import { inParallel } from '../../chains/json-rpc';
import { sendIntent } from './send';
import { blockMsOf, lookAtOnce, type Sender } from './sender';
import { transactionIds } from './sent-line';
import { hasMovedOn, openBefore, patienceMs, type Stuck } from './stuck';
import { barFactsSql, barParameters, barred, barredSince, nonceUses } from './barred';
import type { BarFacts, Bars, NonceUses } from './barred';

/** For so many blocks a node that took a transaction is believed to have it, as long as it counts its nonce. */
const youngBlocks = 4;
/** How long the sender of a payout waits for the signer beside it, and the pause after each look: looks take time of
 *  the processors that sign. */
const signerMs = 1000;
const lookMs = 4;
/** Every so many looks it asks what nobody signs now. */
const thoroughLooks = 24;

/** `stuck`: these need a better price. `isLeft`: not all is signed, for the signer takes its time. `txIds`: what was
 *  sent of the mass payout on this network, ever; the first ones of many, and none from older releases. */
export type SentPayouts = Readonly<{ stuck: Stuck[]; isLeft: boolean; txIds?: readonly string[] }>;

/** Sends what is signed of a mass payout and not mined, in the order of the nonces, many at a time: the same bytes
 *  however often it runs, so that what a node has lost, or never got, comes back, and no gap stays. `isSigning`:
 *  the signer is at work beside it, and what it stores goes at once. */
export async function sendPayouts(sender: Sender, batchId: string, isSigning = false): Promise<SentPayouts> {
  const stuck: Stuck[] = [];
  const tried = new Set<string>();
  let newest = await missing(sender, await newestOf(sender, batchId));
  let bars = await barred(sender, newest);
  for (;;) {
    const { taken, left } = await sendTogether(sender, newest, bars);
    for (const attempt of newest) tried.add(attempt.intent_id);
    // While rows are told of these, the next are looked for.
    const noted = markSent(sender, batchId, taken);
    const signed = isSigning ? nextSigned(sender, batchId, { tried, noted }) : nothing;
    const [next] = await Promise.all([signed, noted]);
    stuck.push(...(await stuckOf(sender, taken, left)));
    if (!next.fresh.length) return { stuck, isLeft: next.isLeft, txIds: await sentOf(sender, batchId) };
    newest = next.fresh;
    bars = await barredSince(sender, next.fresh, next.uses);
  }
}

/** The rows say it: a look before this one may have sent, and been lost. */
async function sentOf({ db, adapter }: Sender, batchId: string): Promise<string[]> {
  const rows = (await db.query(
    `SELECT a.tx_id FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE i.owner_kind = 'payout-batch' AND i.owner_id = $1 AND i.network = $2 AND a.sent_at IS NOT NULL
      ORDER BY a.id LIMIT $3`,
    [batchId, adapter.network, findableTxIds],
  )) as Array<{ tx_id: string }>;
  return rows.map((row) => row.tx_id);
}

/** What sending asks of an attempt. */
type Sendable = Pick<
  AttemptRow,
  | 'id'
  | 'intent_id'
  | 'n'
  | 'network'
  | 'tx_id'
  | 'raw'
  | 'from_address'
  | 'nonce'
  | 'status'
  | 'sent_at'
  | 'valid_from_height'
>;

/** SQL: what is read of the attempts that are to be sent, or sent again, and where it is read. $1: of this batch,
 *  $2: on this network, $3: of intents in these statuses, $4: none of these intents. */
const newestColumns = `a.id, a.intent_id, a.n, a.network, a.tx_id, a.raw, a.from_address, a.nonce, a.status, a.sent_at,
        a.valid_from_height`;
const newestFrom = `
   FROM intent i CROSS JOIN LATERAL (SELECT * FROM attempt WHERE intent_id = i.id ORDER BY n DESC LIMIT 1) a
   LEFT JOIN chain_cursor c ON c.network = i.network
  WHERE i.owner_kind = 'payout-batch' AND i.owner_id = $1 AND i.network = $2 AND i.status = ANY($3)
    AND NOT i.id = ANY($4::bigint[])
    AND (cardinality(i.deposit_ids) = 0 OR NOT EXISTS (SELECT FROM deposit d WHERE d.id = ANY(i.deposit_ids)
      AND d.status <> 'confirmed'))`;
const inOrderOfNonces = <Attempt extends Sendable>(attempts: readonly Attempt[]): Attempt[] =>
  attempts.toSorted((a, b) => (a.nonce ?? 0) - (b.nonce ?? 0));

/** Those of a batch that are to be sent, or sent again. */
const newestOf = async ({ db, adapter }: Sender, batchId: string): Promise<Sendable[]> =>
  inOrderOfNonces(
    await prepared(db, 'newest-attempts').query<Sendable[]>(`SELECT ${newestColumns} ${newestFrom}`, [
      ...[batchId, adapter.network, ['stored', 'sent'], []],
    ]),
  );

/** Those that the node was never given, or does not have: where it counts beyond the nonce of one that it took not
 *  long ago, it has it, or a block has. */
async function missing(sender: Sender, inOrder: readonly Sendable[]): Promise<Sendable[]> {
  const isYoung = ({ nonce, status, sent_at }: Sendable): boolean =>
    nonce !== null && status === 'sent' && Date.now() - (sent_at?.getTime() ?? 0) < youngBlocks * blockMsOf(sender);
  const next = new Map<string, number>();
  for (const from of new Set(inOrder.filter(isYoung).map((attempt) => attempt.from_address)))
    next.set(from, (await sender.adapter.nextNonce(from)) ?? 0);
  return inOrder.filter((attempt) => !isYoung(attempt) || attempt.nonce! >= next.get(attempt.from_address)!);
}

/** One that was signed while its sender waited, with what may bar it. */
type Fresh = Sendable & BarFacts;
/** `uses`: of the nonces of the wallets, asked before these were signed. */
type SignedMeanwhile = Readonly<{ fresh: Fresh[]; isLeft: boolean; uses: NonceUses }>;
const nothing: SignedMeanwhile = { fresh: [], isLeft: false, uses: new Map() };

/** What has been signed since; empty where nothing is left to sign, or the signer takes too long. */
async function nextSigned(
  sender: Sender,
  batchId: string,
  { tried, noted }: Readonly<{ tried: ReadonlySet<string>; noted: Promise<void> }>,
): Promise<SignedMeanwhile> {
  const { db, adapter } = sender;
  const until = Date.now() + signerMs;
  let isLeft = true;
  let uses: NonceUses = new Map();
  for (let n = 1; ; n += 1) {
    // In this order: what is signed between the two is found. Tokens that wait for their gas are not to be signed now.
    if (n % thoroughLooks === 0) isLeft = (await unsignedOf(db, batchId, { network: adapter.network })).length > 0;
    const { fresh, wallets } = await signedSince(sender, batchId, tried);
    if (fresh.length || !wallets.length || !isLeft || Date.now() > until)
      return { fresh, isLeft: wallets.length > 0 && isLeft, uses };
    const pause = sleep(lookMs).then(() => signerDone(db, batchId));
    // When the rows say what was sent; and they are looked at again when the node has answered, not before.
    if (n === 1) [uses] = await Promise.all([noted.then(() => nonceUses(sender, wallets)), pause]);
    else await pause;
  }
}

/** Databases at which somebody waits for the signer. */
const waiting = new WeakSet<DataSource>();
/** PostgreSQL says it of a lock that was not free in time. */
const lockTimeout = '55P03';

/** Waits for whoever has the mass payout locked, as the signer has while it signs of it. One at a time of each
 *  database: whoever waits has a connection of the pool meanwhile, and the others look again. */
async function signerDone(db: DataSource, batchId: string): Promise<void> {
  if (waiting.has(db)) return;
  waiting.add(db);
  try {
    await prepared(db, 'payout-unlocked').query('SELECT FROM payout_batch WHERE id = $1 FOR KEY SHARE', [batchId]);
  } catch (error) {
    // The signer takes its time: the next look says how long.
    if ((error as { code?: string }).code !== lockTimeout) throw error;
  } finally {
    waiting.delete(db);
  }
}

/** What is signed and was not tried, and the wallets of what is planned, at one moment. */
async function signedSince(
  { db, adapter }: Sender,
  batchId: string,
  tried: ReadonlySet<string>,
): Promise<{ fresh: Fresh[]; wallets: string[] }> {
  const rows = await prepared(db, 'signed-since').query<Array<Fresh & { wallets: string[] }>>(
    `SELECT p.wallets, a.* FROM (SELECT ARRAY(
              SELECT DISTINCT from_address FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1
                 AND network = $2 AND status = 'planned') AS wallets) p
       LEFT JOIN (SELECT ${newestColumns}, ${barFactsSql('$5', '$6', '$7')} ${newestFrom}) a ON true`,
    [batchId, adapter.network, ['stored'], [...tried], ...barParameters],
  );
  // Where nothing is signed there is one row, of no attempt.
  const fresh = rows.filter(({ id }) => id !== null);
  return { fresh: inOrderOfNonces(fresh), wallets: rows[0]!.wallets };
}

/** Which of these the node has now, and which it did not take or was not given. */
async function sendTogether(
  sender: Sender,
  inOrder: readonly Sendable[],
  bars: Bars,
): Promise<{ taken: Sendable[]; left: Sendable[] }> {
  if (!inOrder.length) return { taken: [], left: [] };
  // What expires is looked for before it is sent again: by itself.
  const free = inOrder.filter((attempt) => attempt.valid_from_height === null && !bars.has(attempt.id));
  await failPoint('leg.afterStore');
  const answers = await inParallel(free, payoutWindow, (attempt) => sender.adapter.broadcast(attempt.raw));
  await failPoint('leg.afterSend');
  const taken = free.filter((_, n) => ['accepted', 'known'].includes(answers[n]!.outcome));
  return { taken, left: inOrder.filter((one) => !taken.includes(one)) };
}

/** Which of them need a better price. What a node did not take is looked into one by one. */
async function stuckOf(sender: Sender, taken: readonly Sendable[], left: readonly Sendable[]): Promise<Stuck[]> {
  const stuck: Stuck[] = [];
  const patience = patienceMs(sender);
  const late = taken.filter((one) => one.sent_at && Date.now() - one.sent_at.getTime() > patience);
  const earlier = await openBefore(sender, late);
  // Of each wallet the lowest nonce; of transactions of coins, which wait for none, the oldest.
  const first = late.filter((one) => one.nonce !== null && !earlier.has(one.id));
  const coins = late.filter((one) => one.nonce === null).slice(0, 1);
  for (const one of [...first, ...coins])
    if (await hasMovedOn(sender, one)) stuck.push({ id: one.intent_id, attempts: one.n });
  const looks = await inParallel(left, lookAtOnce, (attempt) => sendIntent(sender, attempt.intent_id));
  for (const [n, { state, attempts }] of looks.entries())
    if (state === 'stuck') stuck.push({ id: left[n]!.intent_id, attempts });
  return stuck;
}

/** A node has these attempts: notes it in their rows, and in those of the lines that they pay. */
async function markSent({ db, adapter, log }: Sender, batchId: string, taken: readonly Sendable[]): Promise<void> {
  const fresh = taken.filter((one) => one.status === 'stored');
  if (!fresh.length) return;
  const ids = fresh.map((one) => one.id);
  await db.transaction((tx) => noteSent(tx, batchId, ids));
  const owner = { kind: 'payout-batch', id: batchId } as const;
  for (const one of fresh)
    log.info({ kind: 'leg', ...transactionIds(adapter.network, owner, one) }, 'transaction sent');
}
