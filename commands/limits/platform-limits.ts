import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { loosened, noLimits, type OutboundLimits } from '../../domain/limits/limits';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { ceilingScope, newestLimits, platformScope, setLimits } from '../../db/limits/outbound';

/** Limits that the platform sets. One operator may tighten them, at once; loosening is a request that two confirm.
 *  docs/decisions/0030-looser-limits.md */

/** `merchantId` null: of all merchants together. */
export type LimitsOf = Readonly<{ merchantId: string | null }>;

export const limitsScope = ({ merchantId }: LimitsOf): string =>
  merchantId === null ? platformScope : ceilingScope(merchantId);

export const platformLimits = async (tx: EntityManager, of: LimitsOf): Promise<OutboundLimits> => {
  const { dailyUsd, hourlyCount, approvalUsd } = (await newestLimits(tx, limitsScope(of))) ?? noLimits;
  return { dailyUsd, hourlyCount, approvalUsd };
};

/** Sets them as they are given, and records who did. */
export async function writeLimits(
  tx: EntityManager,
  actor: Actor,
  of: LimitsOf,
  {
    before,
    after,
    ...why
  }: Readonly<{ before: OutboundLimits; after: OutboundLimits; reason: string; requestId?: string }>,
): Promise<void> {
  const scope = limitsScope(of);
  await setLimits(tx, scope, after, actor.name, 0);
  await recordAct(tx, actor, {
    merchantId: of.merchantId,
    action: 'egress_limits.changed',
    target: scope,
    before: { ...before },
    after: { ...after, ...why },
  });
}

/** Tightens what is given; the rest stays as it is. Throws ACT_REFUSED where something would become looser. */
export async function tightenLimits(
  tx: EntityManager,
  actor: Actor,
  of: LimitsOf,
  changes: Partial<OutboundLimits>,
  reason: string,
): Promise<OutboundLimits> {
  const before = await platformLimits(tx, of);
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const after: OutboundLimits = { ...before, ...given };
  const looser = loosened(before, after);
  if (looser.length)
    throw new DomainError(
      'ACT_REFUSED',
      `${looser.join(' and ')} would be looser than now: ask for it by a request for loosen-limits, ` +
        'which two operators confirm',
    );
  await writeLimits(tx, actor, of, { before, after, reason });
  return after;
}
