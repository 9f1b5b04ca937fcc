import {
  paymentExceptions,
  paymentStatuses,
  type PaymentException,
  type PaymentStatus,
} from '../../../domain/payments/payment';
import { dayOf, oneOf, pageOf, periodOf, stated, textOf } from '../design/filter';

/** What a list of payments shows: all of it is in the address, so that a list can be linked to and comes back after a
 *  reload. */
export type Filter = Readonly<{
  status?: PaymentStatus | undefined;
  exception?: PaymentException | undefined;
  search?: string | undefined;
  currency?: string | undefined;
  order?: string | undefined;
  /** Prices. */
  least?: string | undefined;
  most?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  page?: number | undefined;
}>;

/** A price as it was typed; undefined where it is none. */
export const priceOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text !== undefined && /^\d{1,12}(\.\d{1,2})?$/.test(text) ? text : undefined;
};

/** The filter that an address states; what it cannot mean is left out. */
export const filterOf = (search: Readonly<Record<string, unknown>>): Filter =>
  stated({
    status: oneOf(paymentStatuses, search['status']),
    exception: oneOf(paymentExceptions, search['exception']),
    search: textOf(search['search']),
    currency: textOf(search['currency']),
    order: textOf(search['order']),
    least: priceOf(search['least']),
    most: priceOf(search['most']),
    from: dayOf(search['from']),
    to: dayOf(search['to']),
    page: pageOf(search['page']),
  });

/** The filter as the API reads it, without status and page. */
export const queryOf = ({ exception, search, currency, order, least, most, from, to }: Filter) => ({
  ...(exception ? { exception } : {}),
  ...(search ? { search } : {}),
  ...(currency ? { currency } : {}),
  ...(order ? { merchantOrderId: order } : {}),
  ...(least ? { amountFrom: least } : {}),
  ...(most ? { amountTo: most } : {}),
  ...periodOf({ from, to }),
});
