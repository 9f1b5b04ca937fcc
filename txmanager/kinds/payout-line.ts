import type { EntityManager } from 'typeorm';
import { destinationOf } from '../../domain/chains/tags';
import { unitsOf, type BatchRow, type LegRow } from '../../domain/payouts/payout';
import { reverse } from '../../db/ledger/ledger';
import {
  holdOfLeg,
  legsOf,
  legsPaidBy,
  lockBatch,
  lockBatches,
  moveLegs,
  pendingLegsOf,
} from '../../db/payouts/payouts';
import { refreshBatch } from '../../commands/payouts/refresh';
import { reopenLegs } from '../../commands/payouts/reopen';
import type { Obligation, RowFacts, ServedIntent } from '../obligation';
import { openIntents, summaryAs, type OutgoingKind } from './kind';
import { bookLegs, failUnlisted, isOpen, refuseLegs } from './payout-line-end';

export const payoutLine: OutgoingKind = {
  kind: 'leg',
  summary: summaryAs('Payout'),
  owner: null,
  obligation: lineObligations,
  refused: async (tx, intent, message) => {
    const batch = (await lockBatch(tx, intent.owner_id))!;
    const legs = (await legsOf(tx, batch.id, ['pending'])).filter((leg) => leg.intent_id === intent.id);
    if (!legs.length) return;
    await refuseLegs(tx, legs, message);
    await refreshBatch(tx, batch);
  },
  // On account chains, where gas is estimated, a transaction pays one line.
  asked: async (tx, intent) => {
    const [leg] = await pendingLegsOf(tx, intent.id);
    return leg ? { hold: holdOfLeg(leg), quoted: leg.network_fee } : null;
  },
  lines: linesOf,
  takenOver: async (tx, intentId) => {
    const [{ batch_id: id }] = await tx.query<[{ batch_id: string }]>(
      'SELECT owner_id AS batch_id FROM intent WHERE id = $1',
      [intentId],
    );
    await refreshBatch(tx, (await lockBatch(tx, id))!);
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

async function linesOf(tx: EntityManager, intentId: string): Promise<string[]> {
  const lines = await tx.query<Array<{ id: string }>>('SELECT id FROM payout_leg WHERE intent_id = $1', [intentId]);
  return lines.map(({ id }) => id);
}

/** The payments that intents make, as the signer sees them: what their rows say, to addresses that are still on the
 *  whitelist. Locks the batches. Where one is `stored` or `ended` the caller refreshes the batch. */
async function lineObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
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
      return legs ? [[id, obligationOf(tx, byId.get(batchId)!, legs)] as const] : [];
    }),
  );
}

function obligationOf(tx: EntityManager, batch: BatchRow, legs: readonly LegRow[]): Obligation {
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
): Obligation['outputs'] => legs.map((leg) => ({ ...destinationOf(leg), units: unitsOf(leg).toString() }));

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
