import { isToken } from '../../domain/chains/assets';
import type { BroadcastAnswer } from '../../domain/chains/chain';
import { failPoint } from '../../db/fail-point';
import { attemptsOf, setIntentStatus, type AttemptRow, type IntentRow } from '../../db/txmanager/intents';
import { isOfMany, isTopUp, topUpKinds } from '../../domain/txmanager/kinds';
import { kindOf } from '../kinds';
import { lockObligation } from '../kinds/obligations';
import { resolveConflict } from './conflict';
import { lookAtExpiring } from './expiring';
import { blockMsOf, type Sender } from './sender';
import { transactionIds } from './sent-line';
import { hasMovedOn, openBefore, patienceMs } from './stuck';
import { leaving, barred } from './barred';
import { openIncident } from '../../db/incidents';

/** What an intent waits for. `stuck`: its price no longer gets it mined, or it is to move something else, and no
 *  earlier nonce of its wallet is open; ask the signer for another attempt. `dropped`: not to be sent any more, or
 *  not before another intent of its owner. */
export type Sent = Readonly<{
  state: 'final' | 'failed' | 'waiting' | 'stuck' | 'frozen' | 'dropped';
  attempts: number;
  lookAgainInMs: number;
  reason?: string;
  /** Of what has ended in the chain. None from older releases. */
  txId?: string;
}>;

/** Sends the newest attempt of an intent, or finds out what became of it. The same bytes however often it runs; a
 *  repeat after a crash is how a lost answer is mended. Throws NODE_UNREACHABLE (retried without end). */
export async function sendIntent(sender: Sender, intentId: string): Promise<Sent> {
  const { db, adapter } = sender;
  const [intent] = (await db.query('SELECT * FROM intent WHERE id = $1', [intentId])) as IntentRow[];
  if (!intent) throw new Error(`No intent ${intentId}`);
  const attempts = await attemptsOf(db.manager, intentId);
  const newest = attempts.at(-1);
  const answer = (state: Sent['state'], reason?: string): Sent => ({
    state,
    attempts: attempts.length,
    lookAgainInMs: state === 'stuck' ? blockMsOf(sender) : pauseOf(sender, newest),
    ...(reason ? { reason } : {}),
  });
  const stuck = async (attempt: AttemptRow, reason?: string): Promise<Sent> => {
    // What expires is not signed again for a better price: it is sent until its end.
    if (attempt.valid_from_height !== null) return answer('waiting', reason);
    const earlier = (await openBefore(sender, [attempt])).get(attempt.id);
    if (earlier === undefined) return answer('stuck', reason);
    return answer('waiting', `nonce ${earlier} of its wallet is in no block yet`);
  };
  if (intent.status === 'final' || intent.status === 'failed') {
    const mined = attempts.find((attempt) => attempt.status === 'mined' || attempt.status === 'final');
    return { ...answer(intent.status), ...(mined ? { txId: mined.tx_id } : {}) };
  }
  if (intent.status === 'dead') return answer('dropped', 'what it was to move is gone');
  if (!newest) return answer('waiting', 'nothing is signed yet');
  const inBlock = attempts.find((attempt) => attempt.status === 'mined');
  if (inBlock?.differs_at) return answer('waiting', 'it moved something else than was signed: operators decide');
  if (inBlock) return answer('waiting', 'it is in a block, not deep yet');
  const look = newest.valid_from_height === null ? null : await lookAtExpiring(sender, intent, attempts);
  if (look && look.state !== 'send') return answer(look.state, look.reason);
  if (intent.replaced_at !== null && !newest.is_replacement) return stuck(newest, 'it is to be replaced');
  if (isToken(intent.currency) && (await awaitsGas(sender, intent))) return answer('dropped', 'its gas comes first');
  // A gas top-up goes to an address of ours, and the gas wallet's next ones wait for its nonce.
  const missing = isTopUp(intent) ? 'none' : await missingDeposits(sender, intent, newest);
  if (missing === 'all' || missing === 'shallow' || (missing === 'some' && !isOfMany(intent)))
    return answer('waiting', 'its deposits are not in the chain now');
  // A batch goes on without those that a reorganisation has taken.
  if (missing === 'some') return stuck(newest, 'some of its deposits are not in the chain now');
  if (newest.n <= intent.void_through) return stuck(newest, 'it was signed for other deposits');
  const isNew = newest.status === 'stored' && leaving.includes(intent.kind);
  const bar = isNew ? (await barred(sender, [newest])).get(newest.id) : undefined;
  if (bar?.isForeign) return answer(await resolveConflict(sender, intent, newest, bar.reason), bar.reason);
  if (bar) return answer('waiting', bar.reason);
  await failPoint(`${intent.kind}.afterStore`);
  const said = await adapter.broadcast(newest.raw);
  await failPoint(`${intent.kind}.afterSend`);
  // Nothing that a node says of bytes that expire ends them.
  if (look && 'reason' in said && said.outcome !== 'refused') return answer('waiting', said.reason);
  if (said.outcome === 'conflict')
    return answer(await resolveConflict(sender, intent, newest, said.reason), said.reason);
  if (said.outcome === 'refused' && said.why === 'fee') return stuck(newest, said.reason);
  if (said.outcome === 'refused') {
    await noteRefused(sender, intent, said);
    return answer('waiting', said.reason);
  }
  await noteTaken(sender, intent, newest);
  const sentAt = newest.sent_at?.getTime() ?? Date.now();
  const isStuck = !look && Date.now() - sentAt > patienceMs(sender) && (await hasMovedOn(sender, newest));
  return isStuck ? stuck(newest) : answer('waiting', 'it is in no block yet');
}

/** A node has it: so say its rows, and that of what it is for. */
async function noteTaken({ db, log }: Sender, intent: IntentRow, newest: AttemptRow): Promise<void> {
  await db.transaction(async (tx) => {
    const obligation = await lockObligation(tx, intent.id);
    await tx.query(
      `UPDATE attempt SET status = 'sent', sent_at = coalesce(sent_at, now()), missing_at_height = NULL WHERE id = $1
          AND status IN ('stored', 'sent')`,
      [newest.id],
    );
    await setIntentStatus(tx, intent.id, 'sent', ['planned', 'stored']);
    await kindOf(intent).taken?.(tx, intent, newest.tx_id);
    await obligation?.sent(newest.tx_id);
  });
  const { kind, network, owner_kind, owner_id } = intent;
  const ids = transactionIds(network, { kind: owner_kind, id: owner_id }, newest);
  if (newest.sent_at === null) log.info({ kind, ...ids }, 'transaction sent');
}

/** Notifies operators of what a node has against a transaction. */
async function noteRefused(
  { db }: Sender,
  intent: IntentRow,
  said: Extract<BroadcastAnswer, { outcome: 'refused' }>,
): Promise<void> {
  await openIncident(db, {
    kind: said.why === 'funds' ? 'gas-low' : 'transaction-refused',
    subject: { kind: 'intent', id: intent.id },
    details: { intentId: intent.id, address: intent.from_address, why: said.why, reason: said.reason },
  });
}

/** Until the next look: a quarter of what has passed since it was signed, a second at the least, a minute at the
 *  most. */
const pauseOf = (sender: Sender, attempt?: AttemptRow): number => {
  const passedMs = attempt ? Date.now() - attempt.created_at.getTime() : 0;
  return Math.round(Math.min(Math.max(passedMs / 4, 1000), blockMsOf(sender), 60_000));
};

/** A reorganisation may have taken what a transaction moves; its bytes are kept for the day it comes back. */
async function missingDeposits(
  { db }: Sender,
  intent: IntentRow,
  attempt: AttemptRow,
): Promise<'none' | 'shallow' | 'some' | 'all'> {
  const [row] = (await db.query(
    `SELECT count(*)::int AS all, count(*) FILTER (WHERE status <> 'confirmed')::int AS short,
            count(*) FILTER (WHERE status NOT IN ('confirmed', 'mined'))::int AS gone FROM deposit
      WHERE id = ANY($1::bigint[]) AND (cardinality($2::text[]) = 0 OR tx_id || ':' || out_index = ANY($2))
        AND (id IN (SELECT unnest(deposit_ids) FROM attempt_account WHERE attempt_id = $3)
             OR NOT EXISTS (SELECT FROM attempt_account WHERE attempt_id = $3))`,
    [intent.deposit_ids, attempt.inputs, attempt.id],
  )) as Array<{ all: number; short: number; gone: number }>;
  if (!row?.short) return 'none';
  if (!row.gone) return 'shallow';
  return row.gone === row.all ? 'all' : 'some';
}

/** A reorganisation may have taken the gas that was brought for it. */
async function awaitsGas({ db }: Sender, intent: IntentRow): Promise<boolean> {
  const rows = (await db.query(
    `SELECT FROM intent WHERE owner_kind = $1 AND owner_id = $2 AND kind = ANY($4) AND NOT booked
        AND status <> 'dead' AND outputs->0->>'address' = $3`,
    [intent.owner_kind, intent.owner_id, intent.from_address, topUpKinds()],
  )) as unknown[];
  return rows.length > 0;
}
