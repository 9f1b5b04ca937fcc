import type { EntityManager } from 'typeorm';
import { destinationOf } from '../../domain/chains/tags';
import { addedFeesOf } from '../../domain/txmanager/added-fee';
import { unitsOf, type BatchRow, type PayoutLineRow } from '../../domain/payouts/payout';
import { reverse } from '../../db/ledger/ledger';
import {
  holdOfLine,
  linesOf,
  linesPaidBy,
  lockBatch,
  lockBatches,
  moveLines,
  pendingLinesOf,
} from '../../db/payouts/payouts';
import { refreshBatch } from '../../commands/payouts/refresh';
import { reopenLines } from '../../commands/payouts/reopen';
import type { Obligation, RowFacts, ServedIntent } from '../obligation';
import { openIntents, summaryAs, type OutgoingKind } from './kind';
import { bookLines, expireLines, failUnlisted, isOpen, refuseLines } from './payout-line-end';

export const payoutLine: OutgoingKind = {
  kind: 'leg',
  summary: summaryAs('Payout'),
  owner: null,
  obligation: lineObligations,
  refused: async (tx, intent, message) => {
    const batch = (await lockBatch(tx, intent.owner_id))!;
    const lines = (await linesOf(tx, batch.id, ['pending'])).filter((line) => line.intent_id === intent.id);
    if (!lines.length) return;
    await refuseLines(tx, lines, message);
    await refreshBatch(tx, batch);
  },
  // On account chains, where gas is estimated, a transaction pays one line.
  asked: async (tx, intent) => {
    const [line] = await pendingLinesOf(tx, intent.id);
    return line ? { hold: holdOfLine(line), row: line, bearer: 'receiver' } : null;
  },
  lines: lineIdsOf,
  reassigned: async (tx, intentId) => {
    const [{ batch_id: id }] = await tx.query<[{ batch_id: string }]>(
      'SELECT owner_id AS batch_id FROM intent WHERE id = $1',
      [intentId],
    );
    await refreshBatch(tx, (await lockBatch(tx, id))!);
  },
  reopen: reopenLines,
  unbook: (tx, mined) => reverse(tx, `fee/${mined.txId}`),
  openRows: [
    {
      workflow: 'payoutBatch',
      sql: `SELECT b.id, jsonb_build_object('MerchantId', b.merchant_id) AS attributes FROM payout_batch b
             WHERE b.updated_at < now() - interval '60 seconds' AND (b.status IN ('queued', 'processing') AND EXISTS (
                 SELECT FROM payout_leg l WHERE l.batch_id = b.id AND l.currency <> 'BTC_LN'
                   AND l.status IN ('pending', 'processing', 'broadcast'))
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

async function lineIdsOf(tx: EntityManager, intentId: string): Promise<string[]> {
  const rows = await tx.query<Array<{ id: string }>>('SELECT id FROM payout_leg WHERE intent_id = $1', [intentId]);
  return rows.map(({ id }) => id);
}

/** The lines that intents pay, as the signer sees them: what their rows say, to addresses that are still on the
 *  whitelist. Locks the batches. Where one is `stored` or `ended` the caller refreshes the batch. */
async function lineObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
  const owned = intents.filter((intent) => intent.owner_kind === 'payout-batch');
  const batches = await lockBatches(tx, [...new Set(owned.map((intent) => intent.owner_id))]);
  const byIntent = Map.groupBy(
    await linesPaidBy(
      tx,
      batches.map((batch) => batch.id),
      owned.map((intent) => intent.id),
    ),
    (line) => `${line.batch_id} ${line.intent_id}`,
  );
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  return new Map(
    owned.flatMap(({ id, owner_id: batchId }) => {
      const lines = byIntent.get(`${batchId} ${id}`);
      return lines ? [[id, obligationOf(tx, byId.get(batchId)!, lines)] as const] : [];
    }),
  );
}

/** A line that is paid by Lightning, and has no intent. */
export type InvoicedLine = PayoutLineRow & Readonly<{ batch: BatchRow }>;

/** Locks its batch; null where there is none. */
export async function lockInvoicedLine(tx: EntityManager, id: string): Promise<InvoicedLine | null> {
  const [of] = await tx.query<Array<{ batch_id: string }>>('SELECT batch_id FROM payout_leg WHERE id = $1', [id]);
  const batch = of ? await lockBatch(tx, of.batch_id) : null;
  if (!batch) return null;
  const [line] = await tx.query<PayoutLineRow[]>('SELECT * FROM payout_leg WHERE id = $1', [id]);
  return { ...line!, batch };
}

export const invoicedLineObligation = (tx: EntityManager, line: InvoicedLine): Obligation => {
  const obligation = obligationOf(tx, line.batch, [line]);
  return {
    ...obligation,
    async stored() {
      await obligation.stored();
      await refreshBatch(tx, line.batch);
    },
  };
};

function obligationOf(tx: EntityManager, batch: BatchRow, lines: readonly PayoutLineRow[]): Obligation {
  return {
    currency: lines[0]!.currency,
    merchantId: batch.merchant_id,
    outputs: outputsOf(lines),
    fromDeposits: null,
    row: rowOf(batch, lines),
    isUnderWay: lines.every(isOpen),
    async unlisted(payeeIds) {
      await failUnlisted(
        tx,
        lines.filter((line) => payeeIds.includes(line.id)),
      );
      await refreshBatch(tx, batch);
    },
    async givenUp() {
      await expireLines(tx, lines);
      await refreshBatch(tx, batch);
    },
    stored: () => moveLines(tx, lines, 'processing'),
    async allStored() {
      if (batch.status !== 'processing') await refreshBatch(tx, batch);
    },
    async sent(txId) {
      const fresh = lines.filter((line) => line.status === 'processing');
      if (!fresh.length) return;
      await moveLines(tx, fresh, 'broadcast', { tx_id: txId });
      await refreshBatch(tx, batch);
    },
    ended: (attempt) => bookLines(tx, lines, attempt),
  };
}

/** Exactly what the receivers of these lines are to be given, in the order of the rows. */
export const outputsOf = (
  lines: ReadonlyArray<Pick<PayoutLineRow, 'currency' | 'net_amount' | 'address' | 'destination_tag'>>,
): Obligation['outputs'] => lines.map((line) => ({ ...destinationOf(line), units: unitsOf(line).toString() }));

function rowOf(batch: BatchRow, lines: readonly PayoutLineRow[]): RowFacts {
  const name = `Payout ${batch.id}`;
  const isForeign = lines.some((line) => line.merchant_id !== batch.merchant_id);
  const other =
    lines.find((line) => line.status !== 'pending')?.status ?? (isForeign ? 'in part of another merchant' : null);
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
    payees: lines,
    addedFees: addedFeesOf(lines),
    limitUse: { kind: 'mass_payout', ref: batch.id },
  };
}
