import type { DataSource } from 'typeorm';
import { isToken, networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { payoutWindow } from '../../domain/payouts/payout';
import { everyCurrency } from '../../db/limits/egress';
import { failPoint } from '../../db/fail-point';
import {
  attemptsOf,
  lowestOpenNonces,
  setIntentStatus,
  type AttemptRow,
  type IntentRow,
} from '../../db/txmanager/intents';
import { unsignedOf } from '../../db/payouts/payouts';
import { noteSent } from '../../commands/payouts/note-sent';
import { inParallel } from '../../chains/json-rpc';
import { lockPurpose } from '../../txmanager/kinds/purposes';
import { lookAgainIn } from '../rest';
import { bookIntent } from '../../txmanager/book';
import { openIncident } from '../../db/incidents';

export type BroadcastDeps = Readonly<{ db: DataSource; adapter: ChainAdapter }>;

/** What an intent waits for. `stuck`: its price no longer gets it mined, or it is to move something else, and no
 *  earlier nonce of its wallet is open; ask the signer for another attempt. `dropped`: not to be sent any more, or
 *  not before another intent of its owner. */
export type Sent = Readonly<{
  state: 'final' | 'failed' | 'waiting' | 'stuck' | 'frozen' | 'dropped';
  attempts: number;
  lookAgainInMs: number;
  reason?: string;
}>;

/** Whose price no longer gets it mined, and how many attempts it has. */
type Stuck = Readonly<{ id: string; attempts: number }>;

/** `isForeign`: not ours to decide; the wallet is looked into and frozen. */
type Withheld = Readonly<{ reason: string; isForeign: boolean }>;

/** Blocks without our transaction after which its price counts as too low. */
const stuckAfterBlocks = 10;
/** For so many blocks a node that took a transaction is believed to have it, as long as it counts its nonce. */
const youngBlocks = 4;
/** What it did not take is looked into, so many at once. */
const lookAtOnce = 4;
/** How long the sender of a payout waits for the signer beside it, and how often it looks. */
const signerMs = 1000;
const lookMs = 4;
/** Every so many looks it asks what nobody signs now. */
const thoroughLooks = 24;
/** Blocks between the two looks that prove that nothing of ours is on a nonce or an input. */
const secondLookBlocks = 3;
/** Kinds of intents whose money leaves, which a second transaction would send twice. */
const leaving: ReadonlyArray<IntentRow['kind']> = ['refund', 'withdrawal', 'leg', 'fund'];
/** A network that was read to its end within so many seconds is followed. */
const currentSeconds = 60;

/** Sends stored bytes, and only those. Invariants: 5, steps 3, 4, 6 and 8. */
export const broadcastActivities = ({ db, adapter }: BroadcastDeps) => {
  const network = networks[adapter.network as NetworkId];
  const blockMs = Math.max(network.blockSeconds * 1000, 15_000);

  /** Until the next look: a quarter of what has passed since it was signed, a second at the least, a minute at the most. */
  const pauseOf = (attempt?: AttemptRow): number => {
    const passedMs = attempt ? Date.now() - attempt.created_at.getTime() : 0;
    return Math.round(Math.min(Math.max(passedMs / 4, 1000), blockMs, 60_000));
  };

  /** Every attempt of ours that spends the same nonce or one of the same inputs. */
  const rivalsOf = (attempt: AttemptRow): Promise<AttemptRow[]> =>
    db.query<AttemptRow[]>(
      `SELECT * FROM attempt WHERE network = $1 AND (($2::int IS NOT NULL AND from_address = $3 AND nonce = $2) OR inputs && $4::text[]) ORDER BY id`,
      [attempt.network, attempt.nonce, attempt.from_address, attempt.inputs],
    ) as Promise<AttemptRow[]>;

  async function scannedHeight(): Promise<number> {
    const [row] = (await db.query('SELECT height::int AS height FROM chain_cursor WHERE network = $1', [
      adapter.network,
    ])) as Array<{ height: number }>;
    return row?.height ?? 0;
  }

  async function freeze(intent: IntentRow, reason: string): Promise<void> {
    await db.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ($1, $2, $3, now())
         ON CONFLICT (network, address) DO UPDATE SET frozen_reason = EXCLUDED.frozen_reason, frozen_at = now() WHERE wallet_sequence.frozen_reason IS NULL`,
        [intent.network, intent.from_address, reason],
      );
      await openIncident(tx, {
        kind: 'wallet-frozen',
        subject: { kind: 'wallet', id: `${intent.network}/${intent.from_address}` },
        distinction: intent.id,
        details: { intentId: intent.id, reason },
      });
    });
  }

  /** Why bytes of money that leaves, which no node was ever given, must not go now, by their attempt. A database that was restored from an
   *  old backup does not know what it has sent since, and would have it sent again: where the chain knows more of a wallet than the
   *  rows do, or the rows may be behind the chain, nothing new goes. */
  async function withheld(attempts: readonly AttemptRow[]): Promise<ReadonlyMap<string, Withheld>> {
    const wallets = new Set(
      attempts.filter((one) => one.status === 'stored' && one.nonce !== null).map((one) => one.from_address),
    );
    const foreign = new Set<string>();
    const looks = inParallel([...wallets], lookAtOnce, async (from) => {
      if (await isUsedByOthers(from)) foreign.add(from);
    });
    const asked = db.query(
      `SELECT a.id, a.from_address AS "from",
              (SELECT 'egress frozen: ' || reason FROM egress_freeze WHERE currency IN (i.currency, $3) LIMIT 1) AS frozen,
              EXISTS (SELECT FROM chain_cursor WHERE network = a.network AND scanned_through > now() - make_interval(secs => $4)) AS is_current
         FROM attempt a JOIN intent i ON i.id = a.intent_id
        WHERE a.id = ANY($1::bigint[]) AND a.status = 'stored' AND i.kind = ANY($2)
          AND NOT EXISTS (SELECT FROM attempt b WHERE b.intent_id = a.intent_id AND b.sent_at IS NOT NULL)`,
      [attempts.map((one) => one.id), leaving, everyCurrency, currentSeconds],
    ) as Promise<Array<{ id: string; from: string; frozen: string | null; is_current: boolean }>>;
    const [fresh] = await Promise.all([asked, looks]);
    const held = new Map<string, Withheld>();
    for (const { id, from, frozen, is_current } of fresh) {
      const reason = is_current ? frozen : `${adapter.network} is not followed up to now`;
      if (foreign.has(from)) held.set(id, { reason: 'the chain has a nonce of its wallet', isForeign: true });
      else if (reason !== null) held.set(id, { reason, isForeign: false });
    }
    return held;
  }

  /** Is there a nonce of this wallet that the node has a transaction for, and none of ours? Only where nothing of ours was sent, or seen
   *  in a block: a nonce that one of ours is mined on is used, and by us. */
  async function isUsedByOthers(address: string): Promise<boolean> {
    const next = await adapter.nextNonce(address);
    const unsent = (await db.query(
      `SELECT array_agg(a.tx_id) AS ids FROM (
         SELECT DISTINCT nonce FROM attempt
          WHERE network = $1 AND from_address = $2 AND nonce < $3 AND sent_at IS NULL AND status IN ('stored', 'sent')) one
         JOIN attempt a ON a.network = $1 AND a.from_address = $2 AND a.nonce = one.nonce
        GROUP BY one.nonce HAVING NOT bool_or(a.sent_at IS NOT NULL OR a.status IN ('mined', 'final')) ORDER BY one.nonce`,
      [adapter.network, address, next],
    )) as Array<{ ids: string[] }>;
    for (const { ids } of unsent) {
      const sightings = await inParallel(ids, payoutWindow, (id) => adapter.lookUp(id));
      if (sightings.every((sighting) => sighting.state === 'unknown')) return true;
    }
    return false;
  }

  /** The node refused the bytes. One of ours mined or in the pool is followed; nothing of ours, twice, three blocks apart, means
   *  that somebody else used the nonce or the coins: the wallet is frozen and never signs for it again. */
  async function resolveConflict(intent: IntentRow, attempt: AttemptRow, reason: string): Promise<Sent['state']> {
    for (const rival of await rivalsOf(attempt)) {
      const sighting = await adapter.lookUp(rival.tx_id);
      if (sighting.state !== 'unknown') {
        await db.query('UPDATE attempt SET missing_at_height = NULL WHERE id = $1', [attempt.id]);
        return 'waiting';
      }
    }
    const height = await scannedHeight();
    const firstMissed = attempt.missing_at_height === null ? null : parseInt(attempt.missing_at_height, 10);
    if (firstMissed === null) {
      await db.query('UPDATE attempt SET missing_at_height = $2 WHERE id = $1', [attempt.id, height]);
      return 'waiting';
    }
    if (height < firstMissed + secondLookBlocks) return 'waiting';
    await freeze(intent, `None of our transactions holds its nonce or inputs: ${reason}`);
    return 'frozen';
  }

  const activities = {
    /** Sends the newest attempt of an intent, or finds out what became of it. The same bytes however often it runs; a repeat after
     *  a crash is how a lost answer is mended. Throws NODE_UNREACHABLE (retried without end). */
    async sendIntent(intentId: string): Promise<Sent> {
      const [intent] = (await db.query('SELECT * FROM intent WHERE id = $1', [intentId])) as IntentRow[];
      if (!intent) throw new Error(`No intent ${intentId}`);
      const attempts = await attemptsOf(db.manager, intentId);
      const newest = attempts.at(-1);
      const answer = (state: Sent['state'], reason?: string): Sent => ({
        state,
        attempts: attempts.length,
        lookAgainInMs: state === 'stuck' ? blockMs : pauseOf(newest),
        ...(reason ? { reason } : {}),
      });
      const stuck = async (attempt: AttemptRow, reason?: string): Promise<Sent> => {
        const earlier = (await openBefore([attempt])).get(attempt.id);
        if (earlier === undefined) return answer('stuck', reason);
        return answer('waiting', `nonce ${earlier} of its wallet is in no block yet`);
      };
      if (intent.status === 'final' || intent.status === 'failed') return answer(intent.status);
      if (intent.status === 'dead') return answer('dropped', 'what it was to move is gone');
      if (!newest) return answer('waiting', 'nothing is signed yet');
      if (attempts.some((attempt) => attempt.status === 'mined'))
        return answer('waiting', 'it is in a block, not deep yet');
      if (isToken(intent.currency) && (await awaitsGas(intent))) return answer('dropped', 'its gas comes first');
      // A gas top-up goes to an address of ours, and the gas wallet's next ones wait for its nonce.
      const missing = intent.kind === 'gas' ? 'none' : await missingDeposits(intent, newest);
      const isBatch = intent.kind === 'sweep' && intent.payment_id === null;
      if (missing === 'all' || missing === 'shallow' || (missing === 'some' && !isBatch))
        return answer('waiting', 'its deposits are not in the chain now');
      // A batch goes on without those that a reorganisation has taken.
      if (missing === 'some') return stuck(newest, 'some of its deposits are not in the chain now');
      if (newest.n <= intent.void_through) return stuck(newest, 'it was signed for other deposits');
      const isNew = newest.status === 'stored' && leaving.includes(intent.kind);
      const hold = isNew ? (await withheld([newest])).get(newest.id) : undefined;
      if (hold?.isForeign) return answer(await resolveConflict(intent, newest, hold.reason), hold.reason);
      if (hold) return answer('waiting', hold.reason);
      await failPoint(`${intent.kind}.afterStore`);
      const said = await adapter.broadcast(newest.raw);
      await failPoint(`${intent.kind}.afterSend`);
      if (said.outcome === 'conflict') return answer(await resolveConflict(intent, newest, said.reason), said.reason);
      if (said.outcome === 'refused' && said.why === 'fee') return stuck(newest, said.reason);
      if (said.outcome === 'refused') {
        await openIncident(db, {
          kind: said.why === 'funds' ? 'gas-low' : 'transaction-refused',
          subject: { kind: 'intent', id: intent.id },
          details: { intentId, address: intent.from_address, reason: said.reason },
        });
        return answer('waiting', said.reason);
      }
      await db.transaction(async (tx) => {
        const purpose = await lockPurpose(tx, intentId);
        await tx.query(
          `UPDATE attempt SET status = 'sent', sent_at = coalesce(sent_at, now()), missing_at_height = NULL WHERE id = $1 AND status IN ('stored', 'sent')`,
          [newest.id],
        );
        await setIntentStatus(tx, intentId, 'sent', ['planned', 'stored']);
        if (intent.kind === 'sweep') {
          await tx.query(
            `UPDATE payment SET sweep_state = 'broadcast', sweep_tx_id = $2 WHERE sweep_state = 'queued' AND id = ANY(ARRAY(
               SELECT $1::char(24) UNION ALL SELECT payment_id FROM sweep_share WHERE intent_id = $3 AND dropped_at IS NULL))`,
            [intent.payment_id, newest.tx_id, intent.id],
          );
        }
        await purpose?.sent(newest.tx_id);
      });
      const sentAt = newest.sent_at?.getTime() ?? Date.now();
      const isStuck =
        Date.now() - sentAt > stuckAfterBlocks * network.blockSeconds * 1000 && (await hasMovedOn(newest));
      return isStuck ? stuck(newest) : answer('waiting', 'it is in no block yet');
    },

    /** Sends an intent, and goes on until its end is booked, or somebody else has to do something. Throws INTENT_OPEN while it waits:
     *  the next try is the next look, and leaves no trace in the history. */
    async followIntent(intentId: string): Promise<Sent> {
      const sent = await activities.sendIntent(intentId);
      if (sent.state === 'final' || sent.state === 'failed') await db.transaction((tx) => bookIntent(tx, intentId));
      if (sent.state !== 'waiting' && sent.state !== 'frozen') return sent;
      throw lookAgainIn(sent.lookAgainInMs, 'INTENT_OPEN', `${sent.state}, ${sent.reason ?? 'for the chain'}`);
    },

    /** Sends what is signed of a mass payout and not mined, in the order of the nonces, many at a time: the same bytes however often it
     *  runs, so that what a node has lost, or never got, comes back, and no gap stays. `isSigning`: the signer is at work beside it, and
     *  what it stores goes at once. `isLeft`: not all is signed, for the signer takes its time. */
    async sendPayouts(batchId: string, isSigning = false): Promise<{ stuck: Stuck[]; isLeft: boolean }> {
      const stuck: Stuck[] = [];
      const tried = new Set<string>();
      let newest = await missing(await newestOf(batchId, ['stored', 'sent']));
      for (;;) {
        const { taken, left } = await sendTogether(newest);
        for (const attempt of newest) tried.add(attempt.intent_id);
        // While rows are told of these, the next are looked for.
        const noted = markSent(batchId, taken);
        const signed = isSigning ? nextSigned(batchId, tried) : { fresh: [], isLeft: false };
        const [next] = await Promise.all([signed, noted]);
        stuck.push(...(await stuckOf(taken, left)));
        if (!next.fresh.length) return { stuck, isLeft: next.isLeft };
        newest = next.fresh;
      }
    },
  };
  return activities;

  /** The attempts that are to be sent, or sent again; none of the intents that were tried. */
  async function newestOf(
    batchId: string,
    statuses: ReadonlyArray<IntentRow['status']>,
    tried: ReadonlySet<string> = new Set(),
  ): Promise<AttemptRow[]> {
    const newest = (await db.query(
      `SELECT a.* FROM intent i CROSS JOIN LATERAL (SELECT * FROM attempt WHERE intent_id = i.id ORDER BY n DESC LIMIT 1) a
        WHERE i.owner_kind = 'payout-batch' AND i.owner_id = $1 AND i.network = $2 AND i.status = ANY($3) AND NOT i.id = ANY($4::bigint[])
          AND (cardinality(i.deposit_ids) = 0 OR NOT EXISTS (SELECT FROM deposit d WHERE d.id = ANY(i.deposit_ids) AND d.status <> 'confirmed'))`,
      [batchId, adapter.network, statuses, [...tried]],
    )) as AttemptRow[];
    return newest.toSorted((a, b) => (a.nonce ?? 0) - (b.nonce ?? 0));
  }

  /** Those that the node was never given, or does not have: where it counts beyond the nonce of one that it took not long ago, it has
   *  it, or a block has. */
  async function missing(inOrder: readonly AttemptRow[]): Promise<AttemptRow[]> {
    const isYoung = ({ nonce, status, sent_at }: AttemptRow): boolean =>
      nonce !== null && status === 'sent' && Date.now() - (sent_at?.getTime() ?? 0) < youngBlocks * blockMs;
    const next = new Map<string, number>();
    for (const from of new Set(inOrder.filter(isYoung).map((attempt) => attempt.from_address)))
      next.set(from, (await adapter.nextNonce(from)) ?? 0);
    return inOrder.filter((attempt) => !isYoung(attempt) || attempt.nonce! >= next.get(attempt.from_address)!);
  }

  /** What has been signed since; empty where nothing is left to sign, or the signer takes too long. */
  async function nextSigned(
    batchId: string,
    tried: ReadonlySet<string>,
  ): Promise<{ fresh: AttemptRow[]; isLeft: boolean }> {
    const until = Date.now() + signerMs;
    let isLeft = true;
    for (let n = 1; ; n += 1) {
      // In this order: what is signed between the two is found. Tokens may wait for their gas, and be nobody's to sign now.
      if (n % thoroughLooks === 0)
        isLeft = (await unsignedOf(db, batchId)).some((intent) => intent.network === adapter.network);
      const [now] = (await db.query(
        `SELECT coalesce(bool_or(status = 'stored' AND NOT id = ANY($3::bigint[])), false) AS is_stored, coalesce(bool_or(status = 'planned'), false) AS is_planned
           FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND network = $2 AND status IN ('planned', 'stored')`,
        [batchId, adapter.network, [...tried]],
      )) as Array<{ is_stored: boolean; is_planned: boolean }>;
      const fresh = now!.is_stored ? await newestOf(batchId, ['stored'], tried) : [];
      if (fresh.length || !now!.is_planned || !isLeft || Date.now() > until)
        return { fresh, isLeft: now!.is_planned && isLeft };
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  }

  /** Which of these the node has now, and which it did not take or was not given. */
  async function sendTogether(inOrder: readonly AttemptRow[]): Promise<{ taken: AttemptRow[]; left: AttemptRow[] }> {
    if (!inOrder.length) return { taken: [], left: [] };
    const held = await withheld(inOrder);
    const free = inOrder.filter((attempt) => !held.has(attempt.id));
    await failPoint('leg.afterStore');
    const answers = await inParallel(free, payoutWindow, (attempt) => adapter.broadcast(attempt.raw));
    await failPoint('leg.afterSend');
    const taken = free.filter((_, n) => ['accepted', 'known'].includes(answers[n]!.outcome));
    return { taken, left: inOrder.filter((one) => !taken.includes(one)) };
  }

  /** Those of them that cannot be mined now, whatever they pay, with the earlier nonce of their wallet that is in no
   *  block. */
  async function openBefore(attempts: readonly AttemptRow[]): Promise<ReadonlyMap<string, number>> {
    const inOrder = attempts.filter((attempt) => attempt.nonce !== null);
    if (!inOrder.length) return new Map();
    const wallets = inOrder.map((attempt) => attempt.from_address);
    const lowest = await lowestOpenNonces(db.manager, adapter.network, wallets);
    const behind = inOrder.filter((attempt) => (lowest.get(attempt.from_address) ?? attempt.nonce!) < attempt.nonce!);
    return new Map(behind.map((attempt) => [attempt.id, lowest.get(attempt.from_address)!]));
  }

  /** Which of them need a better price. What a node did not take is looked into one by one. */
  async function stuckOf(taken: readonly AttemptRow[], left: readonly AttemptRow[]): Promise<Stuck[]> {
    const stuck: Stuck[] = [];
    const patience = stuckAfterBlocks * network.blockSeconds * 1000;
    const late = taken.filter((one) => one.sent_at && Date.now() - one.sent_at.getTime() > patience);
    const earlier = await openBefore(late);
    // Of each wallet the lowest nonce; of transactions of coins, which wait for none, the oldest.
    const first = late.filter((one) => one.nonce !== null && !earlier.has(one.id));
    const coins = late.filter((one) => one.nonce === null).slice(0, 1);
    for (const one of [...first, ...coins])
      if (await hasMovedOn(one)) stuck.push({ id: one.intent_id, attempts: one.n });
    const looks = await inParallel(left, lookAtOnce, (attempt) => activities.sendIntent(attempt.intent_id));
    for (const [n, { state, attempts }] of looks.entries())
      if (state === 'stuck') stuck.push({ id: left[n]!.intent_id, attempts });
    return stuck;
  }

  /** A node has them: so say their rows, and those of the payments that they make. */
  async function markSent(batchId: string, taken: readonly AttemptRow[]): Promise<void> {
    const fresh = taken.filter((one) => one.status === 'stored').map((one) => one.id);
    if (fresh.length) await db.transaction((tx) => noteSent(tx, batchId, fresh));
  }

  /** A reorganisation may have taken what a transaction moves; its bytes are kept for the day it comes back. */
  async function missingDeposits(intent: IntentRow, attempt: AttemptRow): Promise<'none' | 'shallow' | 'some' | 'all'> {
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
  async function awaitsGas(intent: IntentRow): Promise<boolean> {
    const rows = (await db.query(
      `SELECT FROM intent WHERE owner_kind = $1 AND owner_id = $2 AND kind = 'gas' AND NOT booked AND status <> 'dead'
          AND outputs->0->>'address' = $3`,
      [intent.owner_kind, intent.owner_id, intent.from_address],
    )) as unknown[];
    return rows.length > 0;
  }

  /** Did the chain go on without our transaction? A halted chain leaves nothing stuck. */
  async function hasMovedOn(attempt: AttemptRow): Promise<boolean> {
    const [row] = (await db.query(
      `SELECT count(*)::int AS blocks FROM chain_block WHERE network = $1 AND block_time > $2`,
      [attempt.network, attempt.sent_at],
    )) as Array<{ blocks: number }>;
    return (row?.blocks ?? 0) >= stuckAfterBlocks;
  }
};
