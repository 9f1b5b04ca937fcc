import type { EntityManager } from 'typeorm';
import { assetOf } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { add, compare, times } from '../../domain/money';
import type { Queryable } from '../pricing/pricing';
import { changedRows } from '../query';

/** What may leave the service: limits in US dollars, a second person above a sum, and a switch that stops it. Asked when money is
 *  taken out of a balance, and again by the signer. */

/** null: no limit. `dailyUsd`: within any 24 hours; `approvalUsd`: above it a second person decides. */
export type EgressLimits = Readonly<{
  dailyUsd: string | null;
  hourlyCount: number | null;
  approvalUsd: string | null;
}>;
export type EgressKind = 'refund' | 'withdrawal' | 'mass_payout';
/** What stands for every currency in `egress_freeze`. */
export const everyCurrency = '*';
/** The scope of limits on all merchants together. */
export const platformScope = 'platform';
/** What the platform sets for one merchant, beside what the merchant sets. */
export const ceilingScope = (merchantId: string): string => `platform/${merchantId}`;
/** Every scope that counts for a merchant, and whose money counts in it; null: everybody's. */
const scopesOf = (merchantId: string): ReadonlyArray<{ scope: string; id: string | null }> => [
  { scope: platformScope, id: null },
  { scope: ceilingScope(merchantId), id: merchantId },
  { scope: merchantId, id: merchantId },
];

/** What counts of a scope's limits now: the newest that is active, and what was set since, where it is tighter. */
const limitsSql = `SELECT trim_scale(min(daily_usd))::text AS "dailyUsd", min(hourly_count)::int AS "hourlyCount", trim_scale(min(approval_usd))::text AS "approvalUsd"
  FROM egress_limit WHERE scope = $1 AND id >= coalesce((SELECT max(id) FROM egress_limit WHERE scope = $1 AND active_at <= now()), 0)`;

export async function limitsOf(db: Queryable, scope: string): Promise<EgressLimits> {
  const [row] = await db.query<EgressLimits[]>(limitsSql, [scope]);
  return row!;
}

/** Sets the limits of a scope. Tighter ones count at once, looser ones after `delayHours`. */
export async function setLimits(
  tx: Queryable,
  scope: string,
  limits: EgressLimits,
  by: string,
  delayHours: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO egress_limit (scope, daily_usd, hourly_count, approval_usd, set_by, active_at)
     VALUES ($1, $2, $3, $4, $5, now() + make_interval(hours => $6))`,
    [scope, limits.dailyUsd, limits.hourlyCount, limits.approvalUsd, by, delayHours],
  );
}

/** The newest limits of a scope and when they count, also where older ones are still in the way. */
export async function newestLimits(db: Queryable, scope: string): Promise<(EgressLimits & { activeAt: Date }) | null> {
  const [row] = await db.query<Array<EgressLimits & { activeAt: Date }>>(
    `SELECT trim_scale(daily_usd)::text AS "dailyUsd", hourly_count AS "hourlyCount", trim_scale(approval_usd)::text AS "approvalUsd",
            active_at AS "activeAt" FROM egress_limit WHERE scope = $1 ORDER BY id DESC LIMIT 1`,
    [scope],
  );
  return row ?? null;
}

/** Holds what others who ask at once would count with. */
export const lockLimits = (tx: EntityManager, merchantId: string): Promise<unknown> =>
  tx.query('SELECT FROM egress_limit WHERE scope = ANY($1) ORDER BY id FOR UPDATE', [
    scopesOf(merchantId).map(({ scope }) => scope),
  ]);

const hasLimit = (limits: EgressLimits): boolean =>
  limits.dailyUsd !== null || limits.hourlyCount !== null || limits.approvalUsd !== null;

export type Admission = Readonly<{
  kind: EgressKind;
  ref: string;
  merchantId: string;
  /** Gross, in whole units. */
  amounts: ReadonlyArray<{ currency: string; amount: string }>;
  /** A rate older than this values nothing that a limit is set for. */
  rateMaxAgeSeconds: number;
}>;

/** Whether this may be taken out of a balance now, and at what value. Throws EGRESS_FROZEN, EGRESS_LIMIT, RATE_UNAVAILABLE. */
export async function judgeEgress(
  tx: Queryable,
  admission: Omit<Admission, 'kind' | 'ref'>,
): Promise<{ needsApproval: boolean; usd: string }> {
  for (const { currency } of admission.amounts)
    if (await isFrozen(tx, currency)) throw new DomainError('EGRESS_FROZEN');
  const scopes: Array<{ id: string | null; limits: EgressLimits }> = [];
  for (const { scope, id } of scopesOf(admission.merchantId)) scopes.push({ id, limits: await limitsOf(tx, scope) });
  const usd = await valueInUsd(
    tx,
    admission,
    scopes.some(({ limits }) => hasLimit(limits)),
  );
  let needsApproval = false;
  for (const { id, limits } of scopes) {
    if (limits.dailyUsd !== null) {
      const [day] = await tx.query<Array<{ usd: string }>>(
        `SELECT coalesce(sum(usd), 0)::text AS usd FROM egress_admission
          WHERE admitted_at > now() - interval '24 hours' AND released_at IS NULL AND ($1::text IS NULL OR merchant_id = $1)`,
        [id],
      );
      if (compare(add(day!.usd, usd), limits.dailyUsd) > 0) throw new DomainError('EGRESS_LIMIT');
    }
    if (limits.hourlyCount !== null) {
      const [hour] = await tx.query<Array<{ n: number }>>(
        `SELECT count(*)::int AS n FROM egress_admission
          WHERE admitted_at > now() - interval '1 hour' AND ($1::text IS NULL OR merchant_id = $1)`,
        [id],
      );
      if (hour!.n >= limits.hourlyCount) throw new DomainError('EGRESS_LIMIT');
    }
    if (limits.approvalUsd !== null && compare(usd, limits.approvalUsd) > 0) needsApproval = true;
  }
  return { needsApproval, usd };
}

/** Judges, and counts it from now on; in the transaction that holds the money, before the hold. With `needsApproval` a second person
 *  must let it go: the caller keeps it from being sent until then. Throws as `judgeEgress` does. */
export async function admitEgress(tx: EntityManager, admission: Admission): Promise<{ needsApproval: boolean }> {
  const { kind, ref, merchantId } = admission;
  await lockLimits(tx, merchantId);
  const { needsApproval, usd } = await judgeEgress(tx, admission);
  await tx.query(
    'INSERT INTO egress_admission (kind, ref, merchant_id, usd) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    [kind, ref, merchantId, usd],
  );
  return { needsApproval };
}

/** Asked again when the first transaction of an admission is signed. The reason why it must wait, or null. What is signed within 24
 *  hours never exceeds the limits of the moment of signing. */
export async function useAdmission(tx: EntityManager, kind: EgressKind, ref: string): Promise<string | null> {
  const [row] = await tx.query<
    Array<{ merchant_id: string; usd: string; signed_at: Date | null; released_at: Date | null }>
  >('SELECT merchant_id, usd::text, signed_at, released_at FROM egress_admission WHERE kind = $1 AND ref = $2', [
    kind,
    ref,
  ]);
  if (!row || row.released_at) throw new DomainError('INTENT_MISMATCH', `Nobody has admitted ${kind} ${ref}`);
  if (row.signed_at) return null;
  await lockLimits(tx, row.merchant_id);
  for (const { scope, id } of scopesOf(row.merchant_id)) {
    const { dailyUsd } = await limitsOf(tx, scope);
    if (dailyUsd === null) continue;
    const [day] = await tx.query<Array<{ usd: string }>>(
      `SELECT coalesce(sum(usd), 0)::text AS usd FROM egress_admission
        WHERE signed_at > now() - interval '24 hours' AND released_at IS NULL AND ($1::text IS NULL OR merchant_id = $1)`,
      [id],
    );
    if (compare(add(day!.usd, row.usd), dailyUsd) > 0)
      return `the daily limit of ${id ? 'its merchant' : 'the platform'} is reached`;
  }
  await tx.query(`UPDATE egress_admission SET signed_at = clock_timestamp() WHERE kind = $1 AND ref = $2`, [kind, ref]);
  return null;
}

/** Nothing of it will leave any more: it no longer counts against the day's sum. */
export const releaseAdmission = (tx: EntityManager, kind: EgressKind, ref: string): Promise<unknown> =>
  tx.query(
    `UPDATE egress_admission SET released_at = clock_timestamp() WHERE kind = $1 AND ref = $2 AND released_at IS NULL`,
    [kind, ref],
  );

/** It may leave after all, and counts again. */
export const readmit = (tx: EntityManager, kind: EgressKind, ref: string): Promise<unknown> =>
  tx.query('UPDATE egress_admission SET released_at = NULL WHERE kind = $1 AND ref = $2', [kind, ref]);

async function valueInUsd(
  tx: Queryable,
  admission: Pick<Admission, 'amounts' | 'rateMaxAgeSeconds'>,
  isNeeded: boolean,
): Promise<string> {
  let total = '0';
  for (const { currency, amount } of admission.amounts) {
    const [rate] = await tx.query<Array<{ value: string; is_fresh: boolean }>>(
      `SELECT value::text, taken_at >= clock_timestamp() - make_interval(secs => $2) AS is_fresh FROM rate_latest WHERE currency = $1 AND fiat = 'USD'`,
      [assetOf(currency).currency, admission.rateMaxAgeSeconds],
    );
    if (isNeeded && !rate?.is_fresh) throw new DomainError('RATE_UNAVAILABLE');
    if (rate) total = add(total, times(amount, rate.value, 18, 'up'));
  }
  return total;
}

export type FreezeRow = Readonly<{ currency: string; reason: string; frozen_at: Date }>;

/** Whether nothing of a currency may leave now. */
export async function isFrozen(db: Queryable, currency: string): Promise<boolean> {
  const rows = await db.query<unknown[]>('SELECT FROM egress_freeze WHERE currency = ANY($1)', [
    [currency, everyCurrency],
  ]);
  return rows.length > 0;
}

/** Holds freezes off until the end of this transaction: what is looked at after it and committed is committed before the next freeze. */
export const holdFreezes = (tx: EntityManager): Promise<unknown> => tx.query('LOCK TABLE egress_freeze IN SHARE MODE');

export const freezes = (db: Queryable): Promise<FreezeRow[]> =>
  db.query<FreezeRow[]>('SELECT currency, reason, frozen_at FROM egress_freeze ORDER BY currency');

/** Stops a currency, or everything, from leaving; the first reason stays. Whether it was not stopped before. Waits for signatures
 *  under way: once it is committed, none is. */
export async function freeze(tx: Queryable, currency: string, reason: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    'INSERT INTO egress_freeze (currency, reason) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING currency',
    [currency, reason],
  );
  return rows.length > 0;
}

/** Whether it was stopped. */
export async function unfreeze(tx: Queryable, currency: string): Promise<boolean> {
  const rows = await changedRows<unknown>(tx, 'DELETE FROM egress_freeze WHERE currency = $1 RETURNING currency', [
    currency,
  ]);
  return rows.length > 0;
}
