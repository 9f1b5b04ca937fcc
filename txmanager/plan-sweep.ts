import type { EntityManager } from 'typeorm';
import { networkOf } from '../domain/chains/assets';
import { add } from '../domain/money';
import { sweepCost } from '../domain/sweeps/sweep';
import { costsTooMuch } from '../domain/sweeps/sweep-batch';
import { databaseNow } from '../db/payments/payments';
import type { IntentOwner } from '../domain/workflow-ids';
import { type SweepTerms, type Ready, deadlinesOf, unitPriceOf, strandedFor } from './sweep-terms';
import { planAlone } from './plan-sweep-alone';
import { canBatch, planTogether } from './plan-sweep-batch';

/** Whom a sweep moves, and whose the sweep is; or why it waits, and until when at the most. */
export type Planned =
  | Readonly<{ owner: IntentOwner; members: readonly Ready[] }>
  | Readonly<{ wait: string; lookAgainInMs: number; isOverdue: boolean }>;

/** How often a better price is looked for. */
const priceLookMs = 900_000;

/** Plans the sweep of a payment: with others where there are some, alone where that costs
 *  little or the time is up, or later. */
export async function planNow(
  tx: EntityManager,
  own: Ready,
  terms: SweepTerms,
  settlementGas?: bigint,
): Promise<Planned> {
  const { payment } = own;
  const now = await databaseNow(tx);
  const { batch, price } = deadlinesOf(payment, terms);
  // It goes on alone where something is signed already.
  const hasStranded = (await strandedFor(tx, own)).length > 0;
  if (!hasStranded && canBatch(payment, terms) && now < batch)
    return wait(`it is swept with others at ${batch.toISOString()}`, batch.getTime() - now.getTime() + 50);
  const planned = hasStranded ? null : await planTogether(tx, own, terms, now);
  if (planned) return { owner: { kind: 'sweep-batch', id: planned.id }, members: planned.members };
  const isDue = now >= price;
  if (!isDue && (await isAboveMaxCost(tx, own, terms))) {
    const reason = `its sweep alone would cost more than ${terms.maxCostPct} % of it; it waits for other payments or a better price until ${price.toISOString()}`;
    return wait(reason, Math.min(priceLookMs, price.getTime() - now.getTime() + 50));
  }
  if (await planAlone(tx, own, settlementGas)) return { owner: { kind: 'sweep', id: payment.id }, members: [own] };
  return { ...wait('moving it would cost more than it is worth now', priceLookMs), isOverdue: isDue };
}

const wait = (reason: string, lookAgainInMs: number): Extract<Planned, { wait: string }> => ({
  wait: reason,
  lookAgainInMs,
  isOverdue: false,
});

async function isAboveMaxCost(tx: EntityManager, { payment, deposits }: Ready, terms: SweepTerms): Promise<boolean> {
  const currency = payment.currency!;
  const network = networkOf(currency);
  const count = network.kind === 'utxo' ? deposits.length : new Set(deposits.map((one) => one.address)).size;
  const cost = sweepCost(currency, count, await unitPriceOf(tx, network.id), payment.native_rate!);
  return costsTooMuch(cost, add('0', ...deposits.map((deposit) => deposit.amount)), terms.maxCostPct);
}
