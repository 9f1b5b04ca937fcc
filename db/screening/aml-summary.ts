import type { AmlSummary } from '../../domain/payments/payment-view';

/** What a payment shows of its newest screen: as a column of a query, and read from there. */

type Found = { status: AmlSummary['status']; riskScore: number | null; checkedAt: string };

/** `paymentId`: the SQL of its id. */
export const amlSummarySql = (paymentId: string): string =>
  `(SELECT json_build_object('status', s.status, 'riskScore', s.risk_score, 'checkedAt', s.checked_at)
     FROM aml_screen s WHERE s.payment_id = ${paymentId} ORDER BY s.id DESC LIMIT 1)`;

export const amlSummaryOf = (found: Found | null | undefined): AmlSummary | null =>
  found
    ? {
        status: found.status,
        ...(found.riskScore === null ? {} : { riskScore: found.riskScore }),
        checkedAt: new Date(found.checkedAt).toISOString(),
      }
    : null;
export type FoundAml = Found | null;
