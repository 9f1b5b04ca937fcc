import type { EntityManager } from 'typeorm';
import { payerOf, type Payer, type PayerBrowser, type RefundTo } from '../../domain/payments/payer';
import type { Queryable } from '../query';

/** So many browsers of one payment, at the most. Two that differ decide nothing already. */
const mostBrowsers = 10;

/** SQL for a payment `p`: its browsers, and when its first deposit was seen. */
export const payerColumns = `
  (SELECT json_agg(json_build_object('browser', b.browser, 'markedAt', b.marked_at, 'network', b.network,
            'address', b.address, 'destinationTag', b.destination_tag, 'addressAt', b.address_at))
     FROM payer_browser b WHERE b.payment_id = p.id) AS payer_browsers,
  (SELECT min(d.first_seen_at) FROM deposit d WHERE d.payment_id = p.id AND NOT d.is_dust) AS first_seen_at`;

type Stamped<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] };
export type PayerColumns = {
  payer_browsers: Array<Stamped<PayerBrowser>> | null;
  first_seen_at: Date | null;
};

/** Who the payer is, as those columns tell. `network`: the one that a refund would go on. */
export const payerIn = ({ payer_browsers, first_seen_at }: PayerColumns, network: string | null): Payer =>
  payerOf(
    (payer_browsers ?? []).map((one) => ({
      ...one,
      markedAt: new Date(one.markedAt),
      addressAt: one.addressAt === null ? null : new Date(one.addressAt),
    })),
    first_seen_at,
    network,
  );

/** Who the payer of a payment is, for a refund on `network`. */
export async function readPayer(db: Queryable, paymentId: string, network: string): Promise<Payer> {
  const [row] = await db.query<PayerColumns[]>(`SELECT ${payerColumns} FROM payment p WHERE p.id = $1`, [paymentId]);
  return payerIn(row!, network);
}

/** Has money been seen for this payment already, be it gone again? Dust is none. */
export async function isMoneySeen(db: Queryable, paymentId: string): Promise<boolean> {
  const [row] = await db.query<Array<{ seen: boolean }>>(
    'SELECT EXISTS (SELECT FROM deposit WHERE payment_id = $1 AND NOT is_dust) AS seen',
    [paymentId],
  );
  return row!.seen;
}

/** Which of `browsers`, as one may be kept, is the payment's; null where none is. */
export async function findPayerBrowser(
  db: Queryable,
  paymentId: string,
  browsers: readonly string[],
): Promise<string | null> {
  const [found] = await db.query<Array<{ browser: string }>>(
    'SELECT browser FROM payer_browser WHERE payment_id = $1 AND browser = ANY($2)',
    [paymentId, browsers],
  );
  return found?.browser ?? null;
}

/** Keeps a browser, and the address that was left in it. The caller has locked the payment. False where the payment has
 *  too many already. */
export async function storePayerBrowser(
  tx: EntityManager,
  { paymentId, browser }: Readonly<{ paymentId: string; browser: string }>,
  to: (RefundTo & Readonly<{ network: string }>) | null,
): Promise<boolean> {
  const stored = await tx.query<unknown[]>(
    `INSERT INTO payer_browser AS b (payment_id, browser, network, address, destination_tag, address_at)
     SELECT $1, $2, $3, $4, $5, CASE WHEN $4::text IS NOT NULL THEN clock_timestamp() END
      WHERE (SELECT count(*) FROM payer_browser WHERE payment_id = $1 AND browser <> $2) < ${mostBrowsers}
     ON CONFLICT (payment_id, browser) DO UPDATE SET
       network = coalesce(EXCLUDED.network, b.network),
       address = coalesce(EXCLUDED.address, b.address),
       destination_tag = CASE WHEN EXCLUDED.address IS NULL THEN b.destination_tag ELSE EXCLUDED.destination_tag END,
       address_at = coalesce(EXCLUDED.address_at, b.address_at)
     RETURNING b.browser`,
    [paymentId, browser, to?.network ?? null, to?.address ?? null, to?.destinationTag ?? null],
  );
  return stored.length > 0;
}
