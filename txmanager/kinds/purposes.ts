import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { Purpose, ServedIntent } from '../purpose';
import { kindOf } from './index';

/** The purpose of an intent, locked before the intent itself; null for what stays inside. Throws INTENT_MISMATCH where an intent says
 *  that it leaves and no row of its workflow has it sent. */
export async function lockPurpose(tx: EntityManager, intentId: string): Promise<Purpose | null> {
  const [intent] = await tx.query<ServedIntent[]>(
    'SELECT id, kind, ref, owner_kind, owner_id FROM intent WHERE id = $1',
    [intentId],
  );
  if (!intent) throw new Error(`No intent ${intentId}`);
  const { purpose: read, owner } = kindOf(intent);
  if (!read) return null;
  const isOwned = !owner || (intent.owner_kind === owner && intent.owner_id === intent.ref);
  const purpose = isOwned ? await read(tx, intent) : null;
  if (!purpose)
    throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id}: nothing wants ${intent.kind} ${intent.ref}`);
  return purpose;
}
