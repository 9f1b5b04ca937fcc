-- People who sign in to the dashboard, what proves who they are, API keys, teams, and the mail they get.

CREATE TABLE dashboard_user (
  id char(24) PRIMARY KEY,
  -- Lower case, as it is compared.
  email text NOT NULL UNIQUE CHECK (email = lower(email)),
  display_name text NOT NULL,
  role text NOT NULL CHECK (role IN ('merchant_admin', 'merchant_member', 'super_admin')),
  merchant_id char(24) REFERENCES merchant ON DELETE RESTRICT,
  permissions text[] NOT NULL DEFAULT '{}',
  is_active boolean NOT NULL DEFAULT true,
  password_hash text NOT NULL,
  email_verified_at timestamptz,
  totp_secret_sealed text,
  totp_enabled_at timestamptz,
  totp_last_step bigint NOT NULL DEFAULT 0,
  -- Tokens of an older version are void.
  session_version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_login_at timestamptz,
  -- Removed from the team: the row stays for the records, and the e-mail address is free again.
  removed_at timestamptz,
  CHECK ((role = 'super_admin') = (merchant_id IS NULL))
);
CREATE INDEX dashboard_user_merchant ON dashboard_user (merchant_id);

CREATE TABLE api_key (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  name text NOT NULL,
  -- Who made it; null: the operator, or nobody that a log names.
  created_by char(24) REFERENCES dashboard_user ON DELETE RESTRICT,
  key_hash text NOT NULL UNIQUE,
  last4 text NOT NULL,
  scopes text[] NOT NULL,
  allowed_ips text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  -- US dollars that the key may convert within any 24 hours; null: no limit.
  daily_usd numeric(20, 2) CHECK (daily_usd >= 0)
);

CREATE TABLE terms_consent (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  versions jsonb NOT NULL,
  ip text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);

-- One row per login. The refresh token in force is made from its generation.
CREATE TABLE user_session (
  id char(24) PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  session_version integer NOT NULL,
  generation integer NOT NULL DEFAULT 1,
  rotated_at timestamptz NOT NULL DEFAULT now(),
  ip text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX user_session_user ON user_session (user_id, created_at DESC) WHERE revoked_at IS NULL;

-- Codes sent by mail: only the newest of a user and action is valid.
CREATE TABLE email_code (
  id char(24) PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  action text NOT NULL,
  code_hash text NOT NULL,
  wrong_guesses integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE UNIQUE INDEX email_code_open ON email_code (user_id, action) WHERE ended_at IS NULL;

CREATE TABLE reset_token (
  token_hash text PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  expires_at timestamptz NOT NULL,
  spent_at timestamptz
);
CREATE INDEX reset_token_user ON reset_token (user_id) WHERE spent_at IS NULL;

CREATE TABLE backup_code (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  code_hash text NOT NULL,
  spent_at timestamptz
);
CREATE INDEX backup_code_user ON backup_code (user_id) WHERE spent_at IS NULL;

CREATE TABLE passkey (
  id char(24) PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL DEFAULT '{}',
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkey_user ON passkey (user_id);

CREATE TABLE passkey_challenge (
  key_hash text PRIMARY KEY,
  challenge text NOT NULL,
  user_id char(24) REFERENCES dashboard_user,
  action text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenge_expiry ON passkey_challenge (expires_at);

-- Wrong second factors of a user, from all endpoints together.
CREATE TABLE wrong_factor (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id char(24) NOT NULL REFERENCES dashboard_user,
  kind text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX wrong_factor_user ON wrong_factor (user_id, at);

-- The tokens between the steps of a login are valid once.
CREATE TABLE spent_token (
  jti text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX spent_token_expiry ON spent_token (expires_at);

CREATE TABLE team_invitation (
  id char(24) PRIMARY KEY,
  merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
  email text NOT NULL CHECK (email = lower(email)),
  display_name text,
  permissions text[] NOT NULL,
  invited_by char(24) NOT NULL REFERENCES dashboard_user,
  token_hash text NOT NULL UNIQUE,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'accepted', 'revoked')),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX team_invitation_open ON team_invitation (merchant_id, email) WHERE status = 'pending';

-- Who did what, for merchants and operators.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  merchant_id char(24),
  actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'key', 'operator', 'anonymous')),
  actor_id text,
  actor_name text NOT NULL,
  action text NOT NULL,
  target text,
  before jsonb,
  after jsonb,
  ip text NOT NULL,
  request_id text NOT NULL
);
CREATE INDEX audit_log_merchant ON audit_log (merchant_id, id DESC);

-- Mail that waits, and mail that was sent. The text is sealed, and deleted when it is sent: it holds codes and links.
CREATE TABLE mail (
  id char(24) PRIMARY KEY,
  recipient text NOT NULL,
  template text NOT NULL,
  sealed text,
  created_at timestamptz NOT NULL DEFAULT now(),
  sent_at timestamptz,
  last_error text,
  CHECK ((sealed IS NULL) = (sent_at IS NOT NULL))
);
CREATE INDEX mail_waiting ON mail (created_at) WHERE sent_at IS NULL;
