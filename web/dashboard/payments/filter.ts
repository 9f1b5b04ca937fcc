import { paymentStatuses, type PaymentStatus } from '../../../domain/payments/payment';

/** What a list of payments shows: all of it is in the address, so that a list can be linked to and comes back after a
 *  reload. */
export type Filter = Readonly<{
  status?: PaymentStatus;
  search?: string;
  currency?: string;
  order?: string;
  from?: string;
  to?: string;
  page?: number;
}>;

const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim().slice(0, 256) : '';
  return text || undefined;
};
const dayOf = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** The filter that an address states; what it cannot mean is left out. */
export function filterOf(search: Readonly<Record<string, unknown>>): Filter {
  const status = paymentStatuses.find((one) => one === search['status']);
  const page = typeof search['page'] === 'number' && Number.isInteger(search['page']) ? search['page'] : 1;
  const filter: Filter = {
    status,
    search: textOf(search['search']),
    currency: textOf(search['currency']),
    order: textOf(search['order']),
    from: dayOf(search['from']),
    to: dayOf(search['to']),
    page: page > 1 && page <= 1_000_000 ? page : undefined,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

const nextDay = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

/** The filter as the API reads it, without status and page: days are whole days in UTC. */
export const queryOf = ({ search, currency, order, from, to }: Filter) => ({
  ...(search ? { search } : {}),
  ...(currency ? { currency } : {}),
  ...(order ? { merchantOrderId: order } : {}),
  ...(from ? { dateFrom: from } : {}),
  ...(to ? { dateTo: nextDay(to) } : {}),
});
