import type { Permission, Role } from '../../domain/access/access';
import type { Language } from '../../domain/access/preferences';
import type { FeeBearer } from '../../domain/pricing/quote';
import {
  entity,
  bigint,
  boolean,
  bytea,
  id,
  integer,
  jsonb,
  key,
  nullable,
  numeric,
  smallint,
  text,
  texts,
  timestamptz,
} from '../entity';

/** Merchants, the people and the keys that act for them, and what they did. */

export const merchantEntity = entity('merchant', {
  id: key(id()),
  name: text(),
  status: text<'active' | 'suspended'>(),
  display_currency: text(),
  fee_bearer: text<FeeBearer>(),
  fee_bps: integer(),
  underpayment_tolerance_pct: numeric(5, 2),
  underpaid_policy: text<'hold' | 'accept' | 'refund'>(),
  callback_domains: texts(),
  default_expires_in: nullable(integer()),
  open_payments_quota: nullable(integer()),
  ipn_enabled: boolean(),
  ipn_secret_sealed: text(),
  publishable_key: text(),
  created_at: timestamptz(),
  updated_at: timestamptz(),
  previous_publishable_key: nullable(text()),
  previous_publishable_key_until: nullable(timestamptz()),
  auto_accept_cross_chain_hours: integer(),
  whitelist_delay_hours: integer(),
  whitelist_not_before: nullable(timestamptz()),
  refund_daily_cap_usd: nullable(numeric(60, 18)),
  held_because: nullable(text()),
  held_at: nullable(timestamptz()),
  /** `waiting`, `refused`: suspended since it registered. */
  approval: text<'approved' | 'waiting' | 'refused'>(),
  invite_code_id: nullable(id()),
  previous_ipn_secret_sealed: nullable(text()),
  previous_ipn_secret_until: nullable(timestamptz()),
});

export const merchantCounterEntity = entity('merchant_counter', {
  merchant_id: key(id()),
  event_seq: bigint(),
  open_payments: integer(),
});

export const dashboardUserEntity = entity('dashboard_user', {
  id: key(id()),
  email: text(),
  display_name: text(),
  role: text<Role>(),
  merchant_id: nullable(id()),
  permissions: texts<Permission>(),
  is_active: boolean(),
  password_hash: text(),
  email_verified_at: nullable(timestamptz()),
  totp_secret_sealed: nullable(text()),
  totp_enabled_at: nullable(timestamptz()),
  totp_last_step: bigint(),
  session_version: integer(),
  created_at: timestamptz(),
  last_login_at: nullable(timestamptz()),
  removed_at: nullable(timestamptz()),
  language: nullable(text<Language>()),
  time_zone: nullable(text()),
});

export const userRightEntity = entity('user_right', {
  user_id: key(id()),
  name: key(text()),
  since: timestamptz(),
});

export const userSessionEntity = entity('user_session', {
  id: key(id()),
  user_id: id(),
  session_version: integer(),
  generation: integer(),
  rotated_at: timestamptz(),
  ip: text(),
  user_agent: text(),
  created_at: timestamptz(),
  last_used_at: timestamptz(),
  expires_at: timestamptz(),
  revoked_at: nullable(timestamptz()),
});

export const emailCodeEntity = entity('email_code', {
  id: key(id()),
  user_id: id(),
  action: text(),
  code_hash: text(),
  wrong_guesses: integer(),
  created_at: timestamptz(),
  expires_at: timestamptz(),
  ended_at: nullable(timestamptz()),
});

export const resetTokenEntity = entity('reset_token', {
  token_hash: key(text()),
  user_id: id(),
  expires_at: timestamptz(),
  spent_at: nullable(timestamptz()),
});

export const backupCodeEntity = entity('backup_code', {
  id: key(bigint()),
  user_id: id(),
  code_hash: text(),
  spent_at: nullable(timestamptz()),
});

export const passkeyEntity = entity('passkey', {
  id: key(id()),
  user_id: id(),
  credential_id: text(),
  public_key: bytea(),
  counter: bigint(),
  transports: texts(),
  name: text(),
  created_at: timestamptz(),
  last_used_at: nullable(timestamptz()),
});

export const passkeyChallengeEntity = entity('passkey_challenge', {
  key_hash: key(text()),
  challenge: text(),
  user_id: nullable(id()),
  action: text(),
  expires_at: timestamptz(),
});

export const wrongFactorEntity = entity('wrong_factor', {
  id: key(bigint()),
  user_id: id(),
  kind: text(),
  at: timestamptz(),
});

export const spentTokenEntity = entity('spent_token', {
  jti: key(text()),
  expires_at: timestamptz(),
});

export const knownDeviceEntity = entity('known_device', {
  token_hash: key(text()),
  user_id: key(id()),
  created_at: timestamptz(),
  expires_at: timestamptz(),
});

export const termsConsentEntity = entity('terms_consent', {
  id: key(bigint()),
  user_id: id(),
  versions: jsonb(),
  ip: text(),
  at: timestamptz(),
});

export const teamInvitationEntity = entity('team_invitation', {
  id: key(id()),
  merchant_id: id(),
  email: text(),
  display_name: nullable(text()),
  permissions: texts<Permission>(),
  invited_by: id(),
  token_hash: text(),
  status: text<'pending' | 'accepted' | 'revoked'>(),
  created_at: timestamptz(),
  expires_at: timestamptz(),
});

export const inviteCodeEntity = entity('invite_code', {
  id: key(id()),
  code_hash: text(),
  last4: text(),
  label: text(),
  skips_approval: boolean(),
  fee_bps: nullable(integer()),
  most_uses: integer(),
  uses: integer(),
  created_by: text(),
  created_at: timestamptz(),
  expires_at: timestamptz(),
  revoked_at: nullable(timestamptz()),
  revoked_by: nullable(text()),
});

export const apiKeyEntity = entity('api_key', {
  id: key(id()),
  merchant_id: id(),
  name: text(),
  created_by: nullable(id()),
  key_hash: text(),
  last4: text(),
  scopes: texts(),
  allowed_ips: texts(),
  created_at: timestamptz(),
  expires_at: nullable(timestamptz()),
  revoked_at: nullable(timestamptz()),
  last_used_at: nullable(timestamptz()),
  last_used_ip: nullable(text()),
  daily_usd: nullable(numeric(20, 2)),
  /** The mark of the key that has hashed it; null where nobody noted it. */
  hashed_by: nullable(text()),
});

export const apiRequestEntity = entity('api_request', {
  merchant_id: key(id()),
  id: key(id()),
  method: text(),
  route: text(),
  path: text(),
  status: smallint(),
  error_code: nullable(text()),
  request_id: text(),
  api_key_id: nullable(id()),
  duration_ms: integer(),
  ip: text(),
  has_idempotency_key: boolean(),
  created_at: timestamptz(),
});

export const requestLogEntity = entity('request_log', {
  request_id: key(text()),
  merchant_id: nullable(id()),
  reason: text(),
  details: jsonb(),
  created_at: timestamptz(),
});

export const auditLogEntity = entity('audit_log', {
  /** Grows with time. */
  id: key(bigint()),
  at: timestamptz(),
  merchant_id: nullable(id()),
  actor_kind: text<'user' | 'key' | 'operator' | 'anonymous'>(),
  actor_id: nullable(text()),
  actor_name: text(),
  action: text(),
  target: nullable(text()),
  before: nullable(jsonb()),
  after: nullable(jsonb()),
  ip: text(),
  request_id: text(),
});

export const platformSwitchEntity = entity('platform_switch', {
  name: key(text()),
  is_on: boolean(),
  reason: text(),
  changed_at: timestamptz(),
});
