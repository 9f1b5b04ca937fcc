import type { EntityManager } from 'typeorm';
import {
  type LimitUseRow,
  type LimitedKind,
  countAsSigned,
  hasLimit,
  isFrozen,
  limitsByScope,
  limitsOf,
  lockLimits,
  scopesOf,
  signedInDay,
  usedOf,
} from '../../db/limits/outbound';
import type { Queryable } from '../../db/query';
import { assetOf, ratedAs } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import type { OutboundLimits } from '../../domain/limits/limits';
import { compare, add, times } from '../../domain/money';

export type LimitedAct = Readonly<{
  kind: LimitedKind;
  ref: string;
  merchantId: string;
  /** Gross, in whole units. */
  amounts: ReadonlyArray<{ currency: string; amount: string }>;
  /** A rate older than this values nothing that a limit is set for. */
  rateMaxAgeSeconds: number;
}>;

/** Whether this may be taken out of a balance now, and at what value. Throws EGRESS_FROZEN, EGRESS_LIMIT,
 *  RATE_UNAVAILABLE. */
export async function checkLimits(
  tx: Queryable,
  act: Omit<LimitedAct, 'kind' | 'ref'>,
): Promise<{ needsApproval: boolean; usd: string }> {
  for (const { currency } of act.amounts) if (await isFrozen(tx, currency)) throw new DomainError('EGRESS_FROZEN');
  const scopes: Array<{ id: string | null; limits: OutboundLimits }> = [];
  for (const { scope, id } of scopesOf(act.merchantId)) scopes.push({ id, limits: await limitsOf(tx, scope) });
  const usd = await valueInUsd(
    tx,
    act,
    scopes.some(({ limits }) => hasLimit(limits)),
  );
  let needsApproval = false;
  for (const { id, limits } of scopes) {
    const { dailyUsd, hourlyCount } = limits;
    if (dailyUsd !== null || hourlyCount !== null) {
      const used = await usedOf(tx, id);
      if (dailyUsd !== null && compare(add(used.dailyUsd, usd), dailyUsd) > 0) throw new DomainError('EGRESS_LIMIT');
      if (hourlyCount !== null && used.hourlyCount >= hourlyCount) throw new DomainError('EGRESS_LIMIT');
    }
    if (limits.approvalUsd !== null && compare(usd, limits.approvalUsd) > 0) needsApproval = true;
  }
  return { needsApproval, usd };
}

/** Checks the limits, and counts it from now on; in the transaction that holds the money, before the hold. With
 *  `needsApproval` a second person must approve it: the caller keeps it from being sent until then. Throws as
 *  `checkLimits` does. */
export async function countOutgoing(tx: EntityManager, act: LimitedAct): Promise<{ needsApproval: boolean }> {
  const { kind, ref, merchantId } = act;
  await lockLimits(tx, merchantId);
  const { needsApproval, usd } = await checkLimits(tx, act);
  await tx.query(
    'INSERT INTO egress_admission (kind, ref, merchant_id, usd) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [kind, ref, merchantId, usd],
  );
  return { needsApproval };
}
/** Asked again when the first transaction of each of these is signed, in this order: why it must wait, or null where it
 *  counts as signed from now on. What is signed within 24 hours never exceeds the limits of the moment of signing.
 *  `uses`: as `limitUsesOf` reads them, and none of them signed. */
export async function recheckLimits(tx: EntityManager, uses: readonly LimitUseRow[]): Promise<Array<string | null>> {
  const merchants = [...new Set(uses.map((one) => one.merchant_id))];
  await lockLimits(tx, ...merchants);
  const limits = await limitsByScope(
    tx,
    merchants.flatMap(scopesOf).map(({ scope }) => scope),
  );
  const isLimited = ({ scope }: Readonly<{ scope: string }>): boolean => (limits.get(scope)?.dailyUsd ?? null) !== null;
  const limited = merchants.flatMap(scopesOf).filter(isLimited);
  const signed = limited.length
    ? await signedInDay(tx, limited.some(({ id }) => id === null) ? null : merchants)
    : new Map<string, string>();
  const used = new Map(signed);
  const usedBy = (merchantId: string | null): string =>
    merchantId === null ? add('0', ...used.values()) : (used.get(merchantId) ?? '0');
  const reasons = uses.map(({ merchant_id, usd }) => {
    for (const { scope, id } of scopesOf(merchant_id).filter(isLimited))
      if (compare(add(usedBy(id), usd), limits.get(scope)!.dailyUsd!) > 0)
        return `the daily limit of ${id ? 'its merchant' : 'the platform'} is reached`;
    used.set(merchant_id, add(usedBy(merchant_id), usd));
    return null;
  });
  const within = uses.filter((_, n) => reasons[n] === null);
  if (within.length) await countAsSigned(tx, within);
  return reasons;
}

/** Nothing of it will leave any more: it no longer counts against the day's sum. */
export const releaseLimitUse = (tx: EntityManager, kind: LimitedKind, ref: string): Promise<unknown> =>
  tx.query(
    `UPDATE egress_admission SET released_at = clock_timestamp() WHERE kind = $1 AND ref = $2 AND released_at IS NULL`,
    [kind, ref],
  );

/** It may leave after all, and counts again. */
export const restoreLimitUse = (tx: EntityManager, kind: LimitedKind, ref: string): Promise<unknown> =>
  tx.query('UPDATE egress_admission SET released_at = NULL WHERE kind = $1 AND ref = $2', [kind, ref]);

async function valueInUsd(
  tx: Queryable,
  act: Pick<LimitedAct, 'amounts' | 'rateMaxAgeSeconds'>,
  isNeeded: boolean,
): Promise<string> {
  let total = '0';
  for (const { currency, amount } of act.amounts) {
    const [rate] = await tx.query<Array<{ value: string; is_fresh: boolean }>>(
      `SELECT value::text, taken_at >= clock_timestamp() - make_interval(secs => $2) AS is_fresh FROM rate_latest
         WHERE currency = $1 AND fiat = 'USD'`,
      [ratedAs(assetOf(currency).currency), act.rateMaxAgeSeconds],
    );
    if (isNeeded && !rate?.is_fresh) throw new DomainError('RATE_UNAVAILABLE');
    if (rate) total = add(total, times(amount, rate.value, 18, 'up'));
  }
  return total;
}
