import { leavingKinds } from '../../domain/txmanager/kinds';
import { everyCurrency } from '../../db/limits/outbound';
import { prepared } from '../../db/query';
import type { AttemptRow } from '../../db/txmanager/intents';
import { inParallel } from '../../chains/json-rpc';
import { payoutWindow } from '../../domain/payouts/payout';
import { lookAtOnce, type Sender } from './sender';

type Barred = Readonly<{ id: string; from: string; frozen: string | null; is_current: boolean }>;
/** `isForeign`: not ours to decide; the wallet is looked into and frozen. */
type Bar = Readonly<{ reason: string; isForeign: boolean }>;

/** Kinds of intents whose money leaves, which a second transaction would send twice. */
export const leaving = leavingKinds();
/** A network that was read to its end within so many seconds is followed. Of a node that stands still nothing new goes
 *  at all, money of ours to ourselves included. */
const currentSeconds = 60;

/** Why bytes of money that leaves, which no node was ever given, must not go now, by their attempt. A database that
 *  was restored from an old backup does not know what it has sent since, and would have it sent again: where the
 *  chain knows more of a wallet than the rows do, or the rows may be behind the chain, nothing new goes. */
export async function barred(
  sender: Sender,
  attempts: ReadonlyArray<Pick<AttemptRow, 'id' | 'status' | 'nonce' | 'from_address'>>,
): Promise<ReadonlyMap<string, Bar>> {
  const { db, adapter } = sender;
  const wallets = new Set(
    attempts.filter((one) => one.status === 'stored' && one.nonce !== null).map((one) => one.from_address),
  );
  const foreign = new Set<string>();
  const looks = inParallel([...wallets], lookAtOnce, async (from) => {
    if (await isUsedByOthers(sender, from)) foreign.add(from);
  });
  const asked = prepared(db, 'barred-attempts').query<Barred[]>(
    `SELECT a.id, a.from_address AS "from",
            CASE WHEN i.kind = ANY($2) AND NOT a.is_replacement
                 THEN (SELECT 'frozen: ' || reason FROM egress_freeze
                        WHERE currency IN (i.currency, $3) LIMIT 1) END AS frozen,
            c.stale_since IS NULL
              AND coalesce(c.scanned_through > now() - make_interval(secs => $4), false) AS is_current
       FROM attempt a JOIN intent i ON i.id = a.intent_id LEFT JOIN chain_cursor c ON c.network = a.network
      WHERE a.id = ANY($1::bigint[]) AND a.status = 'stored' AND (i.kind = ANY($2) OR c.stale_since IS NOT NULL)
        AND NOT EXISTS (SELECT FROM attempt b WHERE b.intent_id = a.intent_id AND b.sent_at IS NOT NULL)`,
    [attempts.map((one) => one.id), leaving, everyCurrency, currentSeconds],
  );
  const [fresh] = await Promise.all([asked, looks]);
  const bars = new Map<string, Bar>();
  for (const { id, from, frozen, is_current } of fresh) {
    const reason = is_current ? frozen : `${adapter.network} is not followed up to now`;
    if (foreign.has(from)) bars.set(id, { reason: 'the chain has a nonce of its wallet', isForeign: true });
    else if (reason !== null) bars.set(id, { reason, isForeign: false });
  }
  return bars;
}

/** Is there a nonce of this wallet that the node has a transaction for, and none of ours? Only where nothing of
 *  ours was sent, or seen in a block: a nonce that one of ours is mined on is used, and by us. */
async function isUsedByOthers({ db, adapter }: Sender, address: string): Promise<boolean> {
  const next = await adapter.nextNonce(address);
  const unsent = await prepared(db, 'unsent-nonces').query<Array<{ ids: string[] }>>(
    `SELECT array_agg(a.tx_id) AS ids FROM (
       SELECT DISTINCT nonce FROM attempt
        WHERE network = $1 AND from_address = $2 AND nonce < $3 AND sent_at IS NULL AND status
          IN ('stored', 'sent')) one
       JOIN attempt a ON a.network = $1 AND a.from_address = $2 AND a.nonce = one.nonce
      GROUP BY one.nonce HAVING NOT bool_or(a.sent_at IS NOT NULL OR a.status IN ('mined', 'final'))
       ORDER BY one.nonce`,
    [adapter.network, address, next],
  );
  for (const { ids } of unsent) {
    const sightings = await inParallel(ids, payoutWindow, (id) => adapter.lookUp(id));
    if (sightings.every((sighting) => sighting.state === 'unknown')) return true;
  }
  return false;
}
