import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { outboundLimitsMail } from '../../domain/mail/mail';
import { areSame, noLimits, type OutboundLimits } from '../../domain/limits/limits';
import { amountPattern } from '../../domain/money';
import { recordAct } from '../../db/access/audit-log';
import { stoppedSince } from '../../db/access/merchant-stop';
import { limitsOf, newestLimits, setLimits, usedOf } from '../../db/limits/outbound';
import { findMerchant } from '../../db/access/merchants';
import type { Queryable } from '../../db/query';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { route } from '../http/route';
import { line, named, time } from '../http/schemas';
import { limitsScope, tightenLimits, type LimitsOf } from '../../commands/limits/platform-limits';
import { notifyAdmins } from '../../commands/mail/notify-admins';

/** What a merchant, or the platform, lets out at the most. docs/decisions/0010-egress.md */

/** A looser limit counts after so long: time for the others to notice. */
const loosenAfterHours = 24;

const dollars = (description: string) =>
  Type.Union([Type.String({ pattern: amountPattern }), Type.Null()], { description: `${description} null: no limit.` });
const limits = {
  dailyUsd: dollars('US dollars within any 24 hours, as a decimal string.'),
  hourlyCount: Type.Union([Type.Integer({ minimum: 0, maximum: 1_000_000 }), Type.Null()], {
    description: 'Withdrawals, batches and refunds within any hour. null: no limit.',
  }),
  approvalUsd: dollars('Above so many US dollars a second person must approve.'),
};
const limitsSchema = Type.Object(limits);
const shownSchema = named('OutboundLimits', {
  limits: limitsSchema,
  activeAt: Type.Union([time, Type.Null()], {
    description:
      'When all of it is in force. In the past: it is. In the future: what is looser than before counts from then ' +
      'on, and what is tighter counts already. null: nothing was ever set.',
  }),
  effective: limitsSchema,
  used: Type.Object(
    {
      dailyUsd: Type.String({ description: 'US dollars of the last 24 hours. Exact decimal string.' }),
      hourlyCount: Type.Integer({ minimum: 0, description: 'Withdrawals, batches and refunds of the last hour.' }),
    },
    { description: 'What counts against the limits now.' },
  ),
  outgoingHeldSince: Type.Union([time, Type.Null()], {
    description:
      'Since when nothing of the merchant is signed, whatever the limits allow: the platform holds its outgoing ' +
      'money. null: its money may leave, or these are the limits of all merchants together.',
  }),
});

async function show(db: Queryable, scope: string, merchantId: string | null) {
  const newest = await newestLimits(db, scope);
  const heldAt = merchantId === null ? null : await stoppedSince(db, merchantId);
  const now = {
    effective: await limitsOf(db, scope),
    used: await usedOf(db, merchantId),
    outgoingHeldSince: heldAt?.toISOString() ?? null,
  };
  if (!newest) return { limits: noLimits, activeAt: null, ...now };
  const { activeAt, createdAt, ...set } = newest;
  // Where nothing became looser all of it counts since it was set.
  const isInForce = areSame(set, now.effective) && activeAt > new Date();
  return { limits: set, activeAt: (isInForce ? createdAt : activeAt).toISOString(), ...now };
}

/** What was set last with these changes. */
const changed = async (db: Queryable, scope: string, changes: Partial<OutboundLimits>): Promise<OutboundLimits> => {
  const { dailyUsd, hourlyCount, approvalUsd } = (await newestLimits(db, scope)) ?? noLimits;
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return { dailyUsd, hourlyCount, approvalUsd, ...given };
};

export const getEgressLimits = route({
  name: 'getEgressLimits',
  method: 'get',
  path: '/api/v1/settings/egress-limits',
  summary: 'Read what may be sent at the most',
  tag: 'Settings',
  envelope: 'A',
  success: { status: 200, schema: shownSchema, description: 'The limits that were set last, and what counts now.' },
  errors: [],
  answer: async ({ merchant }, { db }) => ({ data: await show(db, merchant.id, merchant.id) }),
});

export const changeEgressLimits = route({
  name: 'changeEgressLimits',
  method: 'patch',
  path: '/api/v1/settings/egress-limits',
  summary: 'Limit what may be sent',
  description:
    'What is left out stays as it is. A tighter limit counts at once, a looser one after 24 hours; `activeAt` says ' +
    'when. Every admin is told of a change.',
  tag: 'Settings',
  envelope: 'A',
  body: Type.Object({ ...Type.Partial(limitsSchema).properties, ...factorProps }),
  success: { status: 200, schema: shownSchema, description: 'The limits as they are now.' },
  errors: [],
  async answer({ body, user, merchant, ...from }, deps) {
    const data = await withFactor(deps, user, 'egress_limits', body, async (tx) => {
      const before = (await newestLimits(tx, merchant.id)) ?? noLimits;
      const after = await changed(tx, merchant.id, pick(body));
      if (areSame(before, after)) return show(tx, merchant.id, merchant.id);
      await setLimits(tx, merchant.id, after, user.email, loosenAfterHours);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'egress_limits.changed',
        before: { ...before },
        after: { ...after },
      });
      await notifyAdmins(tx, deps, merchant.id, (email) => outboundLimitsMail(email, user.email));
      return show(tx, merchant.id, merchant.id);
    });
    return { data };
  },
});

const pick = ({ dailyUsd, hourlyCount, approvalUsd }: Partial<OutboundLimits>): Partial<OutboundLimits> => ({
  dailyUsd,
  hourlyCount,
  approvalUsd,
});

const showOf = (db: Queryable, of: LimitsOf) => show(db, limitsScope(of), of.merchantId);

export const getPlatformLimits = route({
  name: 'getPlatformLimits',
  method: 'get',
  path: '/api/v1/platform/egress-limits',
  summary: 'Read what all merchants together, or one, may send',
  tag: 'Platform',
  envelope: 'A',
  query: Type.Object({ merchantId: Type.Optional(line(24, 'Of this merchant; without, of all together.')) }),
  success: { status: 200, schema: shownSchema, description: 'The limits that were set last, and what counts now.' },
  errors: [],
  answer: async ({ query }, { db }) => ({ data: await showOf(db, { merchantId: query.merchantId ?? null }) }),
});

export const setPlatformLimits = route({
  name: 'setPlatformLimits',
  method: 'post',
  path: '/api/v1/platform/egress-limits',
  summary: 'Limit what all merchants together, or one, may send',
  description:
    'A tighter limit counts at once; what is left out stays as it is. A looser one is refused: ask for the act ' +
    '`loosen-limits` by a request, which two operators confirm.',
  tag: 'Platform',
  envelope: 'A',
  body: Type.Object({
    merchantId: Type.Optional(line(24, 'Of this merchant; without, of all together.')),
    ...Type.Partial(limitsSchema).properties,
    reason: line(500, 'Kept in the audit log.'),
    ...factorProps,
  }),
  success: { status: 200, schema: shownSchema, description: 'The limits as they are now.' },
  errors: ['MERCHANT_NOT_FOUND', 'ACT_REFUSED'],
  async answer({ body, user, ...from }, deps) {
    requireFactor(body);
    const { merchantId, reason } = body;
    if (merchantId !== undefined && !(isId(merchantId) && (await findMerchant(deps.db, merchantId))))
      throw new DomainError('MERCHANT_NOT_FOUND');
    const of = { merchantId: merchantId ?? null };
    const data = await withFactor(deps, user, 'platform', body, async (tx) => {
      await tightenLimits(tx, actorOf(user, from), of, pick(body), reason);
      return showOf(tx, of);
    });
    return { data };
  },
});
