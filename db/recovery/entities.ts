import { entity, bigint, boolean, integer, key, nullable, text, timestamptz } from '../entity';

/** What a recovery leaves behind. */

export const keyEpochEntity = entity('key_epoch', {
  id: key(boolean()),
  epoch: integer(),
  beat: bigint(),
  incarnation: text(),
  confirmed_at: timestamptz(),
});

export const recoveryEntity = entity('recovery', {
  epoch: key(integer()),
  reason: text(),
  begun_at: timestamptz(),
  workflows_ended_at: nullable(timestamptz()),
});

export const keyWatchEntity = entity('key_watch', {
  network: key(text()),
  role: key(text()),
  branch: key(integer()),
  next_index: integer(),
  until_index: integer(),
});
