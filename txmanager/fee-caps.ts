import type { EntityManager } from 'typeorm';
import { assetOf } from '../domain/chains/assets';
import type { FeeLimits } from '../domain/txmanager/fee-limits';
import { fit, fromUnits } from '../domain/money';
import type { AttemptRow, IntentRow } from '../db/txmanager/intents';
import { openIncidentAgain } from '../db/incidents';

/** What an intent may pay. */
export const limitsOf = (intent: Pick<IntentRow, 'max_unit_price' | 'fee_budget'>): FeeLimits => ({
  maxUnitPrice: intent.max_unit_price,
  feeBudget: intent.fee_budget,
});

/** Notifies operators, once per intent, that it waits at its cap or budget. `last`: its newest transaction, which goes
 *  on being sent. Returns what the signer answers. See docs/operations/stuck-transactions.md. */
export async function noteCap(
  tx: EntityManager,
  intent: IntentRow,
  last: AttemptRow | undefined,
  reason: string,
): Promise<Readonly<{ state: 'waiting'; reason: string; cause: 'network' }>> {
  const { decimals } = assetOf(intent.currency);
  await openIncidentAgain(tx, {
    kind: 'fee-cap',
    subject: { kind: 'intent', id: intent.id },
    details: {
      intentId: intent.id,
      kind: intent.kind,
      ref: intent.ref,
      network: intent.network,
      currency: intent.currency,
      amount: last ? fromUnits(BigInt(last.moved_units), decimals) : null,
      wallet: intent.from_address,
      nonce: last?.nonce ?? null,
      txId: last?.tx_id ?? null,
      unitPrice: last ? fit(last.unit_price, 3, 'down') : null,
      maxUnitPrice: fit(intent.max_unit_price, 3, 'down'),
      feeBudget: fit(intent.fee_budget, 0, 'down'),
      reason,
      nextStep:
        (last && last.valid_from_height !== null
          ? 'What was signed has expired, and can move nothing any more. '
          : 'The transaction stays valid and is sent again until a block takes it. ') +
        'Wait for lower network fees, or ask for the act raise-cap: docs/operations/stuck-transactions.md, ' +
        '"A fee at its cap".',
    },
  });
  return { state: 'waiting', reason, cause: 'network' };
}
