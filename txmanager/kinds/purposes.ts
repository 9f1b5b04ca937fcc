import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { IntentRow } from '../../db/txmanager/intents';
import { legPurpose } from './payout-line';
import { refundPurpose } from './refund';
import { swapPurpose } from './swap-deposit';
import { consolidationPurpose } from './consolidation';
import { withdrawalPurpose } from './withdrawal';
import { type ReadPurpose, type Purpose, type ServedIntent } from '../purpose';

/** Who answers for an intent, by its kind. Sweeps and gas top-ups have no purpose beyond ourselves and are not here. */
const readers: Partial<Record<IntentRow['kind'], ReadPurpose>> = {
  refund: refundPurpose,
  fund: swapPurpose,
  withdrawal: withdrawalPurpose,
  consolidate: consolidationPurpose,
  leg: legPurpose,
};

/** The purpose of an intent, locked before the intent itself; null for what stays inside. Throws INTENT_MISMATCH where an intent says
 *  that it leaves and nothing wants it. */
export async function lockPurpose(tx: EntityManager, intentId: string): Promise<Purpose | null> {
  const [intent] = await tx.query<ServedIntent[]>(
    'SELECT id, kind, ref, owner_kind, owner_id FROM intent WHERE id = $1',
    [intentId],
  );
  if (!intent) throw new Error(`No intent ${intentId}`);
  if (intent.kind === 'sweep' || intent.kind === 'gas') return null;
  const purpose = await readers[intent.kind]?.(tx, intent);
  if (!purpose)
    throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id}: nothing wants ${intent.kind} ${intent.ref}`);
  return purpose;
}
