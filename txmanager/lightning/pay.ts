import type { DataSource, EntityManager } from 'typeorm';
import type { LndPayments } from '../../chains/lightning/payments';
import { readInvoice, type BitcoinNetwork } from '../../chains/lightning/invoice';
import {
  countCall,
  endPayment,
  lockLightningPayment,
  noteAnswered,
  noteWord,
  paidFor,
  readPayment,
  type LightningPaymentRow,
} from '../../db/lightning/payments';
import type { CalledRecord, CallRecord } from '../../db/recovery/lost-invoices';
import { DomainError } from '../../domain/errors';
import { lightningAddressIn } from '../../domain/lightning/receiver';
import { nextOutgoingStep } from '../../domain/lightning/outgoing-payment';
import type { Obligation } from '../obligation';
import type { Signer } from '../sign/signer';
import { owners } from './owners';
import { mayPay, mayPayAgain } from './policy';

/** How an invoice is paid once: the decision is in the database before the node is told, and the node's own word books
 *  it. docs/decisions/0083-withdrawals-by-lightning.md */

export type PayDeps = Readonly<{
  db: DataSource;
  payments: LndPayments;
  network: BitcoinNetwork;
  /** Outside the database, which may be restored to before a call. */
  record: Pick<CallRecord, 'keep'>;
  /** Payments of one merchant that the node has under way at once, at the most; absent: as usual. */
  mostUnderWay?: number;
  /** Between two calls for one payment, by the database's clock: `pauseMs`, but for tests. */
  pauseMs: number;
  /** Milliseconds of the day's clock and of one that only counts on: of a machine that was halted one of them stood. */
  clocks?: () => readonly number[];
}> &
  Pick<Signer, 'newDestinations'>;

/** A call that was decided on is begun this soon, or not at all: when it is given up, nobody expects it any more. */
const beginWithinMs = 25_000;
const bothClocks = (): readonly number[] => [Date.now(), performance.now()];

/** How long ways are looked for, in how many parts, and for how many blocks it may be under way: a week, as the hints
 *  of an invoice may ask for more than the invoice does. */
const bounds = { timeoutSeconds: 60, maxParts: 16, mostBlocks: 1008 } as const;

export const notPaid = 'No way to its receiver was found, or the invoice has expired: nothing has left';

/** What a look came to: the node is to be told, or why nothing happens yet. */
type Done = Readonly<{ isToSend?: true; waitsFor?: string }>;
type Seen = Awaited<ReturnType<LndPayments['track']>>;
type Read = Awaited<ReturnType<typeof readPayment>>;

/** Looks at the node, and does what follows: waits, has it pay, or books the end. Why it waits; null: it went on. Safe
 *  to repeat, and for two at once. Throws NODE_UNREACHABLE, INTENT_MISMATCH. */
export async function stepPayment(deps: PayDeps, hash: string): Promise<string | null> {
  const before = await readPayment(deps.db, hash, deps.pauseMs);
  const seen = await deps.payments.track(hash);
  const { clocks = bothClocks } = deps;
  const decidedAt = clocks();
  const done = await deps.db.transaction((tx) => stepIn(deps, tx, before, seen));
  if (!done.isToSend) return done.waitsFor ?? null;
  if (clocks().some((now, n) => Math.abs(now - decidedAt[n]!) > beginWithinMs)) {
    await noteAnswered(deps.db, hash, false); // there is no call that could arrive
    return 'this process was halted before the call';
  }
  const { invoice, fee_limit_msat: limit } = before;
  // Where this fails the call counts as unanswered: it may yet arrive. A refusal is an answer.
  const answer = await deps.payments.pay({ invoice, feeLimitMsat: BigInt(limit), ...bounds });
  await noteAnswered(deps.db, hash, answer.state === 'under way' || answer.state === 'paid');
  return answer.state === 'refused' ? `the node refuses it: ${answer.reason}` : null;
}

async function stepIn(deps: PayDeps, tx: EntityManager, before: Read, seen: Seen): Promise<Done> {
  const { hash } = before;
  const { kind, ref } = paidFor(before);
  const obligation = (await owners[kind].obligation(tx, ref))!;
  const row = await lockLightningPayment(tx, hash);
  // A call that began or ended since the node was asked makes its answer an old one, and so does a newer answer.
  if (row.calls !== before.calls || row.unanswered !== before.unanswered || row.outcome !== before.outcome) return {};
  if ((row.under_way_at === null) !== (before.under_way_at === null)) return {};
  const isForgotten = await noteWord(tx, row, seen.state);
  const { calls, unanswered, outcome } = row;
  const record = { calls, unanswered, outcome };
  const isOver = { isExpired: before.isExpired, isGivenUp: row.given_up_at !== null, isForgotten };
  const { isTooSoon } = before;
  const step = nextOutgoingStep({ record, ...isOver, sighting: seen, maySend: true, isTooSoon });
  switch (step.do) {
    case 'wait':
      return { waitsFor: isForgotten ? 'the node has forgotten it' : 'the node has it under way, or may have' };
    case 'end':
      return {};
    case 'fail':
      await bookFailed(tx, row);
      return {};
    case 'book':
      await bookPaid(tx, row, seen, obligation);
      return {};
    case 'send':
      return send(deps, tx, row, obligation);
  }
}

/** Counts the call that follows, if it may be made. */
async function send(deps: PayDeps, tx: EntityManager, row: LightningPaymentRow, obligation: Obligation): Promise<Done> {
  const payee = checkInvoice(deps, row, obligation);
  const isFirst = row.calls === 0;
  const verdict = isFirst ? await mayPay(tx, deps, row, { obligation, payee }) : await mayPayAgain(tx, obligation);
  if (verdict.state === 'refused') throw new DomainError('INTENT_MISMATCH', verdict.reason);
  if (verdict.state === 'waiting') return { waitsFor: verdict.reason };
  if (verdict.state === 'dropped') {
    if (row.unanswered > 0) return { waitsFor: 'its payee is no longer listed, and the node may have it under way' };
    await endPayment(tx, row.hash, { outcome: 'failed' });
    await obligation.unlisted?.(verdict.unlisted);
    return {};
  }
  if (isFirst) {
    await obligation.stored();
    await deps.record.keep([called(row)]);
  }
  await countCall(tx, row.hash);
  return { isToSend: true };
}

const called = (row: LightningPaymentRow): CalledRecord => ({
  ...{ ...paidFor(row), hash: row.hash, invoice: row.invoice },
  ...{ amountMsat: row.amount_msat, feeLimitMsat: row.fee_limit_msat, expiresAt: row.expires_at.toISOString() },
});

/** A withdrawal names the node that is paid, or a Lightning address, as a payout line does; a refund the invoice. */
const isPaidBy = (receiver: string, payee: string, invoice: string): boolean =>
  lightningAddressIn(receiver) !== null || receiver === payee || receiver === invoice;

/** The text of the invoice says what is paid to whom: it is read here once more, whatever the row says. What a
 *  Lightning address gave has no sign of it. Returns the node that is paid. */
function checkInvoice({ network }: PayDeps, row: LightningPaymentRow, { outputs }: Obligation): string {
  const invoice = readInvoice(row.invoice);
  const [output, ...others] = outputs;
  const isAsSaid =
    invoice.hash === row.hash &&
    invoice.network === network &&
    invoice.amountMsat?.toString() === row.amount_msat &&
    output !== undefined &&
    isPaidBy(output.address, invoice.payee, row.invoice) &&
    invoice.expiresAt * 1000 === row.expires_at.getTime() &&
    1000n * BigInt(output.units) === invoice.amountMsat &&
    !others.length;
  if (!isAsSaid) throw new DomainError('INTENT_MISMATCH', `Invoice ${row.hash} is not what it is for`);
  return invoice.payee;
}

/** Released, and what it is for has failed. */
async function bookFailed(tx: EntityManager, row: LightningPaymentRow): Promise<void> {
  const { kind, ref } = paidFor(row);
  await endPayment(tx, row.hash, { outcome: 'failed' });
  await owners[kind].fail(tx, ref, notPaid);
}

/** J6 and `completed`, by the node's word, which shows the preimage. */
async function bookPaid(tx: EntityManager, row: LightningPaymentRow, seen: Seen, to: Obligation): Promise<void> {
  const { hash, amount_msat: amount } = row;
  const { kind, ref } = paidFor(row);
  if (seen.state !== 'paid' || seen.amountMsat.toString() !== amount)
    throw new DomainError('INTENT_MISMATCH', `The Lightning node has paid another amount for ${hash} than ${amount}`);
  await endPayment(tx, hash, { outcome: 'paid', preimage: seen.preimage, feeMsat: seen.feeMsat });
  if (to.row.state === 'due') await to.stored(); // a restored database had forgotten that it was called for
  await owners[kind].book(tx, ref, { hash, feeMsat: seen.feeMsat });
}
