import { logoPath, type Branding, type InvoiceBranding } from '../../domain/branding/branding';
import type { LogoType } from '../../domain/branding/logo';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { merchantBrandingEntity } from './entities';

/** What merchants show of themselves to payers. A merchant without a row has set nothing. */

export type Logo = Readonly<{ id: string; type: LogoType; content: Buffer }>;

/** Of a row `mb`, which may be missing. */
export const brandingColumns = 'mb.support_email, mb.support_url, mb.terms_url, mb.accent_color, mb.logo_id';
export type BrandingColumns = Pick<
  RowOf<typeof merchantBrandingEntity>,
  'support_email' | 'support_url' | 'terms_url' | 'accent_color' | 'logo_id'
>;
export const brandingIn = (row: BrandingColumns): InvoiceBranding => ({
  supportEmail: row.support_email,
  supportUrl: row.support_url,
  termsUrl: row.terms_url,
  accentColor: row.accent_color,
  logoUrl: row.logo_id === null ? null : logoPath(row.logo_id),
});

export async function brandingOf(db: Queryable, merchantId: string): Promise<InvoiceBranding> {
  const [row] = await db.query<BrandingColumns[]>(
    `SELECT ${brandingColumns} FROM merchant m LEFT JOIN merchant_branding mb ON mb.merchant_id = m.id WHERE m.id = $1`,
    [merchantId],
  );
  return brandingIn(row!);
}

/** The same, with its row there and locked until the transaction ends. */
export async function lockBranding(tx: Queryable, merchantId: string): Promise<InvoiceBranding> {
  await tx.query('INSERT INTO merchant_branding (merchant_id) VALUES ($1) ON CONFLICT DO NOTHING', [merchantId]);
  const [row] = await tx.query<BrandingColumns[]>(
    `SELECT ${brandingColumns} FROM merchant_branding mb WHERE mb.merchant_id = $1 FOR UPDATE`,
    [merchantId],
  );
  return brandingIn(row!);
}

export const storeBranding = (tx: Queryable, merchantId: string, next: Branding): Promise<unknown> =>
  tx.query(
    `UPDATE merchant_branding SET support_email = $2, support_url = $3, terms_url = $4, accent_color = $5,
       updated_at = now() WHERE merchant_id = $1`,
    [merchantId, next.supportEmail, next.supportUrl, next.termsUrl, next.accentColor],
  );

/** null removes it. */
export const storeLogo = (tx: Queryable, merchantId: string, logo: Logo | null): Promise<unknown> =>
  tx.query(
    `UPDATE merchant_branding SET logo_id = $2, logo_type = $3, logo = $4, updated_at = now() WHERE merchant_id = $1`,
    [merchantId, logo?.id ?? null, logo?.type ?? null, logo?.content ?? null],
  );

export async function readLogo(db: Queryable, logoId: string): Promise<Logo | null> {
  const [row] = await db.query<Array<{ logo_type: LogoType | null; logo: Buffer | null }>>(
    'SELECT logo_type, logo FROM merchant_branding WHERE logo_id = $1',
    [logoId],
  );
  return row?.logo && row.logo_type ? { id: logoId, type: row.logo_type, content: row.logo } : null;
}
