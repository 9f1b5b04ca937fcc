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
  /** What waits in its channels to become its own, by hash, at the most. Millisatoshi. */
  incoming(): Promise<ReadonlyArray<Readonly<{ hash: string; msat: bigint }>>>;
}>;

/** `missing`: what the node lacks of all that is booked of these assets; null where it has enough. Whole units. */
export type LightningPosition = Readonly<{
  booked: ReadonlyArray<Readonly<{ currency: string; ledger: string }>>;
  missing: string | null;
}>;

const { decimals } = assetOf('BTC');

/** Compares once. The books are read before the node, and what comes in between only adds to the node. Throws
 *  NODE_UNREACHABLE. */
export async function lightningPosition(db: DataSource, node: LightningHoldings): Promise<LightningPosition> {
  const booked = await db.query<Array<{ currency: string; ledger: string }>>(
    `SELECT asset AS currency, trim_scale(sum(CASE WHEN debit = 'A:lightning' THEN amount ELSE -amount END))::text
              AS ledger
       FROM posting WHERE debit = 'A:lightning' OR credit = 'A:lightning' GROUP BY asset ORDER BY asset`,
  );
  if (!booked.length) return { booked, missing: null };
  const inAll = booked.reduce((sum, { ledger }) => sum + toUnits(fit(ledger, decimals, 'up'), decimals), 0n);
  // Before the balance: what arrives in between is counted twice, and not left out.
  const incoming = await node.incoming();
  const has = (await node.holds()) + (await takenOf(db, incoming));
  const missing = inAll - (await leaving(db)) - has / 1000n;
  return { booked, missing: missing > 0n ? fromUnits(missing, decimals) : null };
}

/** What of it is booked as taken. The node has it for good, and it waits in a channel whose other side is away: where
 *  that does not come back, the node takes it on the chain. Money that is only held is not in this. Millisatoshi. */
async function takenOf(db: DataSource, incoming: Awaited<ReturnType<LightningHoldings['incoming']>>): Promise<bigint> {
  if (!incoming.length) return 0n;
  const rows = await db.query<Array<{ hash: string | null }>>(
    `SELECT hash FROM lightning_invoice WHERE state = 'taken' AND hash = ANY($1::text[])`,
    [incoming.map(({ hash }) => hash)],
  );
  const taken = new Set(rows.map(({ hash }) => hash));
  return incoming.reduce((sum, { hash, msat }) => (taken.has(hash) ? sum + msat : sum), 0n);
}

/** What the node was told to pay, and what nobody has booked yet: it may have left. Satoshi. */
async function leaving(db: DataSource): Promise<bigint> {
  const [row] = await db.query<Array<{ msat: string }>>(
    `SELECT coalesce(sum(amount_msat + fee_limit_msat), 0)::text AS msat FROM lightning_payment
      WHERE outcome IS NULL AND calls > 0`,
  );
  return BigInt(row!.msat) / 1000n;
}

/** Compares, and stops what the node lacks by the same amount in two looks, `settleMs` apart, with an incident: nothing
 *  of the asset leaves until an operator has looked. The incident ends once the node has enough, the stop does not. A
 *  node that is away proves nothing. Returns what was stopped by this look. */
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
  const first = await look();
  if (first === null) return [];
  if (first.missing !== null) await new Promise((resolve) => setTimeout(resolve, settleMs));
  const found = first.missing === null ? first : await look();
  if (found === null || found.missing !== first.missing) return [];
  const { missing, booked } = found;
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
