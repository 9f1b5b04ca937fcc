import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // --- who signs in ---------------------------------------------------------------------------------------------------
  `CREATE TABLE dashboard_user (
    id char(24) PRIMARY KEY,
    -- as it is compared: lower case
    email text NOT NULL UNIQUE CHECK (email = lower(email)),
    display_name text NOT NULL,
    role text NOT NULL CHECK (role IN ('merchant_admin', 'merchant_member', 'super_admin')),
    merchant_id char(24) REFERENCES merchant ON DELETE RESTRICT,
    permissions text[] NOT NULL DEFAULT '{}',
    is_active boolean NOT NULL DEFAULT true,
    password_hash text NOT NULL,
    email_verified_at timestamptz,
    totp_secret_sealed text, totp_enabled_at timestamptz, totp_last_step bigint NOT NULL DEFAULT 0,
    -- tokens of an older version are void
    session_version integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(), last_login_at timestamptz,
    -- out of the team: the row stays for the records, its e-mail address is free again
    removed_at timestamptz,
    CHECK ((role = 'super_admin') = (merchant_id IS NULL)))`,
  `CREATE INDEX dashboard_user_merchant ON dashboard_user (merchant_id)`,
  `CREATE TABLE terms_consent (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id char(24) NOT NULL REFERENCES dashboard_user, versions jsonb NOT NULL, ip text NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TRIGGER terms_consent_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON terms_consent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  // One per login. The refresh token in force is made from its generation.
  `CREATE TABLE user_session (
    id char(24) PRIMARY KEY,
    user_id char(24) NOT NULL REFERENCES dashboard_user,
    session_version integer NOT NULL,
    generation integer NOT NULL DEFAULT 1, rotated_at timestamptz NOT NULL DEFAULT now(),
    ip text NOT NULL, user_agent text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), last_used_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL, revoked_at timestamptz)`,
  `CREATE INDEX user_session_user ON user_session (user_id, created_at DESC) WHERE revoked_at IS NULL`,

  // --- what proves who they are ---------------------------------------------------------------------------------------
  // Mailed codes: the newest of a user and action is the only one that counts.
  `CREATE TABLE email_code (
    id char(24) PRIMARY KEY,
    user_id char(24) NOT NULL REFERENCES dashboard_user, action text NOT NULL, code_hash text NOT NULL,
    wrong_guesses integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), expires_at timestamptz NOT NULL, ended_at timestamptz)`,
  `CREATE UNIQUE INDEX email_code_open ON email_code (user_id, action) WHERE ended_at IS NULL`,
  `CREATE TABLE reset_token (
    token_hash text PRIMARY KEY, user_id char(24) NOT NULL REFERENCES dashboard_user,
    expires_at timestamptz NOT NULL, spent_at timestamptz)`,
  `CREATE INDEX reset_token_user ON reset_token (user_id) WHERE spent_at IS NULL`,
  `CREATE TABLE backup_code (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id char(24) NOT NULL REFERENCES dashboard_user, code_hash text NOT NULL, spent_at timestamptz)`,
  `CREATE INDEX backup_code_user ON backup_code (user_id) WHERE spent_at IS NULL`,
  `CREATE TABLE passkey (
    id char(24) PRIMARY KEY,
    user_id char(24) NOT NULL REFERENCES dashboard_user,
    credential_id text NOT NULL UNIQUE, public_key bytea NOT NULL, counter bigint NOT NULL, transports text[] NOT NULL DEFAULT '{}',
    name text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), last_used_at timestamptz)`,
  `CREATE INDEX passkey_user ON passkey (user_id)`,
  `CREATE TABLE passkey_challenge (
    key_hash text PRIMARY KEY, challenge text NOT NULL, user_id char(24) REFERENCES dashboard_user, action text NOT NULL,
    expires_at timestamptz NOT NULL)`,
  `CREATE INDEX passkey_challenge_expiry ON passkey_challenge (expires_at)`,
  // Wrong second factors, whichever endpoint they were tried at.
  `CREATE TABLE wrong_factor (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id char(24) NOT NULL REFERENCES dashboard_user, kind text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  `CREATE INDEX wrong_factor_user ON wrong_factor (user_id, at)`,
  // Tokens of a login's steps serve once.
  `CREATE TABLE spent_token (jti text PRIMARY KEY, expires_at timestamptz NOT NULL)`,
  `CREATE INDEX spent_token_expiry ON spent_token (expires_at)`,

  // --- teams, keys, what was done ---------------------------------------------------------------------------------------
  `CREATE TABLE team_invitation (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    email text NOT NULL CHECK (email = lower(email)), display_name text, permissions text[] NOT NULL,
    invited_by char(24) NOT NULL REFERENCES dashboard_user,
    token_hash text NOT NULL UNIQUE, status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'revoked')),
    created_at timestamptz NOT NULL DEFAULT now(), expires_at timestamptz NOT NULL)`,
  `CREATE UNIQUE INDEX team_invitation_open ON team_invitation (merchant_id, email) WHERE status = 'pending'`,
  `ALTER TABLE merchant
    ADD COLUMN previous_publishable_key text UNIQUE, ADD COLUMN previous_publishable_key_until timestamptz,
    ADD COLUMN auto_accept_cross_chain_hours integer NOT NULL DEFAULT 0 CHECK (auto_accept_cross_chain_hours BETWEEN 0 AND 720)`,
  `CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    merchant_id char(24), actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'key', 'operator', 'anonymous')),
    actor_id text, actor_name text NOT NULL,
    action text NOT NULL, target text, before jsonb, after jsonb,
    ip text NOT NULL, request_id text NOT NULL)`,
  `CREATE INDEX audit_log_merchant ON audit_log (merchant_id, id DESC)`,
  `CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  // What operators can turn off for everybody.
  `CREATE TABLE platform_switch (
    name text PRIMARY KEY, is_on boolean NOT NULL, reason text NOT NULL, changed_at timestamptz NOT NULL DEFAULT now())`,

  // --- mail -------------------------------------------------------------------------------------------------------------
  // The text is sealed while it waits, and gone when it is sent: it holds codes and links.
  `CREATE TABLE mail (
    id char(24) PRIMARY KEY,
    recipient text NOT NULL, template text NOT NULL, sealed text,
    created_at timestamptz NOT NULL DEFAULT now(), sent_at timestamptz, last_error text,
    CHECK ((sealed IS NULL) = (sent_at IS NOT NULL)))`,
  `CREATE INDEX mail_waiting ON mail (created_at) WHERE sent_at IS NULL`,
];

export class Accounts1795300000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    const tables =
      'mail platform_switch audit_log team_invitation spent_token wrong_factor passkey_challenge passkey backup_code reset_token';
    for (const table of `${tables} email_code user_session terms_consent dashboard_user`.split(' '))
      await q.query(`DROP TABLE ${table}`);
    await q.query(
      `ALTER TABLE merchant DROP COLUMN previous_publishable_key, DROP COLUMN previous_publishable_key_until,
         DROP COLUMN auto_accept_cross_chain_hours`,
    );
  }
}
