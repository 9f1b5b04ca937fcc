import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';

/** 24 hex digits that are the same for the same parts, for ever: a repeat finds the first. */
const derivedId = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('/')).digest('hex').slice(0, 24);

/** Id of the event that an entity's version made; every delivery and a restored database repeat it. Invariants: 5. */
export const eventId = (entityId: string, stateVersion: number, type: string): string =>
  derivedId('event', entityId, stateVersion, type);
export const deliveryId = (event: string, endpoint: string): string => derivedId('delivery', event, endpoint);

export type NewEvent = Readonly<{
  merchantId: string;
  type: string;
  entityId: string;
  stateVersion: number;
  /** The resource exactly as GET returns it, as JSON text. */
  data: string;
  previous: Readonly<Record<string, unknown>>;
  /** Target of the payment's IPN; null: no delivery. */
  ipnUrl: string | null;
  /** Change of the merchant's number of open payments. */
  openDelta: number;
}>;

/** Writes an event in its merchant's order, with its delivery, in the transaction of the change. Locks the merchant's counter: call
 *  last. gaps: 4. */
export async function emitEvent(tx: EntityManager, event: NewEvent): Promise<string> {
  const id = eventId(event.entityId, event.stateVersion, event.type);
  await tx.query('SELECT emit_event($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)', [
    event.merchantId,
    id,
    event.type,
    event.entityId,
    event.stateVersion,
    event.data,
    event.previous,
    event.ipnUrl === null ? null : deliveryId(id, 'ipn'),
    event.ipnUrl,
    event.openDelta,
  ]);
  return id;
}
