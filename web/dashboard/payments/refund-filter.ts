import type { RefundStatus } from '../../../domain/refunds/refund';
import { dayOf, oneOf, onlyOn, pageOf, stated, textOf } from '../design/filter';

/** The tabs of the list, in the order in which a refund goes through them. */
export const refundTabs = [
  'awaiting_approval',
  'awaiting_address',
  'pending',
  'processing',
  'broadcast',
  'completed',
  'failed',
  'cancelled',
] as const satisfies readonly RefundStatus[];

/** What the list of refunds shows; all of it is in the address. */
export type RefundFilter = Readonly<{
  status?: RefundStatus | undefined;
  /** Only what is held before it is signed. */
  held?: true | undefined;
  currency?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  page?: number | undefined;
}>;

export const refundFilterOf = (search: Readonly<Record<string, unknown>>): RefundFilter =>
  stated({
    status: oneOf(refundTabs, search['status']),
    held: onlyOn(search['held']),
    currency: textOf(search['currency'])?.slice(0, 32),
    from: dayOf(search['from']),
    to: dayOf(search['to']),
    page: pageOf(search['page']),
  });
