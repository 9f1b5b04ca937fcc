import type { EntityManager } from 'typeorm';
import { networkOf } from '../../domain/chains/assets';
import { captureJournal, feeJournal, holdKey } from '../../domain/ledger/ledger';
import { fit } from '../../domain/money';
import type { LegRow } from '../../domain/payouts/payout';
import { bookedFees, bookFeeChange, ensureEnds, ensureMined, minedOf } from '../../db/ledger/ledger';
import { announceLegs, byCurrency, holdOfLeg, moveLegs } from '../../db/payouts/payouts';
import { dropIntents, type AttemptRow } from '../../db/txmanager/intents';
import { giveBackLegs } from '../../commands/payouts/release';
import { chargeRevert } from '../charge-revert';
import { failureOf } from './failure';

/** Plans that pay one of these go; what they would have paid besides is planned anew. */
async function dropSome(tx: EntityManager, legs: readonly LegRow[]): Promise<void> {
  await dropIntents(
    tx,
    { kind: 'payout-batch', id: legs[0]!.batch_id },
    legs.flatMap((leg) => leg.intent_id ?? []),
  );
}

/** Lines that cannot be paid fail before anything is signed; their plans go. The caller refreshes the batch. */
export async function refuseLegs(tx: EntityManager, legs: readonly LegRow[], message: string): Promise<void> {
  await dropSome(tx, legs);
  await failLegs(tx, legs, message);
}

/** Addresses that are no longer on the whitelist are not paid. */
export const failUnlisted = (tx: EntityManager, legs: readonly LegRow[]): Promise<void> =>
  refuseLegs(tx, legs, 'The address is no longer on the withdrawal whitelist');

/** J7: nothing of them has left. */
async function failLegs(
  tx: EntityManager,
  legs: readonly LegRow[],
  message: string,
  patch: { intent_id?: null; tx_id?: string } = { intent_id: null },
): Promise<void> {
  await giveBackLegs(tx, legs);
  const failed = await moveLegs(tx, legs, 'failed', { ...patch, merchant_message: message });
  await announceLegs(tx, failed, 'mass_payout.leg_failed');
}

/** J6 and `completed`, or J7 and `failed`. */
export async function bookLegs(tx: EntityManager, legs: readonly LegRow[], mined: AttemptRow): Promise<void> {
  if (mined.success) return completeLegs(tx, [{ legs, mined }]);
  const open = legs.filter(isOpen);
  if (!open.length) return;
  await failLegs(tx, open, failureOf(mined), { tx_id: mined.tx_id });
  // Account chains alone revert, where a transaction pays one line.
  const [leg] = open;
  await chargeRevert(tx, holdOfLeg(leg!), mined, leg!.network_fee);
}

/** One transaction pays many. */
const isShared = (currency: string): boolean => networkOf(currency).kind === 'utxo';
export const isOpen = (leg: LegRow): boolean => leg.status === 'processing' || leg.status === 'broadcast';

/** J6 and `completed` of payments whose transactions are final and successful, in one go. A transaction that pays many
 *  has its fee booked apart. What was given back before and is spent stays failed: what has arrived besides is for
 *  operators. */
export async function completeLegs(
  tx: EntityManager,
  ends: ReadonlyArray<
    Readonly<{ legs: readonly LegRow[]; mined: Pick<AttemptRow, 'tx_id' | 'fee_units' | 'block_hash'> }>
  >,
): Promise<void> {
  for (const { legs, mined } of ends) {
    const { currency } = legs[0]!;
    if (!isShared(currency)) continue;
    const paid = minedOf(currency, 'A:treasury', mined);
    await ensureMined(tx, paid, (chainFee) => feeJournal({ ...paid, chainFee }));
  }
  const minedBy = new Map(ends.flatMap(({ legs, mined }) => legs.filter(isOpen).map((leg) => [leg, mined] as const)));
  const arrived = byCurrency([...minedBy.keys()]).map((leg) => {
    const paid = minedOf(leg.currency, 'A:treasury', minedBy.get(leg)!);
    return {
      leg,
      key: `${holdKey(holdOfLeg(leg))}/end`,
      paid: isShared(leg.currency) ? { ...paid, chainFee: '0' } : paid,
    };
  });
  // Mined again after a reorganisation: it may have cost something else.
  const known = await bookedFees(
    tx,
    arrived.map(({ key }) => key),
  );
  await ensureEnds(
    tx,
    arrived.map(({ leg, key, paid }) =>
      captureJournal({
        ...holdOfLeg(leg),
        net: fit(leg.net_amount, 18, 'down'),
        native: paid.native,
        chainFee: known.get(key) ?? paid.chainFee,
        gasFrom: paid.from,
        txId: paid.txId,
      }),
    ),
  );
  for (const { key, paid } of arrived) if (known.has(key)) await bookFeeChange(tx, key, paid);
  const open = arrived.map(({ leg, paid }) => ({ leg, txId: paid.txId }));
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
