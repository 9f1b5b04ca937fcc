import type { DataSource } from 'typeorm';
import { assetOf } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { fit, fromUnits, toUnits } from '../../domain/money';
import { openIncidentAgain, resolveIncident } from '../incidents';
import { freeze } from '../limits/outbound';

/** `A:lightning` against what our Lightning node has. The node has its owner's capital too, as far as nobody has booked
 *  it: so it may have more than is booked, and less is wrong. See docs/decisions/0066-while-money-is-taken.md. */

export type LightningHoldings = Readonly<{
  /** All that the node has of its own, at the most. Millisatoshi. */
  holds(): Promise<bigint>;
  /** What waits in its channels to become its own, by hash, in parts, at the most; not what it forwards.
   *  Millisatoshi. */
  incoming(): Promise<ReadonlyArray<Readonly<{ hash: string; msat: bigint }>>>;
}>;

/** `missing`: what the node lacks of all that is booked of these assets; null where it has enough. Whole units. */
export type LightningPosition = Readonly<{
  booked: ReadonlyArray<Readonly<{ currency: string; ledger: string }>>;
  missing: string | null;
}>;

const { decimals } = assetOf('BTC');

type Before = Readonly<{ booked: LightningPosition['booked']; open: readonly string[]; at: Date }>;

/** What is booked, and what the node was told to pay then, on one snapshot. */
const readBooks = (db: DataSource): Promise<Before> =>
  db.transaction('REPEATABLE READ', async (tx) => {
    const booked = await tx.query<Array<{ currency: string; ledger: string }>>(
      `SELECT asset AS currency, trim_scale(sum(CASE WHEN debit = 'A:lightning' THEN amount ELSE -amount END))::text
                AS ledger
         FROM posting WHERE debit = 'A:lightning' OR credit = 'A:lightning' GROUP BY asset ORDER BY asset`,
    );
    const open = await tx.query<Array<{ hash: string }>>(
      'SELECT hash FROM lightning_payment WHERE outcome IS NULL AND calls > 0',
    );
    const [now] = await tx.query<[{ at: Date | null }]>('SELECT now() AS at');
    return { booked, open: open.map(({ hash }) => hash), at: now.at! };
  });

/** Compares once. The books are read before the node, and what comes in between only adds to the node. Throws
 *  NODE_UNREACHABLE. */
export async function lightningPosition(db: DataSource, node: LightningHoldings): Promise<LightningPosition> {
  const before = await readBooks(db);
  const { booked } = before;
  if (!booked.length) return { booked, missing: null };
  const inAll = booked.reduce((sum, { ledger }) => sum + toUnits(fit(ledger, decimals, 'up'), decimals), 0n);
  // Before the balance: what arrives in between is counted twice, and not left out.
  const incoming = await node.incoming();
  const has = (await node.holds()) + (await takenOf(db, incoming));
  const missing = inAll - (await leaving(db, before)) - has / 1000n;
  return { booked, missing: missing > 0n ? fromUnits(missing, decimals) : null };
}

/** What of it is booked as taken. The node has it for good, and it waits in a channel whose other side is away: where
 *  that does not come back, the node takes it on the chain. Money that is only held is not in this. Millisatoshi. */
async function takenOf(db: DataSource, incoming: Awaited<ReturnType<LightningHoldings['incoming']>>): Promise<bigint> {
  if (!incoming.length) return 0n;
  const rows = await db.query<Array<{ hash: string | null; taken: string | null }>>(
    `SELECT hash, taken_msat::text AS taken FROM lightning_invoice WHERE state = 'taken' AND hash = ANY($1::text[])`,
    [incoming.map(({ hash }) => hash)],
  );
  // No more than was taken: every payer knows hashes, and may send others through the node with them.
  return rows.reduce((sum, { hash, taken }) => {
    const parts = incoming.filter((one) => one.hash === hash).reduce((all, { msat }) => all + msat, 0n);
    const most = BigInt(taken ?? '0');
    return sum + (parts < most ? parts : most);
  }, 0n);
}

/** What the node was told to pay, and what was not booked when the books were read: it may have left before the node
 *  was asked, whatever has become of it since. Satoshi. */
async function leaving(db: DataSource, { open, at }: Before): Promise<bigint> {
  const [row] = await db.query<Array<{ msat: string }>>(
    `SELECT coalesce(sum(amount_msat + fee_limit_msat), 0)::text AS msat FROM lightning_payment
      WHERE calls > 0 AND (outcome IS NULL OR over_at > $1 OR hash = ANY($2::text[]))`,
    [at, open],
  );
  return BigInt(row!.msat) / 1000n;
}

const unitsOf = (missing: string): bigint => toUnits(fit(missing, decimals, 'up'), decimals);
/** What is missing in each of several looks: the least of it. It is never the same for long where payments come and go,
 *  or a thief takes one after the other. null: one of them has found enough. */
function missingInAll(looks: readonly LightningPosition[]): string | null {
  const all = looks.map(({ missing }) => missing);
  return all.reduce((least, one) => {
    if (least === null || one === null) return null;
    return unitsOf(one) < unitsOf(least) ? one : least;
  });
}

const isTwice = ([first, second]: readonly LightningPosition[]): boolean =>
  second !== undefined && (second.missing === null || second.missing === first?.missing);

/** Compares, and stops what the node lacks in two looks, `settleMs` apart, or in three where they differ, with an
 *  incident: nothing of the asset leaves until an operator has looked. The incident ends once the node has enough, the
 *  stop does not. A node that is away proves nothing. Returns what was stopped by this look. */
export async function reconcileLightning(
  db: DataSource,
  node: LightningHoldings,
  settleMs = 1500,
): Promise<Array<{ currency: string; ledger: string; missing: string }>> {
  const look = (): Promise<LightningPosition | null> =>
    lightningPosition(db, node).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'NODE_UNREACHABLE') return null;
      throw error;
    });
  const looks: LightningPosition[] = [];
  const isClear = (): boolean => looks[0]?.missing === null || looks.length > 2 || isTwice(looks);
  while (!isClear()) {
    if (looks.length) await new Promise((resolve) => setTimeout(resolve, settleMs));
    const found = await look();
    if (found === null) return [];
    looks.push(found);
  }
  const { booked } = looks.at(-1)!;
  const missing = missingInAll(looks);
  // Less in one look and enough in another is neither a loss nor its end.
  if (missing === null && looks.length > 1) return [];
  return db.transaction(async (tx) => {
    const stopped: Array<{ currency: string; ledger: string; missing: string }> = [];
    for (const { currency, ledger } of booked) {
      const of = {
        kind: 'unreconciled',
        subject: { kind: 'asset', id: currency },
        distinction: 'lightning',
      } as const;
      if (missing === null) await resolveIncident(tx, of);
      else {
        const one = { currency, ledger, missing };
        await openIncidentAgain(tx, { ...of, details: one });
        const reason = `The Lightning node has ${missing} ${currency} less than the books say`;
        if (await freeze(tx, currency, reason)) stopped.push(one);
      }
    }
    return stopped;
  });
}
