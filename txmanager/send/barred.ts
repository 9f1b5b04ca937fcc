import { leavingKinds } from '../../domain/txmanager/kinds';
import { everyCurrency } from '../../db/limits/outbound';
import { prepared } from '../../db/query';
import type { AttemptRow } from '../../db/txmanager/intents';
import { inParallel } from '../../chains/json-rpc';
import { payoutWindow } from '../../domain/payouts/payout';
import { lookAtOnce, type Sender } from './sender';

/** What the rows say of whether an attempt may go. `is_new`: it moves money that leaves, or its node stands still, and
 *  no node was ever given one of its intent; the others may always go. */
export type BarFacts = Readonly<{ is_new: boolean; is_current: boolean; frozen: string | null }>;
type Attempt = Pick<AttemptRow, 'id' | 'status' | 'nonce' | 'from_address'>;
/** `isForeign`: not ours to decide; the wallet is looked into and frozen. */
type Bar = Readonly<{ reason: string; isForeign: boolean }>;
export type Bars = ReadonlyMap<string, Bar>;

/** Kinds of intents whose money leaves, which a second transaction would send twice. */
export const leaving = leavingKinds();
/** A network that was read to its end within so many seconds is followed. Of a node that stands still nothing new goes
 *  at all, money of ours to ourselves included. */
const currentSeconds = 60;

/** SQL: `BarFacts` of attempt `a` of intent `i` on the network whose cursor is `c`. The parameters are `barParameters`,
 *  in their order. */
export const barFactsSql = (kinds: string, every: string, seconds: string): string =>
  `a.status = 'stored' AND (i.kind = ANY(${kinds}) OR c.stale_since IS NOT NULL)
      AND NOT EXISTS (SELECT FROM attempt b WHERE b.intent_id = a.intent_id AND b.sent_at IS NOT NULL) AS is_new,
   c.stale_since IS NULL AND coalesce(c.scanned_through > now() - make_interval(secs => ${seconds}), false)
      AS is_current,
   CASE WHEN i.kind = ANY(${kinds}) AND NOT a.is_replacement
        THEN (SELECT 'frozen: ' || reason FROM egress_freeze WHERE currency IN (i.currency, ${every}) LIMIT 1)
    END AS frozen`;
export const barParameters = [leaving, everyCurrency, currentSeconds] as const;

/** Why bytes of money that leaves, which no node was ever given, must not go now, by their attempt. A database that
 *  was restored from an old backup does not know what it has sent since, and would have it sent again: where the
 *  chain knows more of a wallet than the rows do, or the rows may be behind the chain, nothing new goes. */
export async function barred(sender: Sender, attempts: readonly Attempt[]): Promise<Bars> {
  if (!attempts.length) return new Map();
  const uses = await nonceUses(sender, unsentWallets(attempts));
  // After what the nodes said, however long that took: what is frozen meanwhile stays.
  const rows = await prepared(sender.db, 'barred-attempts').query<Array<Attempt & BarFacts>>(
    `SELECT a.id, a.status, a.nonce, a.from_address, ${barFactsSql('$2', '$3', '$4')}
       FROM attempt a JOIN intent i ON i.id = a.intent_id LEFT JOIN chain_cursor c ON c.network = a.network
      WHERE a.id = ANY($1::bigint[])`,
    [attempts.map((one) => one.id), ...barParameters],
  );
  return barsOf(sender, rows, uses);
}

/** The same of what was signed after `uses` were asked for, by what its rows said after that. */
export const barredSince = (
  sender: Sender,
  attempts: ReadonlyArray<Attempt & BarFacts>,
  uses: NonceUses,
): Promise<Bars> | Bars =>
  unsentWallets(attempts).every((from) => uses.get(from)?.isBeyond === false)
    ? barsOf(sender, attempts, uses)
    : barred(sender, attempts);

function barsOf({ adapter }: Sender, attempts: ReadonlyArray<Attempt & BarFacts>, uses: NonceUses): Bars {
  const bars = new Map<string, Bar>();
  for (const { id, from_address: from, is_new, is_current, frozen } of attempts) {
    if (!is_new) continue;
    const reason = is_current ? frozen : `${adapter.network} is not followed up to now`;
    if (uses.get(from)?.isUsed) bars.set(id, { reason: 'the chain has a nonce of its wallet', isForeign: true });
    else if (reason !== null) bars.set(id, { reason, isForeign: false });
  }
  return bars;
}

/** `isUsed`: of a nonce of this wallet the node has a transaction that is none of ours. `isBeyond`: it counts further
 *  than the rows have given nonces away, and what is signed next may get one that is used. */
type NonceUse = Readonly<{ isUsed: boolean; isBeyond: boolean }>;
export type NonceUses = ReadonlyMap<string, NonceUse>;

/** The wallets of what no node was given yet. */
const unsentWallets = (attempts: readonly Attempt[]): string[] => [
  ...new Set(attempts.filter((one) => one.status === 'stored' && one.nonce !== null).map((one) => one.from_address)),
];

export const nonceUses = async (sender: Sender, wallets: readonly string[]): Promise<NonceUses> =>
  new Map(await inParallel(wallets, lookAtOnce, async (from) => [from, await nonceUse(sender, from)] as const));

/** What a wallet's nonces are used for. Only those count of which nothing of ours was sent, or seen in a block: a nonce
 *  that one of ours is mined on is used, and by us. */
async function nonceUse({ db, adapter }: Sender, address: string): Promise<NonceUse> {
  const next = await adapter.nextNonce(address);
  const [row] = await prepared(db, 'unsent-nonces').query<Array<{ given: number; unsent: string[][] }>>(
    `SELECT coalesce((SELECT next_nonce FROM wallet_sequence WHERE network = $1 AND address = $2), 0) AS given,
            coalesce((SELECT jsonb_agg(ids ORDER BY nonce) FROM (
              SELECT one.nonce, jsonb_agg(a.tx_id) AS ids FROM (
                SELECT DISTINCT nonce FROM attempt
                 WHERE network = $1 AND from_address = $2 AND nonce < $3 AND sent_at IS NULL
                   AND status IN ('stored', 'sent')) one
                JOIN attempt a ON a.network = $1 AND a.from_address = $2 AND a.nonce = one.nonce
               GROUP BY one.nonce
              HAVING NOT bool_or(a.sent_at IS NOT NULL OR a.status IN ('mined', 'final'))) found), '[]') AS unsent`,
    [adapter.network, address, next],
  );
  const { given, unsent } = row!;
  for (const ids of unsent) {
    const sightings = await inParallel(ids, payoutWindow, (id) => adapter.lookUp(id));
    if (sightings.every((sighting) => sighting.state === 'unknown')) return { isUsed: true, isBeyond: false };
  }
  return { isUsed: false, isBeyond: next !== null && next > given };
}
