/** Which role may do what with which table: the only place that gives rights. A new table, or a new statement, needs a
 *  line here; tests/db/roles.test.ts says which. Roles that may do the same share a line. `UPDATE (...)` names columns.
 *  `LOCK`: rows are locked and never changed; it stands for UPDATE of the one column in `lockColumns`, because
 *  PostgreSQL locks rows for nobody else. A right that is taken away may be one that processes of the release before
 *  still use: take it away one release later. See docs/changing-the-schema.md. */
export type TableGrants = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Harmless columns, for roles that lock rows and change nothing. */
export const lockColumns: Readonly<Record<string, string>> = {
  address: 'created_at',
  egress_limit: 'created_at',
  merchant: 'updated_at',
  payment: 'updated_at',
  reconciliation: 'details',
  sweep_group: 'settlement_address',
  whitelist_entry: 'label',
};

/** Tables in which no role has a right: the migration step's own, and what functions alone read and write. */
export const ownersTables: readonly string[] = ['signer.destination', 'signer.new_payment', 'signer.validity'];

export const tableGrants: TableGrants = {
  address: {
    'api, payments': 'SELECT, INSERT, LOCK',
    signer: 'SELECT, INSERT, UPDATE (lane)',
    chain: 'SELECT, UPDATE (balance_height, balance_through)',
    audit: 'SELECT',
    operator: 'SELECT, LOCK',
  },
  address_reserve: { 'api, payments, operator': 'SELECT', chain: 'SELECT, INSERT, UPDATE (taken_at, units)' },
  aml_due: { payments: 'SELECT, INSERT, DELETE' },
  aml_screen: { 'api, chain, signer': 'SELECT', payments: 'SELECT, INSERT' },
  api_key: {
    api: `
      SELECT, INSERT, UPDATE (allowed_ips, expires_at, hashed_by, key_hash, last_used_at, last_used_ip, name,
      revoked_at, scopes)`,
  },
  api_request: { api: 'SELECT, INSERT', payments: 'SELECT, DELETE' },
  applied_function: { payments: 'SELECT' },
  attempt: {
    'api, operator': 'SELECT, UPDATE (decided_by, decision)',
    'payments, audit': 'SELECT',
    chain: `
      SELECT, UPDATE (absence, block_hash, decided_by, decision, differs_at, fee_units, final_at, height,
      missing_at_height, moves, sent_at, status, success)`,
    signer: 'SELECT, INSERT',
  },
  attempt_account: { 'api, payments, chain, audit, operator': 'SELECT', signer: 'SELECT, INSERT' },
  audit_log: { api: 'SELECT, INSERT', 'payments, operator': 'INSERT' },
  audit_run: { api: 'SELECT', payments: 'SELECT, INSERT, DELETE' },
  backup_code: { api: 'SELECT, INSERT, UPDATE (spent_at), DELETE' },
  balance: { 'api, payments, audit, operator': 'SELECT' },
  balance_due: {
    payments: 'SELECT, INSERT, UPDATE (reason, until_height)',
    chain: 'SELECT, INSERT, UPDATE (looked_height, reason, until_height), DELETE',
  },
  balance_scan: { chain: 'SELECT, INSERT, UPDATE (after_address, height, started_at), DELETE' },
  chain_block: { 'api, payments, operator': 'SELECT', chain: 'SELECT, INSERT, UPDATE (block_time, hash), DELETE' },
  chain_cursor: {
    'api, payments, audit, operator': 'SELECT',
    signer: 'SELECT, UPDATE (scanned_through)',
    chain: `
      SELECT, INSERT, UPDATE (hash, head_height, height, reorganised_at, reorganised_depth, scanned_through,
      stale_reason, stale_since, traces_off_since, updated_at)`,
  },
  coin_lock: {
    'api, operator': 'SELECT',
    'payments, signer': 'SELECT, INSERT, UPDATE (intent_id), DELETE',
    chain: 'SELECT, DELETE',
  },
  conversion: {
    api: `
      SELECT, INSERT, UPDATE (accepted_minimum, commission_amount, completed_at, credit_amount, estimated_seconds,
      exchange_rate, from_rate_id, is_debited, merchant_message, net_from_amount, price_protection_pct,
      state_version, status, to_amount, to_rate_id, updated_at), DELETE`,
    'payments, chain, signer, operator': `
      SELECT, UPDATE (accepted_minimum, commission_amount, completed_at, credit_amount, estimated_seconds,
      exchange_rate, from_rate_id, is_debited, merchant_message, net_from_amount, price_protection_pct,
      state_version, status, to_amount, to_rate_id, updated_at)`,
    audit: 'SELECT',
  },
  conversion_pair: { 'api, operator': 'SELECT, INSERT, UPDATE (changed_at, max_usd, mode)', payments: 'SELECT' },
  dashboard_user: {
    api: `
      SELECT, INSERT, UPDATE (display_name, email, email_verified_at, is_active, language, last_login_at, password_hash,
      permissions, removed_at, role, session_version, time_zone, totp_enabled_at, totp_last_step, totp_secret_sealed)`,
    payments: 'SELECT',
    operator: 'SELECT, INSERT, UPDATE (session_version)',
  },
  delivery: {
    api: 'SELECT, INSERT, UPDATE (attempts_before, next_attempt_at, status, updated_at)',
    payments: 'SELECT, UPDATE (attempts, attempts_before, next_attempt_at, status, updated_at, url), DELETE',
    'audit, operator': 'SELECT',
  },
  delivery_attempt: { api: 'SELECT', payments: 'SELECT, INSERT, DELETE' },
  delivery_queue: {
    api: 'SELECT, INSERT, UPDATE (is_behind)',
    payments: 'SELECT, UPDATE (claimed_until, is_behind, tries), DELETE',
    audit: 'SELECT',
  },
  deposit: {
    'api, signer, operator': 'SELECT, UPDATE (allocation)',
    payments: `
      SELECT, INSERT, UPDATE (allocation, amount, block_hash, child_payment_id, exchange_rate, height, mined_at,
      quote_amount, rate_id, rated_at, stated_amount, status)`,
    chain: `
      SELECT, INSERT, UPDATE (address, allocation, amount, block_hash, confirmed_at, currency, exchange_rate,
      first_seen_at, first_seen_height, height, is_dust, mined_at, missing_since, payment_id, quote_amount, rate_id,
      rated_at, role, spent_by_tx, spent_height, stated_amount, stated_tag, status, tag, verify_after, verify_tries)`,
    audit: 'SELECT',
  },
  deposit_change: { chain: 'INSERT' },
  deposit_part: {
    'api, signer': 'SELECT',
    payments: 'SELECT, UPDATE (exchange_rate, quote_amount, rate_id, rated_at), DELETE',
    chain: 'SELECT, INSERT',
  },
  egress_admission: {
    api: 'SELECT, INSERT, UPDATE (released_at)',
    payments: 'SELECT, INSERT, UPDATE (released_at)',
    'chain, operator': 'SELECT, UPDATE (released_at)',
    signer: 'SELECT, UPDATE (released_at, signed_at)',
    audit: 'SELECT',
  },
  egress_freeze: { 'api, operator': 'SELECT, INSERT, DELETE', 'payments, chain': 'SELECT, INSERT', signer: 'SELECT' },
  egress_limit: {
    api: 'SELECT, INSERT, LOCK',
    'payments, signer': 'SELECT, LOCK',
    operator: 'SELECT, INSERT',
  },
  email_code: { api: 'SELECT, INSERT, UPDATE (ended_at, wrong_guesses)' },
  event: { 'api, payments, audit, operator': 'SELECT' },
  extended_key: { 'payments, chain, signer, audit': 'SELECT' },
  fail_point: { 'api, payments, chain, signer': 'SELECT, UPDATE (remaining)' },
  fx_position: {
    'api, operator': 'SELECT, INSERT, UPDATE (beyond, changed_at, limit_usd)',
    'payments, audit': 'SELECT',
  },
  held_part: { payments: 'SELECT, INSERT, DELETE', audit: 'SELECT' },
  identified_transfer: { 'api, payments': 'SELECT', chain: 'SELECT, INSERT, DELETE' },
  incident: {
    'api, operator': 'SELECT, UPDATE (resolution, resolved_at, resolved_by)',
    'payments, chain, signer': 'SELECT, INSERT, UPDATE (created_at, details, resolution, resolved_at, resolved_by)',
    audit: 'SELECT',
  },
  instance: { 'api, payments, chain, signer, operator': 'SELECT' },
  intent: {
    'api, operator': 'SELECT, UPDATE (fee_budget, max_unit_price, replaced_at, replaced_by, updated_at)',
    payments: `
      SELECT, INSERT, UPDATE (booked, deposit_ids, fee_budget, from_address, gas_estimated_at, gas_limit,
      max_unit_price, merchant_id, outputs, owner_id, owner_kind, payment_id, status, updated_at, void_through)`,
    chain: 'SELECT, UPDATE (booked, status, updated_at)',
    signer: 'SELECT, UPDATE (refusals, status, updated_at, waits_for)',
    audit: 'SELECT',
  },
  journal: { 'api, payments, chain, signer, audit, operator': 'SELECT' },
  key_epoch: {
    'api, payments, chain, operator': 'SELECT',
    signer: 'SELECT, INSERT, UPDATE (beat, confirmed_at, epoch, incarnation)',
  },
  key_watch: { 'api, chain, operator': 'SELECT', signer: 'SELECT, INSERT, UPDATE (next_index, until_index)' },
  known_device: { api: 'SELECT, INSERT, UPDATE (expires_at), DELETE' },
  ledger_entry: { 'api, payments, audit, operator': 'SELECT' },
  liability_leaf: { api: 'SELECT', audit: 'INSERT' },
  liability_tree: { api: 'SELECT', audit: 'SELECT, INSERT' },
  lightning_invoice: {
    'api, payments': 'SELECT, INSERT',
    chain: 'SELECT, UPDATE (hash, invoice, looked_at, state)',
    'audit, operator': 'SELECT',
  },
  lightning_mark: { payments: 'SELECT, INSERT, UPDATE (through)' },
  lightning_node: {
    'api, payments, signer': 'SELECT',
    chain: 'SELECT, INSERT, UPDATE (channels, height, is_synced, looked_at, receivable, sendable)',
  },
  lightning_payment: {
    api: 'SELECT, INSERT, UPDATE (given_up_at)',
    payments: 'SELECT, INSERT',
    audit: 'SELECT',
    operator: 'SELECT, UPDATE (given_up_at)',
    signer:
      'SELECT, INSERT, UPDATE (calls, fee_msat, forgotten_at, outcome, over_at, preimage, unanswered, under_way_at)',
  },
  lightning_unaudited: { payments: 'SELECT, UPDATE (compared_at, tries), DELETE', audit: 'SELECT' },
  lightning_unknown: {
    payments: 'SELECT, INSERT, UPDATE (msat, state), DELETE',
    'api, audit, operator': 'SELECT',
  },
  live_key: { 'api, payments': 'SELECT' },
  mail: {
    api: 'SELECT, INSERT, UPDATE (last_error, sealed, sent_at), DELETE',
    payments: 'SELECT, INSERT, UPDATE (last_error, sealed, sent_at)',
    operator: 'INSERT',
  },
  invite_code: {
    api: 'SELECT, INSERT, UPDATE (revoked_at, revoked_by, uses)',
    operator: 'SELECT, INSERT, UPDATE (revoked_at, revoked_by)',
  },
  merchant: {
    api: `
      SELECT, INSERT, UPDATE (approval, auto_accept_cross_chain_hours, callback_domains, default_expires_in,
      display_currency, fee_bearer, fee_bps, held_at, held_because, ipn_enabled, ipn_secret_sealed,
      previous_ipn_secret_sealed, previous_ipn_secret_until, previous_publishable_key,
      previous_publishable_key_until, publishable_key, refund_daily_cap_usd, status, underpaid_policy,
      underpayment_tolerance_pct, updated_at, whitelist_delay_hours, whitelist_not_before)`,
    payments: 'SELECT',
    signer: 'SELECT, LOCK',
    operator: 'SELECT, UPDATE (approval, fee_bps, held_at, held_because, status, updated_at)',
  },
  merchant_branding: {
    api: `
      SELECT, INSERT, UPDATE (accent_color, logo, logo_id, logo_type, support_email, support_url, terms_url,
      updated_at)`,
    payments: 'SELECT',
  },
  merchant_counter: {
    api: 'SELECT, INSERT, UPDATE (open_payments)',
    'payments, chain, signer': 'SELECT, UPDATE (open_payments)',
    audit: 'SELECT',
  },
  merchant_wallet: {
    api: 'SELECT, INSERT, UPDATE (custody, deactivated_at, is_active, settlement_address)',
    payments: 'SELECT, UPDATE (custody, settlement_address)',
  },
  merchant_wallet_history: { 'api, payments': 'SELECT' },
  migration: { payments: 'SELECT' },
  network_fee: {
    'api, payments, signer, operator': 'SELECT',
    chain: 'SELECT, INSERT, UPDATE (data_part, taken_at, tip_price, unit_price)',
  },
  operator_confirmation: { api: 'SELECT, INSERT', operator: 'SELECT' },
  operator_request: {
    api: 'SELECT, INSERT, UPDATE (ended_at, ended_by_name, outcome, state)',
    operator: 'SELECT, INSERT',
    'payments, audit': 'SELECT',
  },
  passkey: { api: 'SELECT, INSERT, UPDATE (counter, last_used_at), DELETE' },
  passkey_challenge: { api: 'SELECT, INSERT, DELETE' },
  payer_browser: { api: 'SELECT, INSERT, UPDATE (address, address_at, destination_tag, network)', payments: 'SELECT' },
  payment_day: { 'api, payments, audit': 'SELECT' },
  payment_decider: { api: 'INSERT', payments: 'SELECT, DELETE' },
  payment_donor: { 'api, payments': 'SELECT' },
  payment: {
    'api, payments, chain, signer': `
      SELECT, UPDATE (accepted_share, amount, amount_paid, commission_amount, confirmed_at,
      cross_chain_auto_accept_at, cross_offer, currency, custody, deposit_address, destination_tag, exceptions,
      exchange_rate, expires_at, fee_amount, native_rate, net_amount, network, network_fee_amount, original_amount,
      original_currency, quote_amount, quote_expires_at, quoted_at, rate_id, required_confirmations, settled_at,
      settled_fee_amount, settled_net_amount, settled_stamp_incomplete, settlement_address, state_version, status,
      sweep_state, sweep_tx_id, tx_ids, updated_at, value_paid)`,
    audit: 'SELECT',
    operator: 'SELECT, LOCK',
  },
  payment_event: { 'api, payments': 'SELECT, INSERT', 'chain, signer': 'INSERT' },
  payment_quote: { api: 'INSERT', payments: 'SELECT, INSERT' },
  payout_batch: {
    api: `
      SELECT, INSERT, UPDATE (approved_at, approved_by, approved_by_id, cancelled_at, completed_at,
      needs_second_person, sent_at, state_version, status, updated_at)`,
    'payments, chain, signer, operator': `
      SELECT, UPDATE (cancelled_at, completed_at, sent_at, state_version, status, updated_at)`,
    audit: 'SELECT',
  },
  payout_leg: {
    api: 'SELECT, INSERT, UPDATE (intent_id, merchant_message, state_version, status, tx_id, updated_at)',
    payments: `
      SELECT, UPDATE (added_fee, intent_id, merchant_message, net_amount, network_fee, state_version, status, tx_id,
      updated_at)`,
    'chain, signer, operator': `
      SELECT, UPDATE (intent_id, merchant_message, state_version, status, tx_id, updated_at)`,
    audit: 'SELECT',
  },
  platform_switch: { 'api, operator': 'SELECT, INSERT, UPDATE (changed_at, is_on, reason)' },
  posting: { 'api, payments, chain, signer, audit, operator': 'SELECT' },
  rate: { api: 'SELECT', payments: 'SELECT, INSERT, DELETE' },
  rate_latest: {
    'api, chain, signer, operator': 'SELECT',
    payments: 'SELECT, INSERT, UPDATE (rate_id, taken_at, value)',
  },
  rate_limit: { api: 'SELECT, INSERT, UPDATE (expire, points), DELETE' },
  rate_look: { api: 'SELECT', payments: 'SELECT, INSERT, UPDATE (currencies, started_at)' },
  receipt_email: { api: 'SELECT, INSERT, UPDATE (mail_id)', payments: 'SELECT, UPDATE (mail_id)' },
  reconciliation: {
    audit: 'SELECT',
    'api, operator': 'SELECT, UPDATE (ledger, unexplained)',
    payments: 'SELECT, INSERT, UPDATE (arriving, at, chain, details, height, leaving, ledger, open, unexplained)',
    chain: 'SELECT, LOCK',
  },
  recovery: { 'api, operator': 'SELECT', payments: 'SELECT, UPDATE (workflows_ended_at)', signer: 'INSERT' },
  refund: {
    api: `
      SELECT, INSERT, UPDATE (address, approved_at, approved_by, asked_by, claimed_at, completed_at,
      destination_tag, merchant_message, state_version, status, tx_id, updated_at)`,
    payments: `
      SELECT, INSERT, UPDATE (added_fee, address, approved_at, approved_by, asked_by, claimed_at, completed_at,
      destination_tag, merchant_message, net_amount, network_fee, state_version, status, tx_id, updated_at)`,
    'chain, signer, operator': `
      SELECT, UPDATE (address, approved_at, approved_by, asked_by, claimed_at, completed_at, destination_tag,
      merchant_message, state_version, status, tx_id, updated_at)`,
    audit: 'SELECT',
  },
  request_log: { api: 'SELECT, INSERT, UPDATE (created_at, details, reason)', payments: 'SELECT, DELETE' },
  reset_token: { 'api, operator': 'SELECT, INSERT, UPDATE (spent_at)' },
  screening_list: { payments: 'SELECT', operator: 'SELECT, INSERT, UPDATE (imported_at, score), DELETE' },
  seed_key: { 'api, payments, signer, operator': 'SELECT' },
  settlement_change: {
    api: 'SELECT, INSERT, UPDATE (applied_at, approved_by, approved_by_name, ended_at, status)',
    payments: 'SELECT, UPDATE (applied_at, approved_by, approved_by_name, ended_at, status)',
  },
  slow_receiver: { payments: 'SELECT, INSERT, DELETE' },
  spent_token: { api: 'SELECT, INSERT, DELETE' },
  swap_order: {
    'api, chain, signer, audit, operator': 'SELECT',
    payments: `
      SELECT, INSERT, UPDATE (changed_at, credited_deposit_ids, deposit_address, order_id, payout_tx_id, promised,
      state, status, valid_until)`,
  },
  swap_rate: {
    api: 'SELECT',
    payments: `
      SELECT, INSERT, UPDATE (high_amount, high_output, low_amount, low_output, max_amount, min_amount, seconds,
      taken_at)`,
  },
  sweep_group: { payments: 'SELECT, INSERT, LOCK' },
  sweep_share: {
    'api, operator': 'SELECT',
    payments: 'SELECT, INSERT, UPDATE (dropped_at, dropped_because, fee_units)',
    'chain, signer': 'SELECT, UPDATE (dropped_at, dropped_because, fee_units)',
    audit: 'SELECT',
  },
  team_invitation: { api: 'SELECT, INSERT, UPDATE (expires_at, invited_by, status, token_hash)' },
  temporal_request: {
    api: 'SELECT, INSERT',
    payments: 'SELECT, INSERT, UPDATE (claimed_until, is_behind, last_error, tries), DELETE',
    audit: 'SELECT',
  },
  terms_consent: { api: 'INSERT' },
  untraced_block: {
    'api, payments': 'SELECT',
    chain: 'SELECT, INSERT, UPDATE (next_try_at, reason, scanned_at, tries), DELETE',
  },
  user_right: { api: 'SELECT' },
  user_session: {
    api: 'SELECT, INSERT, UPDATE (expires_at, generation, last_used_at, revoked_at, rotated_at)',
    operator: 'SELECT, UPDATE (revoked_at)',
  },
  wallet_sequence: {
    'api, operator': 'SELECT, UPDATE (frozen_at, frozen_reason)',
    'payments, audit': 'SELECT',
    chain: 'SELECT, INSERT, UPDATE (frozen_at, frozen_reason)',
    signer: 'SELECT, INSERT, UPDATE (foreign_sequence, frozen_at, frozen_reason, next_nonce)',
  },
  wallet_turn: { signer: 'SELECT, INSERT, UPDATE (passed_at, ready_at), DELETE' },
  wallet_total: { 'api, payments, signer, audit, operator': 'SELECT' },
  webhook_endpoint: {
    api: `
      SELECT, INSERT, UPDATE (description, disabled_reason, enabled_events, failing_since, is_active,
      previous_secret_sealed, previous_secret_until, secret_sealed, updated_at, url, version), DELETE`,
    payments: 'SELECT, UPDATE (disabled_reason, failing_since, is_active, updated_at, version)',
  },
  whitelist_entry: {
    api: 'SELECT, INSERT, UPDATE (removed_at, removed_by_id)',
    'payments, signer': 'SELECT, LOCK',
  },
  widget: {
    api: `
      SELECT, INSERT, UPDATE (allowed_currencies, allowed_origins, amount_mode, branding, cancel_url, display_mode,
      donor_fields, fixed_amount, is_active, max_amount, min_amount, name, required_donor_fields, success_url,
      suggested_amounts, thank_you_text, type, updated_at), DELETE`,
  },
  withdrawal: {
    api: `
      SELECT, INSERT, UPDATE (approved_at, approved_by, approved_by_name, broadcast_at, completed_at,
      merchant_message, state_version, status, tx_id, updated_at)`,
    payments: `
      SELECT, UPDATE (added_fee, approved_at, approved_by, approved_by_name, broadcast_at, completed_at,
      merchant_message, net_amount, network_fee, state_version, status, tx_id, updated_at)`,
    'chain, signer, operator': `
      SELECT, UPDATE (approved_at, approved_by, approved_by_name, broadcast_at, completed_at, merchant_message,
      state_version, status, tx_id, updated_at)`,
    audit: 'SELECT',
  },
  wrong_factor: { api: 'SELECT, INSERT, DELETE' },
};
