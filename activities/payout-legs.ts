import type { EntityManager } from 'typeorm';
import { baseUnits, networkOf } from '../domain/assets';
import { DomainError } from '../domain/errors';
import { egressJournal, feeJournal, holdKey, type Journal } from '../domain/ledger';
import { fit } from '../domain/money';
import type { LegRow } from '../domain/payout';
import { useAdmission } from '../db/egress';
import { dropIntents, type AttemptRow } from '../db/intents';
import { bookFeeChange, ensureMined, minedOf, postAll } from '../db/ledger';
import {
  announceLegs,
  giveBackLegs,
  holdOfLeg,
  legsOf,
  lockBatch,
  moveLegs,
  payoutWorkflow,
  unlistedLegs,
} from '../db/payouts';
import type { Purpose, ServedIntent } from './purposes';

export const unitsOf = (leg: Pick<LegRow, 'currency' | 'net_amount'>): bigint =>
  baseUnits(leg.currency, leg.net_amount);

/** Plans that pay one of these go; what they would have paid besides is planned anew. */
export async function dropSome(tx: EntityManager, legs: readonly LegRow[]): Promise<void> {
  await dropIntents(
    tx,
    payoutWorkflow(legs[0]!.batch_id),
    legs.flatMap((leg) => leg.intent_id ?? []),
  );
}

/** J7: nothing of them has left. */
export async function failLegs(
  tx: EntityManager,
  legs: readonly LegRow[],
  message: string,
  patch: { intent_id?: null; tx_id?: string } = { intent_id: null },
): Promise<void> {
  await giveBackLegs(tx, legs);
  const failed = await moveLegs(tx, legs, 'failed', { ...patch, merchant_message: message });
  await announceLegs(tx, failed, 'mass_payout.leg_failed');
}

/** The payments that an intent makes, as the signer sees them: what their rows say, to addresses that are still on the whitelist.
 *  Locks the batch. The caller refreshes the batch. */
export async function legPurpose(tx: EntityManager, intent: ServedIntent): Promise<Purpose | null> {
  const [, batchId] = /^payout-batch\/([0-9a-f]{24})$/.exec(intent.owner_workflow) ?? [];
  const batch = batchId === undefined ? null : await lockBatch(tx, batchId);
  if (!batch) return null;
  const legs = (await legsOf(tx, batch.id)).filter((leg) => leg.intent_id === intent.id);
  const [first] = legs;
  if (!first) return null;
  return {
    currency: first.currency,
    outputs: legs.map((leg) => ({ address: leg.address, units: unitsOf(leg).toString() })),
    held: null,
    async mayBeSigned() {
      const other = legs.find((leg) => leg.status !== 'pending');
      if (other || !batch.approved_at)
        throw new DomainError('INTENT_MISMATCH', `Payout ${first.batch_id} is ${other?.status ?? 'not approved'}`);
      if ((await unlistedLegs(tx, legs)).length) {
        await dropSome(tx, legs);
        return { state: 'dropped', reason: 'an address is no longer on the whitelist' };
      }
      const reason = await useAdmission(tx, 'mass_payout', batch.id);
      return reason ? { state: 'waiting', reason } : { state: 'go' };
    },
    isUnderWay: legs.every((leg) => leg.status === 'processing' || leg.status === 'broadcast'),
    stored: () => moveLegs(tx, legs, 'processing'),
    async sent(txId) {
      await moveLegs(
        tx,
        legs.filter((leg) => leg.status === 'processing'),
        'broadcast',
        { tx_id: txId },
      );
    },
    ended: (attempt) => bookLegs(tx, legs, attempt),
  };
}

/** J6 and `completed`, or J7 and `failed`. */
async function bookLegs(tx: EntityManager, legs: readonly LegRow[], mined: AttemptRow): Promise<void> {
  if (mined.success) return completeLegs(tx, [{ legs, mined }]);
  const open = legs.filter(isOpen);
  if (open.length)
    await failLegs(tx, open, 'The transaction was mined and reverted: the address does not take it', {
      tx_id: mined.tx_id,
    });
}
const isOpen = (leg: LegRow): boolean => leg.status === 'processing' || leg.status === 'broadcast';

/** J6 and `completed` of payments whose transactions are final and successful, in one go. A transaction that pays many has its fee
 *  booked apart. */
export async function completeLegs(
  tx: EntityManager,
  ends: ReadonlyArray<
    Readonly<{ legs: readonly LegRow[]; mined: Pick<AttemptRow, 'tx_id' | 'fee_units' | 'block_hash'> }>
  >,
): Promise<void> {
  const journals: Journal[] = [];
  for (const { legs, mined } of ends) {
    const { currency } = legs[0]!;
    const paid = minedOf(currency, 'A:treasury', mined);
    const isShared = networkOf(currency).kind === 'utxo';
    if (isShared) await ensureMined(tx, paid, (fee) => feeJournal({ ...paid, chainFee: fee }));
    for (const leg of legs) {
      const hold = holdOfLeg(leg);
      if (isOpen(leg))
        journals.push(
          egressJournal({
            ...hold,
            net: fit(leg.net_amount, 18, 'down'),
            native: paid.native,
            chainFee: isShared ? '0' : paid.chainFee,
            gasFrom: paid.from,
            txId: mined.tx_id,
          }),
        );
      // Mined again after a reorganisation: it has arrived already, and may have cost something else.
      else if (!isShared) await bookFeeChange(tx, `${holdKey(hold)}/end`, paid);
    }
  }
  await postAll(tx, journals);
  const open = ends.flatMap(({ legs, mined }) => legs.filter(isOpen).map((leg) => ({ leg, txId: mined.tx_id })));
  const isSaid = ({ leg, txId }: (typeof open)[number]): boolean => leg.tx_id === txId;
  const completed = await moveLegs(
    tx,
    open.filter(isSaid).map(({ leg }) => leg),
    'completed',
  );
  // Those whose transaction is another than the one that was sent first, or whose sender died before it could say so.
  for (const { leg, txId } of open.filter((one) => !isSaid(one)))
    completed.push(...(await moveLegs(tx, [leg], 'completed', { tx_id: txId })));
  await announceLegs(tx, completed, 'mass_payout.leg_completed');
}
