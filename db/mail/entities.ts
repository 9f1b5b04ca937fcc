import { entity, id, key, nullable, text, timestamptz } from '../entity';

/** The outbox of mail. */

export const mailEntity = entity('mail', {
  id: key(id()),
  recipient: text(),
  template: text(),
  sealed: nullable(text()),
  created_at: timestamptz(),
  sent_at: nullable(timestamptz()),
  last_error: nullable(text()),
});
