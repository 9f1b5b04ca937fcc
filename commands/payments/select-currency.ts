import type { EntityManager } from 'typeorm';
import { isByLightning, networkOf, type Currency } from '../../domain/chains/assets';
import { sharesAccount } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { countedDeposits, isLive } from '../../domain/payments/counted';
import { receiverAt } from '../../domain/payments/receiver';
import { isCurrencyAllowed, type Outcome, type PaymentRow } from '../../domain/payments/payment';
import { failPoint } from '../../db/fail-point';
import { isSharedAccount, receiverOfPayment, type PaymentReceiver } from '../../db/payments/addresses';
import { keepQuote } from '../../db/payments/deposit-rates';
import { depthOf, emitPaymentEvents, factsOf, lockPayment, movePayment } from '../../db/payments/payments';
import { priceQuote } from '../../db/pricing/pricing';
import type { Priced } from '../../domain/pricing/price';
import { drawKey, noLiveKey, sharedKey } from '../../db/recovery/live-key';
import { canReceive, offerInvoice } from '../lightning/offer';
import { quoteColumns, quoteEnd } from './columns';
import type { PaymentCommandDeps } from './deps';

/** Row 3. An asset has one address per payment, drawn at its first choice; the addresses of earlier choices stay
 *  watched. Throws RATE_UNAVAILABLE and UPSTREAM_UNAVAILABLE. */
export async function selectCurrency(
  tx: EntityManager,
  deps: PaymentCommandDeps,
  id: string,
  currency: Currency,
  by: 'payer' | 'merchant',
): Promise<Outcome> {
  const { config } = deps;
  const payment = await lockPayment(tx, id);
  const refused: Outcome = { status: payment.status, refused: 'CURRENCY_NOT_CHANGEABLE' };
  const facts = await factsOf(tx, payment);
  if (payment.status !== 'AWAITING_CURRENCY' && payment.status !== 'WAITING') return refused;
  if (!isCurrencyAllowed(payment, currency)) return refused;
  if (facts.now >= payment.expires_at || facts.isBeingTaken || countedDeposits(facts).some(isLive)) return refused;
  if (payment.status === 'WAITING' && payment.currency === currency) return { status: payment.status };
  const priced = await priceIn(tx, deps, payment, currency);
  if (!priced) return refused;
  const network = networkOf(currency);
  const receiver = await receiverFor(tx, deps, payment, currency, priced);
  if (!receiver) return refused;
  const isFirst = payment.status === 'AWAITING_CURRENCY';
  const expiresAt = isFirst ? new Date(facts.now.getTime() + payment.expires_in * 1000) : payment.expires_at;
  await keepQuote(tx, payment);
  const moved = await movePayment(tx, payment, {
    to: 'WAITING',
    cause: `currency-selected-by-${by}`,
    events: ['payment.currency_selected'],
    patch: {
      ...quoteColumns(priced),
      currency,
      network: network.id,
      deposit_address: receiver.address,
      destination_tag: receiver.tag,
      settlement_address: priced.settlementAddress,
      custody: priced.custody,
      required_confirmations: depthOf({ currency, network: network.id }, config.confirmations),
      quoted_at: facts.now,
      quote_expires_at: quoteEnd(facts.now, config.QUOTE_TTL_SECONDS, expiresAt),
      expires_at: expiresAt,
    },
    details: { currency, rateId: priced.rateId },
  });
  if (isByLightning(currency)) await offerInvoice(tx, moved);
  await emitPaymentEvents(tx, payment, moved, ['payment.currency_selected']);
  await failPoint('select.beforeCommit');
  return { status: moved.status };
}

/** Where the money comes: an address of the payment's own, or none where an invoice asks for it. null: the payment has
 *  drawn all addresses that it may, or our Lightning node could not receive so much now. */
async function receiverFor(
  tx: EntityManager,
  deps: PaymentCommandDeps,
  payment: PaymentRow,
  currency: Currency,
  { quote }: Priced,
): Promise<PaymentReceiver | Readonly<{ address: null; tag: null }> | null> {
  if (isByLightning(currency))
    return (await canReceive(tx, currency, quote.amount)) ? { address: null, tag: null } : null;
  const { known, isFull } = await receiverOfPayment(tx, payment.id, currency);
  if (known === null && isFull) return null;
  return known ?? newReceiver(tx, deps, payment, currency);
}

/** The price in a currency; null where the merchant does not offer it for this price. Throws RATE_UNAVAILABLE. */
const priceIn = (
  tx: EntityManager,
  { config }: PaymentCommandDeps,
  payment: PaymentRow,
  currency: Currency,
): Promise<Priced | null> =>
  priceQuote(tx, {
    merchantId: payment.merchant_id,
    currency,
    fiatAmount: payment.fiat_amount,
    fiat: payment.fiat_currency,
    feeBps: payment.fee_bps,
    feeBearer: payment.fee_bearer,
    maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
  }).catch((error: unknown) => {
    if (error instanceof DomainError && error.code !== 'RATE_UNAVAILABLE') return null;
    throw error;
  });

/** A receiver that no payment has had before. */
async function newReceiver(
  tx: EntityManager,
  { codecs }: PaymentCommandDeps,
  payment: PaymentRow,
  currency: Currency,
): Promise<PaymentReceiver> {
  const network = networkOf(currency);
  const key = await drawKey(tx, network.id, 'deposit');
  const shared = sharesAccount(network.id) ? await sharedKey(tx, network.id) : null;
  const { address, keyIndex, tag } = receiverAt(codecs[network.id], network.id, { ...key, shared });
  if (tag !== null && !(await isSharedAccount(tx, network.id, address))) throw noLiveKey(network.id, 'treasury');
  await tx.query(
    `INSERT INTO address (network, address, tag, role, branch, key_index, currency, merchant_id, payment_id)
     VALUES ($1, $2, $3, 'deposit', $4, $5, $6, $7, $8)`,
    [network.id, address, tag ?? '', key.branch, keyIndex, currency, payment.merchant_id, payment.id],
  );
  await tx.query('SELECT watch_elsewhere($1, $2, $3)', [network.id, address, tag ?? '']);
  return { address, tag };
}
