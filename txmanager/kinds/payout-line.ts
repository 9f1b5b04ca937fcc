import type { EntityManager } from 'typeorm';
import { baseUnits, networkOf } from '../../domain/chains/assets';
import { destinationOf } from '../../domain/chains/tags';
import { egressJournal, feeJournal, holdKey } from '../../domain/ledger/ledger';
import { fit } from '../../domain/money';
import type { BatchRow, LegRow } from '../../domain/payouts/payout';
import { dropIntents, type AttemptRow } from '../../db/txmanager/intents';
import { bookedFees, bookFeeChange, ensureEnds, ensureMined, minedOf, reverse } from '../../db/ledger/ledger';
import {
  announceLegs,
  byCurrency,
  holdOfLeg,
  legsOf,
  legsPaidBy,
  lockBatch,
  lockBatches,
  moveLegs,
  pendingLegsOf,
} from '../../db/payouts/payouts';
import { giveBackLegs } from '../../commands/payouts/release';
import { refreshBatch } from '../../commands/payouts/refresh';
import type { Purpose, RowFacts, ServedIntent } from '../purpose';
import { reopenLegs } from '../../commands/payouts/reopen';
import { chargeRevert } from '../charge-revert';
import { failureOf } from './failure';
import { openIntents, summaryAs, type OutgoingKind } from './kind';

export const payoutLine: OutgoingKind = {
  kind: 'leg',
  summary: summaryAs('Payout'),
  owner: null,
  purpose: linePurposes,
  refused: async (tx, intent, message) => {
    const batch = (await lockBatch(tx, intent.owner_id))!;
    const legs = (await legsOf(tx, batch.id, ['pending'])).filter((leg) => leg.intent_id === intent.id);
    if (!legs.length) return;
    await dropSome(tx, legs);
    await failLegs(tx, legs, message);
    await refreshBatch(tx, batch);
  },
  // On account chains, where gas is estimated, a transaction pays one line.
  asked: async (tx, intent) => {
    const [leg] = await pendingLegsOf(tx, intent.id);
    return leg ? { hold: holdOfLeg(leg), quoted: leg.network_fee } : null;
  },
  reopen: reopenLegs,
  unbook: (tx, mined) => reverse(tx, `fee/${mined.txId}`),
  openRows: [
    {
      workflow: 'payoutBatch',
      sql: `SELECT b.id, jsonb_build_object('MerchantId', b.merchant_id) AS attributes FROM payout_batch b
             WHERE b.updated_at < now() - interval '60 seconds' AND (b.status = 'queued' OR b.status = 'processing'
                OR EXISTS (${openIntents('payout-batch', 'b.id')}))`,
    },
  ],
  // The alert names the batch: it is over when all of its currency has a plan.
  shortfallEnds: `i.subject_kind = 'payout-batch' AND NOT EXISTS (
    SELECT FROM payout_leg l
     WHERE l.batch_id = i.subject_id::bpchar
       AND l.currency = i.details->>'currency' AND l.status = 'pending'
       AND NOT EXISTS (SELECT FROM intent t WHERE t.id = l.intent_id AND t.status <> 'dead'))`,
};

export const unitsOf = (leg: Pick<LegRow, 'currency' | 'net_amount'>): bigint =>
  baseUnits(leg.currency, leg.net_amount);

/** Plans that pay one of these go; what they would have paid besides is planned anew. */
async function dropSome(tx: EntityManager, legs: readonly LegRow[]): Promise<void> {
  await dropIntents(
    tx,
    { kind: 'payout-batch', id: legs[0]!.batch_id },
    legs.flatMap((leg) => leg.intent_id ?? []),
  );
}

/** Addresses that are no longer on the whitelist are not paid; their plans go. The caller refreshes the batch. */
export async function failUnlisted(tx: EntityManager, legs: readonly LegRow[]): Promise<void> {
  await dropSome(tx, legs);
  await failLegs(tx, legs, 'The address is no longer on the withdrawal whitelist');
}

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

/** The payments that intents make, as the signer sees them: what their rows say, to addresses that are still on the
 *  whitelist. Locks the batches. Where one is `stored` or `ended` the caller refreshes the batch. */
async function linePurposes(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Purpose>> {
  const owned = intents.filter((intent) => intent.owner_kind === 'payout-batch');
  const batches = await lockBatches(tx, [...new Set(owned.map((intent) => intent.owner_id))]);
  const lines = Map.groupBy(
    await legsPaidBy(
      tx,
      batches.map((batch) => batch.id),
      owned.map((intent) => intent.id),
    ),
    (leg) => `${leg.batch_id} ${leg.intent_id}`,
  );
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  return new Map(
    owned.flatMap(({ id, owner_id: batchId }) => {
      const legs = lines.get(`${batchId} ${id}`);
      return legs ? [[id, purposeOf(tx, byId.get(batchId)!, legs)] as const] : [];
    }),
  );
}

function purposeOf(tx: EntityManager, batch: BatchRow, legs: readonly LegRow[]): Purpose {
  return {
    currency: legs[0]!.currency,
    merchantId: batch.merchant_id,
    outputs: outputsOf(legs),
    held: null,
    row: rowOf(batch, legs),
    isUnderWay: legs.every(isOpen),
    async unlisted(payeeIds) {
      await failUnlisted(
        tx,
        legs.filter((leg) => payeeIds.includes(leg.id)),
      );
      await refreshBatch(tx, batch);
    },
    stored: () => moveLegs(tx, legs, 'processing'),
    async sent(txId) {
      const fresh = legs.filter((leg) => leg.status === 'processing');
      if (!fresh.length) return;
      await moveLegs(tx, fresh, 'broadcast', { tx_id: txId });
      await refreshBatch(tx, batch);
    },
    ended: (attempt) => bookLegs(tx, legs, attempt),
  };
}

/** Exactly what these payments are to be given, in the order of the rows. */
export const outputsOf = (
  legs: ReadonlyArray<Pick<LegRow, 'currency' | 'net_amount' | 'address' | 'destination_tag'>>,
): Purpose['outputs'] => legs.map((leg) => ({ ...destinationOf(leg), units: unitsOf(leg).toString() }));

function rowOf(batch: BatchRow, legs: readonly LegRow[]): RowFacts {
  const name = `Payout ${batch.id}`;
  const isForeign = legs.some((leg) => leg.merchant_id !== batch.merchant_id);
  const other =
    legs.find((leg) => leg.status !== 'pending')?.status ?? (isForeign ? 'in part of another merchant' : null);
  return {
    name,
    state: other === null ? 'due' : 'other',
    says: `${name} is ${other}`,
    approval: {
      isGiven: batch.approved_at !== null,
      needsSecond: batch.needs_second_person,
      askedBy: batch.created_by_id,
      by: batch.approved_by_id,
    },
    payees: legs,
    admission: { kind: 'mass_payout', ref: batch.id },
  };
}

/** J6 and `completed`, or J7 and `failed`. */
async function bookLegs(tx: EntityManager, legs: readonly LegRow[], mined: AttemptRow): Promise<void> {
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
const isOpen = (leg: LegRow): boolean => leg.status === 'processing' || leg.status === 'broadcast';

/** J6 and `completed` of payments whose transactions are final and successful, in one go. A transaction that pays many has its fee
 *  booked apart. What was given back before and is spent stays failed: what has arrived besides is for operators. */
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
      egressJournal({
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
