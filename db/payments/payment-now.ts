import { livemodeSql } from '../instance';
import type { PaymentNow } from '../../domain/payments/payment-view';
import type { OtherDeposit, RefundedAmounts } from '../../domain/payments/received-other';
import { amlSummaryOf, amlSummarySql, type FoundAml } from '../screening/aml-summary';

/** What a view of a payment needs beside its row: confirmations of the youngest counted deposit, the children, the
 *  newest screen, deposits in other coins (our own gas is none), refunds. */

/** Columns for a payment `p`. */
export const nowColumns = `
  ${livemodeSql} AS now_livemode,
  (SELECT min(CASE WHEN d.height IS NULL THEN 0 ELSE greatest(c.height - d.height + 1, 0) END)::int
     FROM deposit d JOIN chain_cursor c ON c.network = d.network
    WHERE (d.payment_id = p.id AND d.child_payment_id IS NULL OR d.child_payment_id = p.id) AND d.currency = p.currency
      AND NOT d.is_dust AND d.status IN ('pool', 'mined', 'confirmed')
      AND d.allocation IS DISTINCT FROM 'own') AS now_confirmations,
  (SELECT array_agg(x.id::text ORDER BY x.id) FROM payment x WHERE x.parent_payment_id = p.id) AS now_children,
  ${amlSummarySql('p.id')} AS now_aml,
  (SELECT json_agg(json_build_object('currency', d.currency, 'amount', d.amount::text,
            'txId', CASE d.found_by WHEN 'transfer' THEN d.tx_id END,
            'rate', d.exchange_rate::text) ORDER BY d.id)
     FROM deposit d JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
    WHERE d.payment_id = p.id AND d.child_payment_id IS NULL AND NOT d.is_dust AND d.status = 'confirmed'
      AND d.allocation IS DISTINCT FROM 'own'
      AND d.currency <> a.currency AND d.currency IS DISTINCT FROM p.currency) AS now_other,
  (SELECT json_object_agg(r.currency, r.amount) FROM (
     SELECT currency, sum(amount)::text AS amount FROM refund WHERE payment_id = p.id AND status = 'completed'
      GROUP BY currency) r) AS now_refunded`;

export type NowColumns = {
  now_livemode: boolean;
  now_confirmations: number | null;
  now_children: string[] | null;
  now_aml: FoundAml;
  now_other: OtherDeposit[] | null;
  now_refunded: RefundedAmounts | null;
};

/** The rest of the row, and what the columns say. */
export function splitNow<Row extends NowColumns>(found: Row): { row: Omit<Row, keyof NowColumns>; now: PaymentNow } {
  const { now_livemode, now_confirmations, now_children, now_aml, now_other, now_refunded, ...row } = found;
  const now = {
    livemode: now_livemode,
    confirmations: now_confirmations ?? 0,
    childIds: now_children ?? [],
    aml: amlSummaryOf(now_aml),
    other: now_other ?? [],
    refunded: now_refunded ?? {},
  };
  return { row, now };
}
