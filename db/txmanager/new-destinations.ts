import type { EntityManager } from 'typeorm';
import { prepared } from '../query';

type Order = Readonly<{ intent: string; address: string; units: string }>;

/** An intent above the cap: what was used before it, in base units, and when its destinations are no longer new. */
export type AboveCap = Readonly<{ intentId: string; used: string; dueAt: Date }>;

/** Notes and counts payments of one currency before they are signed; returns those that are above the cap. */
export const countNewDestinations = (
  tx: EntityManager,
  payments: Readonly<{ network: string; currency: string; orders: readonly Order[] }>,
  { capUnits, coolingOffHours }: Readonly<{ capUnits: bigint; coolingOffHours: number }>,
): Promise<AboveCap[]> =>
  prepared(tx, 'admit-destinations').query<AboveCap[]>(
    `SELECT intent_id::text AS "intentId", used::text, due_at AS "dueAt"
       FROM admit_destinations($1, $2, $3, $4, $5)`,
    [payments.network, payments.currency, JSON.stringify(payments.orders), capUnits.toString(), coolingOffHours],
  );
