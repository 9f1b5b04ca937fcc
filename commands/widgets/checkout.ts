import { DomainError } from '../../domain/errors';
import type { PaymentRow } from '../../domain/payments/payment';
import { isOriginAllowed } from '../../domain/widgets/origin';
import { amountOf, donorOf, type Donor } from '../../domain/widgets/widget';
import { isFull, type PublicWidget } from '../../db/widgets/widgets';
import { creationRefused } from '../../domain/payments/creation-refusals';
import { openPayment, type OpenPaymentDeps } from '../payments/create';

export type Checkout = Readonly<{
  /** The page's own random text: the same one finds the same checkout. */
  token: string;
  origin: string | undefined;
  amount: string | undefined;
  currency: string | undefined;
  donor: Donor;
}>;

/** Refuses a checkout that this page may not open, whatever it asks for. Throws WIDGET_DISABLED, ORIGIN_NOT_ALLOWED. */
export function checkPage({ row, merchant }: PublicWidget, origin: string | undefined): void {
  if (!isOriginAllowed(origin, row.allowed_origins)) throw new DomainError('ORIGIN_NOT_ALLOWED');
  if (!row.is_active || merchant.status !== 'active') throw new DomainError('WIDGET_DISABLED');
}

/** Opens a checkout of a widget: a payment whose price and terms are the widget's, not the page's. Throws as
 *  `checkPage`,
 * `amountOf`, `donorOf` and `openPayment` do; PAYMENT_CREATION_FAILED (WIDGET_QUOTA_REACHED) where too many are unpaid.
 *  Contract: 4.9, G14. */
export async function openCheckout(
  deps: OpenPaymentDeps,
  widget: PublicWidget,
  asked: Checkout,
): Promise<{ row: PaymentRow; replayed: boolean }> {
  const { row, merchant } = widget;
  checkPage(widget, asked.origin);
  const amount = amountOf(
    {
      amountMode: row.amount_mode,
      fixedAmount: row.fixed_amount,
      minAmount: row.min_amount,
      maxAmount: row.max_amount,
    },
    asked.amount,
  );
  const donor = donorOf({ donorFields: row.donor_fields, requiredDonorFields: row.required_donor_fields }, asked.donor);
  const idempotencyKey = `widget:${row.id}:${asked.token}`;
  if (await isFull(deps.db, widget, idempotencyKey, deps.settings.openCheckoutsQuota))
    throw creationRefused('WIDGET_QUOTA_REACHED', { widgetId: row.id });
  return openPayment(deps, merchant, {
    amount,
    ...(asked.currency === undefined ? {} : { currency: asked.currency }),
    source: 'widget',
    idempotencyKey,
    metadata: null,
    ...(Object.keys(donor).length ? { donor: JSON.stringify(donor) } : {}),
    orderId: null,
    ...(row.success_url === null ? {} : { invoiceCallbackUrl: row.success_url }),
    ...(row.cancel_url === null ? {} : { invoiceCancelUrl: row.cancel_url }),
    widget: {
      id: row.id,
      type: row.type,
      origin: asked.origin ?? null,
      allowedCurrencies: row.allowed_currencies.length ? row.allowed_currencies : null,
    },
  });
}
