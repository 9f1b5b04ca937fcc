import type { EntityManager } from 'typeorm';
import { noLimits, type OutboundLimits } from '../../domain/limits/limits';
import type { LimitName as LimitName } from '../../domain/txmanager/kinds';
import { type Queryable, changedRows, prepared } from '../query';
import type { RowOf } from '../entity';
import type { egressFreezeEntity } from './entities';

/** What may leave the service: limits in US dollars, a second person above a sum, and a switch that stops it. Asked
 *  when money is taken out of a balance, and again by the signer. */

export type LimitedKind = LimitName;
/** What stands for every currency in `egress_freeze`. */
export const everyCurrency = '*';
/** The scope of limits on all merchants together. */
export const platformScope = 'platform';
/** What the platform sets for one merchant, beside what the merchant sets. */
export const ceilingScope = (merchantId: string): string => `platform/${merchantId}`;
/** Every scope that counts for a merchant, and whose money counts in it; null: everybody's. */
export const scopesOf = (merchantId: string): ReadonlyArray<{ scope: string; id: string | null }> => [
  { scope: platformScope, id: null },
  { scope: ceilingScope(merchantId), id: merchantId },
  { scope: merchantId, id: merchantId },
];

/** What counts of the limits of each scope now: the newest that is active, and what was set since, where it is
 *  tighter. Scopes without any are absent. */
export async function limitsByScope(
  db: Queryable,
  scopes: readonly string[],
): Promise<ReadonlyMap<string, OutboundLimits>> {
  const rows = await db.query<Array<OutboundLimits & { scope: string }>>(
    `SELECT l.scope, trim_scale(min(l.daily_usd))::text AS "dailyUsd", min(l.hourly_count)::int AS "hourlyCount",
            trim_scale(min(l.approval_usd))::text AS "approvalUsd"
       FROM egress_limit l
      WHERE l.scope = ANY($1) AND l.id >= coalesce((SELECT max(a.id) FROM egress_limit a
                                                     WHERE a.scope = l.scope AND a.active_at <= now()), 0)
      GROUP BY l.scope`,
    [scopes],
  );
  return new Map(rows.map(({ scope, ...limits }) => [scope, limits]));
}

export const limitsOf = async (db: Queryable, scope: string): Promise<OutboundLimits> =>
  (await limitsByScope(db, [scope])).get(scope) ?? noLimits;

/** Sets the limits of a scope. Tighter ones count at once, looser ones after `delayHours`. */
export async function setLimits(
  tx: Queryable,
  scope: string,
  limits: OutboundLimits,
  by: string,
  delayHours: number,
): Promise<void> {
  await tx.query(
    `INSERT INTO egress_limit (scope, daily_usd, hourly_count, approval_usd, set_by, active_at)
     VALUES ($1, $2, $3, $4, $5, now() + make_interval(hours => $6))`,
    [scope, limits.dailyUsd, limits.hourlyCount, limits.approvalUsd, by, delayHours],
  );
}

export type NewestLimits = OutboundLimits & Readonly<{ activeAt: Date; createdAt: Date }>;

/** The newest limits of a scope and when they count, also where older ones are still in the way. */
export async function newestLimits(db: Queryable, scope: string): Promise<NewestLimits | null> {
  const [row] = await db.query<NewestLimits[]>(
    `SELECT trim_scale(daily_usd)::text AS "dailyUsd", hourly_count AS "hourlyCount",
       trim_scale(approval_usd)::text AS "approvalUsd",
            active_at AS "activeAt", created_at AS "createdAt"
       FROM egress_limit WHERE scope = $1 ORDER BY id DESC LIMIT 1`,
    [scope],
  );
  return row ?? null;
}

/** What counts against the limits of a scope now; `merchantId` null: of everybody. */
export async function usedOf(
  db: Queryable,
  merchantId: string | null,
): Promise<Readonly<{ dailyUsd: string; hourlyCount: number }>> {
  const [row] = await db.query<Array<{ dailyUsd: string; hourlyCount: number }>>(
    `SELECT trim_scale(coalesce(sum(usd) FILTER (WHERE released_at IS NULL), 0))::text AS "dailyUsd",
            (count(*) FILTER (WHERE admitted_at > now() - interval '1 hour'))::int AS "hourlyCount"
       FROM egress_admission
      WHERE admitted_at > now() - interval '24 hours' AND ($1::text IS NULL OR merchant_id = $1)`,
    [merchantId],
  );
  return row!;
}

/** Holds what others who ask at once would count with. */
export const lockLimits = (tx: EntityManager, ...merchantIds: readonly string[]): Promise<unknown> =>
  tx.query('SELECT FROM egress_limit WHERE scope = ANY($1) ORDER BY id FOR UPDATE', [
    [...new Set(merchantIds.flatMap(scopesOf).map(({ scope }) => scope))],
  ]);

/** What was counted when money was taken out of a balance. */
export type LimitUseKey = Readonly<{ kind: LimitedKind; ref: string }>;
export type LimitUseRow = LimitUseKey & Readonly<{ merchant_id: string; usd: string; is_signed: boolean }>;

/** SQL: the limit uses under these keys, without those that were released. `kinds`, `refs`: parameters. */
export const limitUsesSql = (kinds: string, refs: string): string =>
  `SELECT kind, ref, merchant_id, usd::text AS usd, signed_at IS NOT NULL AS is_signed FROM egress_admission
    WHERE (kind, ref) IN (SELECT * FROM unnest(${kinds}::text[], ${refs}::bpchar[])) AND released_at IS NULL`;

export const limitUsesOf = (tx: EntityManager, keys: readonly LimitUseKey[]): Promise<LimitUseRow[]> =>
  prepared(tx, 'limit-uses').query<LimitUseRow[]>(limitUsesSql('$1', '$2'), [
    keys.map(({ kind }) => kind),
    keys.map(({ ref }) => ref),
  ]);

/** What was signed in the last day, by merchant; `merchantIds` null: of everybody. */
export async function signedInDay(
  tx: EntityManager,
  merchantIds: readonly string[] | null,
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<Array<{ merchant_id: string; usd: string }>>(
    `SELECT merchant_id, coalesce(sum(usd), 0)::text AS usd FROM egress_admission
      WHERE signed_at > now() - interval '24 hours' AND released_at IS NULL
        AND ($1::bpchar[] IS NULL OR merchant_id = ANY($1)) GROUP BY merchant_id`,
    [merchantIds],
  );
  return new Map(rows.map(({ merchant_id, usd }) => [merchant_id, usd]));
}

/** Their first transactions are signed now. */
export const countAsSigned = (tx: EntityManager, keys: readonly LimitUseKey[]): Promise<unknown> =>
  tx.query(
    `UPDATE egress_admission SET signed_at = clock_timestamp()
      WHERE (kind, ref) IN (SELECT * FROM unnest($1::text[], $2::bpchar[]))`,
    [keys.map(({ kind }) => kind), keys.map(({ ref }) => ref)],
  );

export const hasLimit = (limits: OutboundLimits): boolean =>
  limits.dailyUsd !== null || limits.hourlyCount !== null || limits.approvalUsd !== null;

export type FreezeRow = Readonly<RowOf<typeof egressFreezeEntity>>;

/** Whether nothing of a currency may leave now. */
export async function isFrozen(db: Queryable, currency: string): Promise<boolean> {
  const rows = await db.query<unknown[]>('SELECT FROM egress_freeze WHERE currency = ANY($1)', [
    [currency, everyCurrency],
  ]);
  return rows.length > 0;
}

export const freezes = (db: Queryable): Promise<FreezeRow[]> =>
  db.query<FreezeRow[]>('SELECT currency, reason, frozen_at FROM egress_freeze ORDER BY currency');

/** Stops a currency, or everything, from leaving; the first reason stays. Whether it was not stopped before. Waits for
 *  signatures under way: once it is committed, none is. */
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
