import type { DataSource, EntityManager } from 'typeorm';
import { failPoint } from '../../db/fail-point';
import { openIncidentAgain, resolveIncident } from '../../db/incidents';
import { ensure } from '../../db/ledger/ledger';
import {
  decideInvoice,
  endInvoice,
  lockInvoice,
  noteHeld,
  noteLooked,
  recordTaken,
  type InvoiceRow,
} from '../../db/lightning/invoices';
import { lockPayment } from '../../db/payments/payments';
import { lightningJournal } from '../../domain/ledger/lightning';
import { nextHeldStep, satoshiIn, type HeldSighting, type HeldStep } from '../../domain/lightning/held-money';
import { recordOf } from '../../domain/lightning/invoice-states';
import { settleByLightning } from './settle';

/** What a node said of an invoice, and when it was asked. */
export type HeldLook = Readonly<{
  sighting: HeldSighting;
  /** The node's newest block; null: it does not know that it has the newest. */
  height: number | null;
  /** The time of the payment was over before the node was asked. */
  isPast: boolean;
}>;

/** Carries out the step that follows from a look at the node, all but the word to the node, in one transaction. Returns
 *  the step: `settle` and `cancel` are for the caller to say. Safe to repeat, and for two at once. */
export const stepHeld = (db: DataSource, id: string, { sighting, height, isPast }: HeldLook): Promise<HeldStep> =>
  db.transaction(async (tx) => {
    const { row, isWanted, isInDoubt, isLostForGood } = await lockInvoice(tx, id);
    const step = nextHeldStep({
      record: recordOf(row),
      sighting,
      height,
      isWanted,
      isPast,
      askedMsat: BigInt(row.asked_msat),
      isLostForGood,
    });
    await apply(tx, row, sighting, step);
    if (isInDoubt && step.do === 'wait') await noteLooked(tx, row.id);
    await noteIncident(tx, row, step);
    await failPoint('lightning.beforeCommit');
    return step;
  });

async function apply(tx: EntityManager, row: InvoiceRow, { state }: HeldSighting, step: HeldStep): Promise<void> {
  switch (step.do) {
    case 'decide':
      await decideInvoice(tx, row.id, step.decision, step.why);
      return;
    case 'book':
      return bookTaken(tx, row, step.msat);
    case 'end':
      await endInvoice(tx, row.id);
      return;
    case 'wait':
      if (state === 'accepted') await noteHeld(tx, row.id);
      return;
    case 'settle':
    case 'cancel':
      return;
  }
}

/** Once for each payment hash: the row, J13, and the settlement of the payment that waited for it. */
async function bookTaken(tx: EntityManager, row: InvoiceRow, msat: bigint): Promise<void> {
  if (!(await recordTaken(tx, row.id, msat)) || satoshiIn(msat) === 0n) return;
  const payment = await lockPayment(tx, row.payment_id);
  await ensure(
    tx,
    lightningJournal({
      hash: row.hash!,
      merchantId: payment.merchant_id,
      currency: row.currency,
      takenMsat: msat,
      allocation: row.is_for_payment ? 'unsettled' : 'unallocated',
    }),
  );
  if (row.is_for_payment) await settleByLightning(tx, row, msat);
}

async function noteIncident(tx: EntityManager, row: InvoiceRow, step: HeldStep): Promise<void> {
  const of = { subject: { kind: 'payment', id: row.payment_id }, distinction: row.id } as const;
  const kind = 'incident' in step ? step.incident : undefined;
  if (kind) await openIncidentAgain(tx, { kind, ...of, details: { invoiceId: row.id, hash: row.hash } });
  if (kind !== 'held-lost' && row.decision === 'take') await resolveIncident(tx, { kind: 'held-lost', ...of });
}
