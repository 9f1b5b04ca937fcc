import { entity, bytea, id, key, nullable, text, timestamptz } from '../entity';

/** How merchants look to their payers. */

export const merchantBrandingEntity = entity('merchant_branding', {
  merchant_id: key(id()),
  support_email: nullable(text()),
  support_url: nullable(text()),
  terms_url: nullable(text()),
  accent_color: nullable(text()),
  logo_id: nullable(id()),
  logo_type: nullable(text<'image/png' | 'image/svg+xml'>()),
  logo: nullable(bytea()),
  updated_at: timestamptz(),
});
