import type { PaymentStatus } from '../../domain/payments/payment';
import type { RiskBand, Screen } from '../../domain/screening/screening';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { amlScreenEntity } from '../screening/entities';

/** What the screenings of payments have found, for operators. */

export type ListedScreen = Omit<RowOf<typeof amlScreenEntity>, 'look'> & {
  payment_status: PaymentStatus;
  merchant_id: string;
  merchant_name: string;
  /** The payment was not screened again since. */
  is_newest: boolean;
};

export type ScreenFilter = Readonly<{
  status: Screen['status'] | null;
  severity: RiskBand | null;
  cursor: string | null;
  limit: number;
}>;

/** Newest first, older than `cursor`. */
export const listScreens = (
  db: Queryable,
  { status, severity, cursor, limit }: ScreenFilter,
): Promise<ListedScreen[]> =>
  db.query<ListedScreen[]>(
    `SELECT s.id::text, s.payment_id, p.status AS payment_status, p.merchant_id, m.name AS merchant_name, s.cause,
            s.status, s.risk_score, s.risk_band, s.severity, s.categories, s.reason, s.skip_cause, s.checked_at,
            s.providers, s.tx_ids, s.matches,
            NOT EXISTS (SELECT FROM aml_screen n WHERE n.payment_id = s.payment_id AND n.id > s.id) AS is_newest
       FROM aml_screen s JOIN payment p ON p.id = s.payment_id JOIN merchant m ON m.id = p.merchant_id
      WHERE ($1::text IS NULL OR s.status = $1) AND ($2::text IS NULL OR s.severity = $2)
        AND ($3::bigint IS NULL OR s.id < $3) ORDER BY s.id DESC LIMIT $4`,
    [status, severity, cursor, limit],
  );
