import type { Branding, WidgetSettings } from '../../domain/widgets/widget';
import { entity, boolean, id, jsonb, key, nullable, numeric, text, texts, timestamptz } from '../entity';

/** Widgets. */

export const widgetEntity = entity('widget', {
  id: key(id()),
  merchant_id: id(),
  type: text<WidgetSettings['type']>(),
  name: text(),
  amount_mode: text<WidgetSettings['amountMode']>(),
  fixed_amount: nullable(numeric(60, 18)),
  suggested_amounts: texts(),
  min_amount: nullable(numeric(60, 18)),
  max_amount: nullable(numeric(60, 18)),
  allowed_origins: texts(),
  allowed_currencies: texts(),
  donor_fields: texts<WidgetSettings['donorFields'][number]>(),
  required_donor_fields: texts<WidgetSettings['donorFields'][number]>(),
  display_mode: text<WidgetSettings['displayMode']>(),
  success_url: nullable(text()),
  cancel_url: nullable(text()),
  thank_you_text: nullable(text()),
  branding: jsonb<Branding>(),
  is_active: boolean(),
  created_at: timestamptz(),
  updated_at: timestamptz(),
});
