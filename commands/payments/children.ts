import type { EntityManager } from 'typeorm';
import { transactionsOf } from '../../domain/chains/balance-deposit';
import { assetOf } from '../../domain/chains/assets';
import { newId, newSlug } from '../../domain/ids';
import { fit, larger } from '../../domain/money';
import type { Step } from '../../domain/payments/facts';
import { untouched, type PaymentRow } from '../../domain/payments/payment';
import { fiatValue, splitPaid } from '../../domain/pricing/quote';
import type { Actor } from '../../db/access/audit-log';
import { setDepositRate } from '../../db/payments/deposit-rates';
import { depositsById, type DepositRow } from '../../db/payments/deposits';
import { insertPayment } from '../../db/payments/insert';
import { emitPaymentEvents, lockPayment, movePayment, requiredDepth } from '../../db/payments/payments';
import { rateNow } from '../../db/pricing/pricing';
import type { Price } from '../../domain/pricing/price';
import { walletsOf } from '../../db/wallets/wallets';
import { reverseBooked } from '../../db/ledger/ledger';
import { operatorView } from './create';
import type { PaymentCommandDeps } from './deps';
import { deciderOf } from './record-decision';

/** Row 18: deposits that do not belong to `parent` become payments of their own, at the current rate. */
export async function openChildren(
  tx: EntityManager,
  deps: PaymentCommandDeps,
  parent: PaymentRow,
  step: Pick<Extract<Step, { do: 'openChildren' }>, 'depositIds' | 'addExceptions'>,
  actor: Actor | null = null,
): Promise<PaymentRow> {
  const deposits = await depositsById(tx, step.depositIds);
  await reverseBooked(tx, deposits);
  for (const deposit of deposits) await openChildPayment(tx, deps, parent, deposit);
  const moved = await movePayment(tx, parent, {
    to: parent.status,
    cause: 'repeat-deposit',
    events: [],
    addExceptions: step.addExceptions,
    details: { depositIds: step.depositIds, ...deciderOf(actor) },
  });
  await emitPaymentEvents(tx, parent, moved, ['payment.repeat_deposit']);
  return moved;
}

async function openChildPayment(
  tx: EntityManager,
  { config }: PaymentCommandDeps,
  parent: PaymentRow,
  deposit: DepositRow,
): Promise<void> {
  const price = await rateNow(tx, {
    merchantId: parent.merchant_id,
    currency: deposit.currency!,
    fiat: parent.fiat_currency,
    maxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
  });
  const settlesTo = await settlementOf(tx, parent, deposit, price);
  const row = childRow(
    parent,
    deposit,
    { ...price, ...settlesTo },
    requiredDepth(deposit.network, config.confirmations),
  );
  const { rateId, exchangeRate } = price;
  const isNew = await insertPayment(tx, row, {
    cause: 'repeat-deposit',
    details: { parentPaymentId: parent.id, depositId: deposit.id, rateId },
    attributes: operatorView(row),
  });
  if (!isNew) return;
  await tx.query('UPDATE deposit SET child_payment_id = $2 WHERE id = $1', [deposit.id, row.id]);
  await setDepositRate(tx, [deposit.id], { rateId, exchangeRate, quoteAmount: row.amount! });
  const child = await lockPayment(tx, row.id);
  await emitPaymentEvents(tx, child, child, ['payment.created'], 1);
}

type Settlement = Readonly<{ settlementAddress: string; custody: 'platform' | 'external' }>;

/** Where a child settles: to the wallet of its coin, or as its parent where that was in the same coin. A parent in
 *  another coin settles to a place of that: the newest wallet that the merchant had is the one then. */
async function settlementOf(
  tx: EntityManager,
  parent: PaymentRow,
  deposit: DepositRow,
  price: Price,
): Promise<Settlement | null> {
  const { settlementAddress, custody } = price;
  if (settlementAddress !== null && custody !== null) return { settlementAddress, custody };
  if (parent.currency === deposit.currency) return null;
  const wallets = await walletsOf(tx, parent.merchant_id);
  const last = wallets.find(({ currency }) => currency === deposit.currency);
  return last ? { settlementAddress: last.settlement_address, custody: last.custody } : null;
}

/** A payment over exactly what one deposit brought, paid and over its time from the start: the merchant bears its
 *  fee. */
function childRow(parent: PaymentRow, deposit: DepositRow, price: Price, confirmations: number): PaymentRow {
  const currency = deposit.currency!;
  const amount = fit(deposit.amount, assetOf(currency).decimals, 'down');
  const split = splitPaid(amount, currency, parent.fee_bps, price.provision);
  const { now } = price;
  return {
    ...parent,
    ...untouched,
    id: newId(),
    slug: newSlug(),
    status: 'CONFIRMING',
    idempotency_key: null,
    fiat_amount: larger(fiatValue(amount, price.exchangeRate, parent.fiat_currency), '0.01'),
    fee_bearer: 'merchant',
    auto_accept_cross_chain_hours: null,
    currency,
    network: deposit.network,
    amount,
    quote_amount: amount,
    exchange_rate: price.exchangeRate,
    commission_amount: split.commission,
    network_fee_amount: split.network,
    fee_amount: split.fee,
    net_amount: split.net,
    rate_id: price.rateId,
    native_rate: price.nativeRate,
    quoted_at: now,
    quote_expires_at: now,
    required_confirmations: confirmations,
    deposit_address: deposit.address,
    destination_tag: deposit.tag === '' ? null : deposit.tag,
    settlement_address: price.settlementAddress ?? parent.settlement_address,
    custody: price.custody ?? parent.custody,
    expires_at: now,
    amount_paid: amount,
    tx_ids: transactionsOf([deposit.tx_id]),
    address_role: 'repeat',
    parent_payment_id: parent.id,
    child_deposit_id: deposit.id,
    created_at: now,
    updated_at: now,
  };
}
