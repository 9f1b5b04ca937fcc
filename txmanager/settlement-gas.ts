import { unsettledDeposits } from '../db/payments/deposits';
import { paymentColumns } from '../db/payments/payments';
import { baseUnits, isToken, networkOf } from '../domain/chains/assets';
import type { GasAnswer } from '../domain/chains/chain';
import { gasCeiling, gasLimitOf } from '../domain/chains/costs';
import { add, smaller } from '../domain/money';
import type { PaymentRow } from '../domain/payments/payment';
import { splitPaid } from '../domain/pricing/quote';
import { nodeOf, type GasDeps } from './gas-node';

/** What a transfer of a payment's net to the merchant's own address takes, before it is planned; null where it goes to
 *  ours, on networks that need no gas, or where a node cannot say now. */
export async function settlementGas(deps: GasDeps, paymentId: string): Promise<GasAnswer | null> {
  const { manager } = deps.db;
  const [payment] = await manager.query<PaymentRow[]>(`SELECT ${paymentColumns} FROM payment p WHERE id = $1`, [
    paymentId,
  ]);
  if (payment?.status !== 'CONFIRMED' || payment.custody !== 'external' || !payment.currency) return null;
  const { currency } = payment;
  const { id: network, kind } = networkOf(currency);
  const deposits = await unsettledDeposits(manager, paymentId);
  const [first] = deposits;
  if (kind !== 'account' || !first) return null;
  const paid = add('0', ...deposits.map(({ amount }) => amount));
  const { net } = splitPaid(paid, currency, payment.fee_bps, payment.network_fee_amount!);
  const units = baseUnits(currency, smaller(net, first.amount));
  const ceiling = gasCeiling(currency);
  const answer = await nodeOf(deps, { network }).estimateGas({
    from: first.address,
    to: payment.settlement_address!,
    currency,
    units,
    ceiling,
    // A token's is brought, and our part is moved beside it.
    ...(isToken(currency) ? { topUp: 'shared' as const } : {}),
  });
  if (answer?.state === 'done') return { ...answer, gas: gasLimitOf(currency, answer.gas) };
  return answer?.state === 'reverts' ? answer : null;
}

/** What a merchant reads of a payment whose settlement address refuses it. */
export const settlementRefused =
  'its settlement address does not take the transfer, which would be reverted; nothing was sent';
