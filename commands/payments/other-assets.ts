import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { add, compare } from '../../domain/money';
import { crossDeposits } from '../../domain/payments/counted';
import type { PaymentFacts } from '../../domain/payments/facts';
import type { CrossOffer, PaymentRow } from '../../domain/payments/payment';
import { needOf } from '../../domain/pricing/quote';
import { setDepositRate } from '../../db/payments/deposit-rates';
import { depositsById } from '../../db/payments/deposits';
import { emitPaymentEvents, movePayment, type PaymentPatch } from '../../db/payments/payments';
import { rateNow } from '../../db/pricing/pricing';
import { bookDeposits, reverseDeposits } from '../../db/ledger/ledger';
import { quoteInOffer } from './columns';
import type { AdvanceDeps } from './deps';

/** Deposits of other assets than the payment's own: rows 19 to 21. */

/** The price of a payment in another asset as of now. Throws RATE_UNAVAILABLE. */
async function offerNow(
  tx: EntityManager,
  { config }: AdvanceDeps,
  payment: PaymentRow,
  currency: string,
): Promise<{ offer: CrossOffer; now: Date; hasWallet: boolean }> {
  const { rateId, exchangeRate, nativeRate, networkFee, now, settlementAddress } = await rateNow(tx, {
    merchantId: payment.merchant_id,
    currency,
    fiat: payment.fiat_currency,
    maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
  });
  return {
    offer: { currency, rateId, exchangeRate, nativeRate, networkFee },
    now,
    hasWallet: settlementAddress !== null,
  };
}

const rateOf = (payment: PaymentRow, offer: CrossOffer) => ({
  rateId: offer.rateId,
  exchangeRate: offer.exchangeRate,
  quoteAmount: quoteInOffer(payment, offer).amount,
});

/** Row 19: the price in another asset as of now, and when it is accepted automatically: where the merchant wants that,
 *  has a wallet for the asset, and the deposits are worth the price. */
export async function crossOffer(
  tx: EntityManager,
  deps: AdvanceDeps,
  payment: PaymentRow,
  depositIds: readonly string[],
): Promise<PaymentPatch> {
  const deposits = await depositsById(tx, depositIds);
  const currency = deposits[0]!.currency!;
  const { offer, now, hasWallet } = await offerNow(tx, deps, payment, currency);
  const rate = rateOf(payment, offer);
  await setDepositRate(tx, depositIds, rate);
  const need = needOf(rate.quoteAmount, payment.tolerance_pct, currency);
  const hours = payment.auto_accept_cross_chain_hours ?? 0;
  const isWhole = compare(add('0', ...deposits.map(({ amount }) => amount)), need) >= 0;
  return {
    cross_offer: offer,
    cross_chain_auto_accept_at: hours > 0 && hasWallet && isWhole ? new Date(now.getTime() + hours * 3_600_000) : null,
  };
}

/** Gives deposits of other assets that have no rate yet the one on offer, or that of now, so that their value can be
 *  shown. Where no rate is fresh they stay without: holding them does not wait for one. */
export async function rateOthers(
  tx: EntityManager,
  deps: AdvanceDeps,
  payment: PaymentRow,
  ids: readonly string[],
): Promise<void> {
  const unrated = (await depositsById(tx, ids)).filter((deposit) => deposit.exchange_rate === null);
  for (const { id, currency } of unrated) {
    const offer =
      payment.status === 'CROSS_CHAIN_PENDING' && payment.cross_offer?.currency === currency
        ? payment.cross_offer!
        : await offerNow(tx, deps, payment, currency!).then(
            (made) => made.offer,
            (error: unknown) => {
              if (error instanceof DomainError && error.code === 'RATE_UNAVAILABLE') return null;
              throw error;
            },
          );
    if (offer) await setDepositRate(tx, [id], rateOf(payment, offer));
  }
}

/** Books confirmed deposits of another asset as `unallocated`, and says so. */
export async function bookOther(
  tx: EntityManager,
  deps: AdvanceDeps,
  payment: PaymentRow,
  depositIds: readonly string[],
): Promise<PaymentRow> {
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'other-asset',
    events: [],
    details: { depositIds },
  });
  await rateOthers(tx, deps, moved, depositIds);
  await bookDeposits(tx, moved, depositIds, 'unallocated');
  const isPending = moved.status === 'CROSS_CHAIN_PENDING';
  await emitPaymentEvents(tx, payment, moved, [isPending ? 'payment.cross_chain_pending' : 'payment.other_deposit']);
  return moved;
}

/** Unallocated deposits are no longer confirmed: their journals are reversed. Where the payment showed one of another
 *  asset, it says so, unless the next step does. */
export async function reverseUnallocated(
  tx: EntityManager,
  payment: PaymentRow,
  facts: PaymentFacts,
  depositIds: readonly string[],
): Promise<PaymentRow> {
  const isShown = facts.deposits.some(
    ({ id, currency, addressCurrency }) => depositIds.includes(id) && currency !== addressCurrency,
  );
  const isEmittedNext = payment.status === 'CROSS_CHAIN_PENDING' && crossDeposits(facts).length === 0;
  if (!isShown || isEmittedNext) {
    await reverseDeposits(tx, depositIds);
    return payment;
  }
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'deposit-lost',
    events: [],
    addExceptions: ['reorged'],
    details: { depositIds },
  });
  await reverseDeposits(tx, depositIds);
  await emitPaymentEvents(tx, payment, moved, ['payment.reorged']);
  return moved;
}

/** Another asset than the one on offer is on offer from now on. */
export async function offerOther(
  tx: EntityManager,
  deps: AdvanceDeps,
  payment: PaymentRow,
  depositIds: readonly string[],
): Promise<PaymentRow> {
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'other-asset',
    events: [],
    patch: await crossOffer(tx, deps, payment, depositIds),
    details: { depositIds },
  });
  await emitPaymentEvents(tx, payment, moved, ['payment.cross_chain_pending']);
  return moved;
}

/** The deadline of the automatic acceptance has found too little, or no wallet: row 21 from now on. */
export async function leaveToMerchant(tx: EntityManager, payment: PaymentRow): Promise<PaymentRow> {
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'other-asset-not-accepted-by-itself',
    events: [],
    patch: { cross_chain_auto_accept_at: null },
  });
  await emitPaymentEvents(tx, payment, moved, ['payment.cross_chain_pending']);
  return moved;
}
