import type { Queryable } from '../query';

/** Contract: 2.7. Exact decimal strings, in whole units. */
export type BalanceEntry = Readonly<{
  currency: string;
  balance: string;
  reserved: string;
  available: string;
  pending: string;
}>;

type Row = { currency: string; available: string; reserved: string; pending: string };

/** One entry per currency that has a wallet, a balance or a payment under way, in the order of the tickers. `pending`:
 *  net of the payments that are confirmed and not settled. */
export async function balancesOf(db: Queryable, merchantId: string): Promise<BalanceEntry[]> {
  const rows = await db.query<Row[]>(
    `WITH held AS (
       SELECT asset AS currency, sum(amount) FILTER (WHERE account = $2) AS available,
         sum(amount) FILTER (WHERE account = $3) AS reserved
         FROM balance WHERE account IN ($2, $3) GROUP BY asset),
     pending AS (
       SELECT currency, sum(coalesce(settled_net_amount, net_amount)) AS pending FROM payment
        WHERE merchant_id = $1 AND status IN ('CONFIRMED', 'SWEEP_QUEUED') AND amount_paid > 0 GROUP BY currency),
     listed AS (SELECT currency FROM merchant_wallet WHERE merchant_id = $1 UNION SELECT currency
       FROM held UNION SELECT currency FROM pending)
     SELECT currency, trim_scale(coalesce(h.available, 0))::text AS available,
       trim_scale(coalesce(h.reserved, 0))::text AS reserved,
            trim_scale(coalesce(p.pending, 0))::text AS pending
       FROM listed LEFT JOIN held h USING (currency) LEFT JOIN pending p USING (currency) ORDER BY currency`,
    [merchantId, `L:available:${merchantId}`, `L:reserved:${merchantId}`],
  );
  return rows.map(({ currency, available, reserved, pending }) => ({
    currency,
    balance: available,
    reserved,
    available,
    pending,
  }));
}
