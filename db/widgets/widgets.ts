import { ratedAsSql } from '../functions/rated-as';
import type { Merchant } from '../../domain/access/access';
import { DomainError } from '../../domain/errors';
import { isSlug, newId } from '../../domain/ids';
import type { WidgetSettings } from '../../domain/widgets/widget';
import { merchantColumns, merchantOf, type MerchantRow } from '../access/merchants';
import { type Queryable, changedCount, changedRows } from '../query';
import { pageOfRecords, type Page } from '../records';
import type { RowOf } from '../entity';
import type { widgetEntity } from './entities';

/** Widgets of a merchant. Every query by a merchant carries the merchant's id, so that a foreign id is an unknown one.
 *  */

export type WidgetRow = Readonly<RowOf<typeof widgetEntity>>;

/** What a widget has brought: checkouts opened, payments of them that were paid, and the fiat value received, in US
 *  dollars. */
export type WidgetStats = Readonly<{ opens: number; payments: number; paid_usd: string }>;

const ownColumns = `w.id, w.type, w.name, w.amount_mode, trim_scale(w.fixed_amount)::text AS fixed_amount,
  w.suggested_amounts, trim_scale(w.min_amount)::text AS min_amount, trim_scale(w.max_amount)::text AS max_amount,
  w.allowed_origins, w.allowed_currencies, w.donor_fields, w.required_donor_fields, w.display_mode, w.success_url,
  w.cancel_url, w.thank_you_text, w.branding, w.is_active, w.created_at, w.updated_at`;
const columns = `w.merchant_id, ${ownColumns}`;

/** The figures of widget `w` as one JSON object. A price that is not in US dollars is converted at the newest rates of
 *  its coin. */
const stats = `(SELECT to_jsonb(s) FROM (SELECT count(*) FILTER (WHERE p.parent_payment_id IS NULL)::int AS opens,
    (count(*) FILTER (WHERE p.status IN ('CONFIRMED', 'SWEEP_QUEUED', 'SETTLED')))::int AS payments,
    coalesce(round(sum(coalesce(p.value_paid, p.amount_paid * p.exchange_rate)
      * CASE WHEN p.fiat_currency = 'USD' THEN 1 ELSE usd.value / fiat.value END)
      FILTER (WHERE p.status IN ('CONFIRMED', 'SWEEP_QUEUED', 'SETTLED')), 2), 0)::text AS paid_usd
   FROM payment p
   LEFT JOIN rate_latest usd ON usd.fiat = 'USD' AND usd.currency = ${ratedAsSql('p.currency')}
   LEFT JOIN rate_latest fiat ON fiat.fiat = p.fiat_currency AND fiat.currency = usd.currency
  WHERE p.widget_id = w.id) s) AS stats`;

const settingColumns = (settings: WidgetSettings): unknown[] => [
  settings.type,
  settings.name,
  settings.amountMode,
  settings.fixedAmount,
  settings.suggestedAmounts,
  settings.minAmount,
  settings.maxAmount,
  settings.allowedOrigins,
  settings.allowedCurrencies,
  settings.donorFields,
  settings.requiredDonorFields,
  settings.displayMode,
  settings.successUrl,
  settings.cancelUrl,
  settings.thankYouText,
  JSON.stringify(settings.branding),
  settings.isActive,
];

export async function insertWidget(tx: Queryable, merchantId: string, settings: WidgetSettings): Promise<WidgetRow> {
  const [row] = await tx.query<WidgetRow[]>(
    `INSERT INTO widget AS w (id, merchant_id, type, name, amount_mode, fixed_amount, suggested_amounts, min_amount,
       max_amount, allowed_origins, allowed_currencies, donor_fields, required_donor_fields, display_mode, success_url,
       cancel_url, thank_you_text, branding, is_active)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
     RETURNING ${columns}`,
    [newId(), merchantId, ...settingColumns(settings)],
  );
  return row!;
}

/** Changes a widget that the caller has locked. */
export async function updateWidget(tx: Queryable, id: string, settings: WidgetSettings): Promise<WidgetRow> {
  const [row] = await changedRows<WidgetRow>(
    tx,
    `UPDATE widget w SET type = $2, name = $3, amount_mode = $4, fixed_amount = $5, suggested_amounts = $6,
       min_amount = $7, max_amount = $8, allowed_origins = $9, allowed_currencies = $10, donor_fields = $11,
       required_donor_fields = $12, display_mode = $13, success_url = $14, cancel_url = $15, thank_you_text = $16,
       branding = $17, is_active = $18,
       updated_at = now()
      WHERE id = $1 RETURNING ${columns}`,
    [id, ...settingColumns(settings)],
  );
  return row!;
}

/** The merchant's widget, locked where asked. Throws WIDGET_NOT_FOUND. */
export async function readWidget(
  db: Queryable,
  merchantId: string,
  id: string,
  { lock = false } = {},
): Promise<WidgetRow> {
  const [row] = await db.query<WidgetRow[]>(
    `SELECT ${columns} FROM widget w WHERE w.id = $1 AND w.merchant_id = $2 ${lock ? 'FOR UPDATE' : ''}`,
    [id, merchantId],
  );
  if (!row) throw new DomainError('WIDGET_NOT_FOUND');
  return row;
}

/** Deletes a widget; its payments stay. Throws WIDGET_NOT_FOUND. */
export async function deleteWidgetRow(tx: Queryable, merchantId: string, id: string): Promise<void> {
  const count = await changedCount(tx, 'DELETE FROM widget WHERE id = $1 AND merchant_id = $2', [id, merchantId]);
  if (!count) throw new DomainError('WIDGET_NOT_FOUND');
}

export type WidgetFilter = Readonly<{ type?: string; isActive?: boolean }>;

/** One page of a merchant's widgets with their figures, newest first, and how many there are. */
export const widgetsOf = (
  db: Queryable,
  merchantId: string,
  { type, isActive }: WidgetFilter,
  page: Page,
): Promise<{ items: Array<WidgetRow & { stats: WidgetStats }>; total: number }> =>
  pageOfRecords(
    db,
    {
      select: `${columns}, ${stats}`,
      from: 'widget w',
      where: 'w.merchant_id = $1 AND ($2::text IS NULL OR w.type = $2) AND ($3::boolean IS NULL OR w.is_active = $3)',
    },
    [merchantId, type ?? null, isActive ?? null],
    page,
  );

/** The figures of one widget. */
export async function statsOf(db: Queryable, id: string): Promise<WidgetStats> {
  const [found] = await db.query<Array<{ stats: WidgetStats }>>(`SELECT ${stats} FROM widget w WHERE w.id = $1`, [id]);
  return found?.stats ?? { opens: 0, payments: 0, paid_usd: '0' };
}

/** What a page may do with a widget: its settings, its merchant, and what can be paid in. */
export type PublicWidget = Readonly<{ row: WidgetRow; merchant: Merchant; currencies: string[] }>;

/** A widget by its id alone, as pages name it; null: there is none. */
export async function findWidget(db: Queryable, id: string): Promise<PublicWidget | null> {
  const [found] = await db.query<Array<WidgetRow & MerchantRow & { currencies: string[] }>>(
    `SELECT ${ownColumns}, ${merchantColumns},
            (SELECT coalesce(array_agg(x.currency ORDER BY x.currency), '{}') FROM merchant_wallet x
              WHERE x.merchant_id = m.id AND x.is_active
                AND (cardinality(w.allowed_currencies) = 0 OR x.currency = ANY(w.allowed_currencies))) AS currencies
       FROM widget w JOIN merchant m ON m.id = w.merchant_id WHERE w.id = $1`,
    [id],
  );
  return found ? { row: found, merchant: merchantOf(found), currencies: found.currencies } : null;
}

/** Host names whose pages may use a widget; null: there is no such widget. */
export async function originsOf(db: Queryable, id: string): Promise<string[] | null> {
  const [found] = await db.query<Array<{ allowed_origins: string[] }>>(
    'SELECT w.allowed_origins FROM widget w WHERE w.id = $1',
    [id],
  );
  return found?.allowed_origins ?? null;
}

/** Whether a widget has as many unpaid checkouts as `quota` and none under this key. Looked up before a creation locks
 *  anything; the creation itself decides. */
export async function isFull(
  db: Queryable,
  { row }: Pick<PublicWidget, 'row'>,
  idempotencyKey: string,
  quota: number,
): Promise<boolean> {
  const [found] = await db.query<Array<{ is_full: boolean }>>(
    `SELECT NOT EXISTS (SELECT FROM payment p WHERE p.merchant_id = $2 AND p.idempotency_key = $3)
        AND (SELECT count(*) FROM payment p
              WHERE p.widget_id = $1 AND p.status IN ('AWAITING_CURRENCY', 'WAITING')) >= $4
       AS is_full`,
    [row.id, row.merchant_id, idempotencyKey, quota],
  );
  return found!.is_full;
}

/** Where the pages of an invoice may be framed: by pages of the widget that made it, of which one has opened the
 *  checkout. */
export type Embedding = Readonly<{ origin: string | null; origins: string[]; thank_you_text: string | null }>;

/** Null: the invoice is of no inline widget, or its widget is gone. */
export async function embeddingOf(db: Queryable, slug: string): Promise<Embedding | null> {
  if (!isSlug(slug)) return null;
  const [found] = await db.query<Embedding[]>(
    `SELECT p.widget_origin AS origin, w.allowed_origins AS origins, w.thank_you_text
       FROM payment p JOIN widget w ON w.id = p.widget_id
      WHERE p.slug = $1 AND w.display_mode = 'inline'`,
    [slug],
  );
  return found ?? null;
}
