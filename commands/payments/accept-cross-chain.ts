import type { EntityManager } from 'typeorm';
import { transactionsOf } from '../../domain/chains/balance-deposit';
import { networkOf } from '../../domain/chains/assets';
import { add, compare } from '../../domain/money';
import { crossDeposits } from '../../domain/payments/counted';
import { neededShare, shareOf, valueOf } from '../../domain/payments/payable';
import type { Outcome, PaymentRow } from '../../domain/payments/payment';
import type { Actor } from '../../db/access/audit-log';
import { keepQuote, setDepositRate } from '../../db/payments/deposit-rates';
import { depositsById } from '../../db/payments/deposits';
import { emitPaymentEvents, factsOf, lockPayment, movePayment, requiredDepth } from '../../db/payments/payments';
import { reverseBooked } from '../../db/ledger/ledger';
import { quoteColumns, quoteInOffer } from './columns';
import type { PaymentCommandDeps } from './deps';
import { deciderOf, recordDecision } from './record-decision';

/** Row 20, by the merchant. */
export async function acceptCrossChain(
  tx: EntityManager,
  deps: PaymentCommandDeps,
  id: string,
  actor: Actor | null = null,
): Promise<Outcome> {
  const payment = await lockPayment(tx, id);
  const cross = crossDeposits(await factsOf(tx, payment)).map((deposit) => deposit.id);
  const moved =
    payment.status === 'CROSS_CHAIN_PENDING' && cross.length
      ? await takeOtherAsset(tx, deps, payment, cross, 'other-asset-accepted-by-merchant', actor)
      : null;
  if (moved) await recordDecision(tx, actor, 'other_asset_accepted', { before: payment, after: moved });
  return moved ? { status: moved.status } : { status: payment.status, refused: 'INVALID_STATE' };
}

/** Row 20: the other asset becomes the payment's own, at the price of the moment when it was noticed. null where the
 *  merchant has no active wallet for it, or nothing of it is there. */
export async function takeOtherAsset(
  tx: EntityManager,
  { config }: PaymentCommandDeps,
  payment: PaymentRow,
  depositIds: readonly string[],
  cause: string,
  actor: Actor | null = null,
): Promise<PaymentRow | null> {
  const offer = payment.cross_offer!;
  const [wallet] = await tx.query<Array<{ settlement_address: string; custody: 'platform' | 'external' }>>(
    'SELECT settlement_address, custody FROM merchant_wallet WHERE merchant_id = $1 AND currency = $2 AND is_active',
    [payment.merchant_id, offer.currency],
  );
  if (!wallet) return null;
  const deposits = (await depositsById(tx, depositIds)).filter((deposit) => deposit.currency === offer.currency);
  if (!deposits.length) return null;
  const quote = quoteInOffer(payment, offer);
  const rate = { rateId: offer.rateId, exchangeRate: offer.exchangeRate, quoteAmount: quote.amount };
  const taken = deposits.map(({ amount }) => ({ amount, ...rate, inherited: [] }));
  const isShort = compare(shareOf(taken), neededShare(payment.tolerance_pct)) < 0;
  await keepQuote(tx, payment);
  const ids = deposits.map((deposit) => deposit.id);
  await setDepositRate(tx, ids, rate);
  const network = networkOf(offer.currency);
  const moved = await movePayment(tx, payment, {
    to: 'CONFIRMING',
    cause,
    events: ['payment.cross_chain_accepted'],
    addExceptions: ['wrongCurrency', ...(isShort ? ['underpaid' as const] : [])],
    patch: {
      ...quoteColumns({ ...offer, quote }),
      currency: offer.currency,
      network: network.id,
      settlement_address: wallet.settlement_address,
      custody: wallet.custody,
      required_confirmations: requiredDepth(network.id, config.confirmations),
      original_currency: payment.currency,
      original_amount: payment.amount,
      accepted_share: isShort ? shareOf(taken) : null,
      amount_paid: add('0', ...deposits.map((deposit) => deposit.amount)),
      value_paid: valueOf(taken),
      tx_ids: transactionsOf(deposits.map((deposit) => deposit.tx_id)),
      cross_chain_auto_accept_at: null,
    },
    details: { currency: offer.currency, rateId: offer.rateId, depositIds, ...deciderOf(actor) },
  });
  await reverseBooked(tx, deposits);
  await emitPaymentEvents(tx, payment, moved, ['payment.cross_chain_accepted']);
  return moved;
}
