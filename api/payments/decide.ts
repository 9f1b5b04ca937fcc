import type { EntityManager } from 'typeorm';
import { cancelPayment } from '../../commands/payments/cancel';
import { selectCurrency } from '../../commands/payments/select-currency';
import { failPoint } from '../../db/fail-point';
import { notifyPayment } from '../../db/chains/notify';
import type { Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import type { Outcome, PaymentRow } from '../../domain/payments/payment';
import { callerOf, type Caller } from '../access/users';
import type { ApiDeps } from '../http/deps';

/** What payer and merchant decide about a payment that nobody has paid. PostgreSQL decides, under the lock of the row,
 *  and answers; the workflow is notified in the same transaction, and may be slow. */

type By = 'payer' | 'merchant';

async function decided(deps: ApiDeps, id: string, act: (tx: EntityManager) => Promise<Outcome>): Promise<Outcome> {
  return deps.db.transaction(async (tx) => {
    const outcome = await act(tx);
    if (outcome.refused) throw new DomainError(outcome.refused);
    await notifyPayment(tx, id);
    return outcome;
  });
}

/** `caller`: the merchant's person or key; null: the payer. Throws PAYMENT_NOT_CANCELLABLE. */
export function cancelNow(deps: ApiDeps, { id }: PaymentRow, caller: Caller | null, reason?: string): Promise<Outcome> {
  const [by, actor] = caller === null ? (['payer', null] as const) : (['merchant', callerOf(caller)] as const);
  return decided(deps, id, async (tx) => {
    const outcome = await cancelPayment(tx, id, by, reason, actor);
    // Of several at once one has cancelled it; the others hear what they would have heard after it.
    return outcome.isRepeated ? { ...outcome, refused: 'PAYMENT_NOT_CANCELLABLE' } : outcome;
  });
}

/** Throws CURRENCY_NOT_CHANGEABLE, RATE_UNAVAILABLE, UPSTREAM_UNAVAILABLE. */
export async function selectNow(deps: ApiDeps, { id }: PaymentRow, currency: Currency, by: By): Promise<void> {
  await decided(deps, id, (tx) => selectCurrency(tx, deps, id, currency, by));
  await failPoint('select.afterCommit');
}
