import type { DataSource } from 'typeorm';
import { networks, type NetworkId } from '../domain/assets';
import type { ChainAdapter } from '../domain/chain';
import { failPoint } from '../db/fail-point';
import { attemptsOf, setIntentStatus, type AttemptRow, type IntentRow } from '../db/intents';
import { lockPurpose } from './purposes';

export type BroadcastDeps = Readonly<{ db: DataSource; adapter: ChainAdapter }>;

/** What an intent waits for. `stuck`: its price no longer gets it mined; ask the signer for a bump. */
export type Sent = Readonly<{
  state: 'final' | 'failed' | 'waiting' | 'stuck' | 'frozen';
  attempts: number;
  lookAgainInMs: number;
  reason?: string;
}>;

/** Blocks without our transaction after which its price counts as too low. */
const stuckAfterBlocks = 10;
/** Blocks between the two looks that prove that nothing of ours is on a nonce or an input. */
const secondLookBlocks = 3;

/** Sends stored bytes, and only those. Invariants: 5, steps 3, 4, 6 and 8. */
export const broadcastActivities = ({ db, adapter }: BroadcastDeps) => {
  const network = networks[adapter.network as NetworkId];

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
      await tx.query(
        `INSERT INTO incident (kind, key, details) VALUES ('wallet-frozen', $1, $2) ON CONFLICT (key) DO NOTHING`,
        [`wallet-frozen/${intent.network}/${intent.from_address}/${intent.id}`, { intentId: intent.id, reason }],
      );
    });
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

  return {
    /** Sends the newest attempt of an intent, or finds out what became of it. The same bytes however often it runs; a repeat after
     *  a crash is how a lost answer is mended. Throws NODE_UNREACHABLE (retried without end). */
    async sendIntent(intentId: string): Promise<Sent> {
      const [intent] = (await db.query('SELECT * FROM intent WHERE id = $1', [intentId])) as IntentRow[];
      if (!intent) throw new Error(`No intent ${intentId}`);
      const attempts = await attemptsOf(db.manager, intentId);
      const answer = (state: Sent['state'], reason?: string): Sent => ({
        state,
        attempts: attempts.length,
        lookAgainInMs: Math.max(network.blockSeconds * 1000, 15_000),
        ...(reason ? { reason } : {}),
      });
      if (intent.status === 'final' || intent.status === 'failed') return answer(intent.status);
      const newest = attempts.at(-1);
      if (!newest) return answer('waiting', 'nothing is signed yet');
      if (attempts.some((attempt) => attempt.status === 'mined')) return answer('waiting');
      const missing = await missingDeposits(intent, newest);
      const isBatch = intent.kind === 'sweep' && intent.payment_id === null;
      if (missing === 'all' || missing === 'shallow' || (missing === 'some' && !isBatch))
        return answer('waiting', 'its deposits are not in the chain now');
      // A batch goes on without those that a reorganisation has taken.
      if (missing === 'some') return answer('stuck', 'some of its deposits are not in the chain now');
      await failPoint(`${intent.kind}.afterStore`);
      const said = await adapter.broadcast(newest.raw);
      await failPoint(`${intent.kind}.afterSend`);
      if (said.outcome === 'conflict') return answer(await resolveConflict(intent, newest, said.reason), said.reason);
      if (said.outcome === 'refused' && said.why === 'fee') return answer('stuck', said.reason);
      if (said.outcome === 'refused') {
        await db.query(
          `INSERT INTO incident (kind, key, details) VALUES ('gas-low', $1, $2) ON CONFLICT (key) DO NOTHING`,
          [
            `gas-low/${intent.network}/${intent.from_address}/${intent.id}`,
            { intentId, address: intent.from_address, reason: said.reason },
          ],
        );
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
            `UPDATE payment SET sweep_state = 'broadcast', sweep_tx_id = $2 WHERE sweep_state = 'queued' AND (id = $1 OR id IN (
               SELECT payment_id FROM sweep_share WHERE intent_id = $3 AND dropped_at IS NULL))`,
            [intent.payment_id, newest.tx_id, intent.id],
          );
        }
        await purpose?.sent(newest.tx_id);
      });
      const sentAt = newest.sent_at?.getTime() ?? Date.now();
      const isStuck =
        Date.now() - sentAt > stuckAfterBlocks * network.blockSeconds * 1000 && (await hasMovedOn(newest));
      return answer(isStuck ? 'stuck' : 'waiting');
    },
  };

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

  /** Did the chain go on without our transaction? A halted chain leaves nothing stuck. */
  async function hasMovedOn(attempt: AttemptRow): Promise<boolean> {
    const [row] = (await db.query(
      `SELECT count(*)::int AS blocks FROM chain_block WHERE network = $1 AND block_time > $2`,
      [attempt.network, attempt.sent_at],
    )) as Array<{ blocks: number }>;
    return (row?.blocks ?? 0) >= stuckAfterBlocks;
  }
};
