import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { newId } from '../../domain/ids';
import { publishableKeyPrefixes } from '../../domain/mode';
import { fiatDecimals, type FeeBearer } from '../../domain/pricing/quote';
import { oldSecretHours } from '../../domain/webhooks/webhook-endpoint';
import { modeOf } from '../instance';
import type { Approval } from '../operators/registrations';
import { type Queryable, changedRows } from '../query';
import { randomBase62, seal } from '../sealing';
import { stopOutgoing } from './merchant-stop';
import type { RowOf } from '../entity';
import type { merchantEntity } from './entities';

/** What guards and prices read of a merchant `m`. */
export const merchantColumns = `m.id AS merchant_id, m.name AS merchant_name, m.status AS merchant_status,
m.display_currency, m.fee_bearer,
  m.fee_bps, m.underpayment_tolerance_pct::text AS tolerance_pct, m.underpaid_policy,
  m.callback_domains, m.default_expires_in,
  m.open_payments_quota, m.ipn_enabled, m.auto_accept_cross_chain_hours`;

export type MerchantRow = Pick<
  RowOf<typeof merchantEntity>,
  | 'display_currency'
  | 'fee_bearer'
  | 'fee_bps'
  | 'underpaid_policy'
  | 'callback_domains'
  | 'default_expires_in'
  | 'open_payments_quota'
  | 'ipn_enabled'
  | 'auto_accept_cross_chain_hours'
> & {
  merchant_id: string;
  merchant_name: string;
  merchant_status: 'active' | 'suspended';
  tolerance_pct: string;
};

export const merchantOf = (row: MerchantRow): Merchant => ({
  id: row.merchant_id,
  name: row.merchant_name,
  status: row.merchant_status,
  displayCurrency: row.display_currency,
  feeBearer: row.fee_bearer,
  feeBps: row.fee_bps,
  tolerancePct: row.tolerance_pct,
  underpaidPolicy: row.underpaid_policy,
  callbackDomains: row.callback_domains,
  defaultExpiresIn: row.default_expires_in,
  openPaymentsQuota: row.open_payments_quota,
  ipnEnabled: row.ipn_enabled,
  autoAcceptCrossChainHours: row.auto_accept_cross_chain_hours,
});

/** A merchant by id, whatever its status. */
export async function findMerchant(db: Queryable, id: string): Promise<Merchant | null> {
  const [row] = await db.query<MerchantRow[]>(`SELECT ${merchantColumns} FROM merchant m WHERE m.id = $1`, [id]);
  return row ? merchantOf(row) : null;
}

export type NewMerchant = Readonly<{
  secretsKey: string;
  name: string;
  displayCurrency?: string;
  feeBearer?: FeeBearer;
  feeBps?: number;
  /** Percent of the amount that may be missing; '1' unless told otherwise. */
  tolerancePct?: string;
  underpaidPolicy?: Merchant['underpaidPolicy'];
  callbackDomains?: readonly string[];
  openPaymentsQuota?: number;
  /** Nobody of it signs in until an operator has decided. */
  isWaiting?: boolean;
  inviteCodeId?: string | null;
}>;

/** A new merchant with its event counter. The IPN secret can be read again (sealed at rest); the publishable key is not
 *  secret. */
export async function createMerchant(
  db: Pick<EntityManager, 'transaction'>,
  merchant: NewMerchant,
): Promise<{ id: string; ipnSecret: string; publishableKey: string }> {
  const displayCurrency = merchant.displayCurrency ?? 'USD';
  if (!(displayCurrency in fiatDecimals)) throw new RangeError(`No fiat currency '${displayCurrency}'`);
  const id = newId();
  const ipnSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const publishableKey = await db.transaction(async (tx) => {
    const key = await newPublishableKey(tx);
    await tx.query(
      `INSERT INTO merchant (id, name, display_currency, fee_bearer, fee_bps, underpayment_tolerance_pct,
         underpaid_policy,
         callback_domains, open_payments_quota, ipn_secret_sealed, publishable_key, status, approval, invite_code_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [
        id,
        merchant.name,
        displayCurrency,
        merchant.feeBearer ?? 'merchant',
        merchant.feeBps ?? 40,
        merchant.tolerancePct ?? '1',
        merchant.underpaidPolicy ?? 'hold',
        merchant.callbackDomains ?? [],
        merchant.openPaymentsQuota ?? null,
        seal(merchant.secretsKey, ipnSecret),
        key,
        merchant.isWaiting ? 'suspended' : 'active',
        merchant.isWaiting ? 'waiting' : 'approved',
        merchant.inviteCodeId ?? null,
      ],
    );
    await tx.query('INSERT INTO merchant_counter (merchant_id) VALUES ($1)', [id]);
    return key;
  });
  return { id, ipnSecret, publishableKey };
}

const newPublishableKey = async (tx: Queryable): Promise<string> =>
  `${publishableKeyPrefixes[await modeOf(tx)]}${randomBase62(32)}`;

export const isPublishableKeyShaped = (token: string): boolean => /^pk_(live|test)_\w{1,64}$/.test(token);

/** The merchant of a publishable key that is in force, or was until its replacement's first day is over; null:
 *  nobody's. */
export async function findByPublishableKey(db: Queryable, key: string): Promise<Merchant | null> {
  const [row] = await db.query<MerchantRow[]>(
    `SELECT ${merchantColumns} FROM merchant m WHERE m.publishable_key = $1
       OR (m.previous_publishable_key = $1 AND m.previous_publishable_key_until > clock_timestamp())`,
    [key],
  );
  return row ? merchantOf(row) : null;
}

export async function publishableKeyOf(db: Queryable, merchantId: string): Promise<string> {
  const [row] = await db.query<Array<{ publishable_key: string }>>(
    'SELECT publishable_key FROM merchant WHERE id = $1',
    [merchantId],
  );
  return row!.publishable_key;
}

/** A new publishable key; the one before serves for another day, the one before that no more. */
export async function rotatePublishableKey(
  tx: Queryable,
  merchantId: string,
): Promise<{ publishableKey: string; previousValidUntil: Date }> {
  const [row] = await changedRows<{ publishable_key: string; previous_publishable_key_until: Date }>(
    tx,
    `UPDATE merchant SET previous_publishable_key = publishable_key,
       previous_publishable_key_until = now() + interval '24 hours',
       publishable_key = $2, updated_at = now() WHERE id = $1 RETURNING publishable_key,
         previous_publishable_key_until`,
    [merchantId, await newPublishableKey(tx)],
  );
  return { publishableKey: row!.publishable_key, previousValidUntil: row!.previous_publishable_key_until };
}

/** A new IPN secret, readable this once and sealed afterwards; the one before signs too for another day, the one before
 *  that no more. */
export async function rotateIpnSecret(
  tx: Queryable,
  secretsKey: string,
  merchantId: string,
): Promise<{ secret: string; previousValidUntil: Date }> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const [row] = await changedRows<{ previous_ipn_secret_until: Date }>(
    tx,
    `UPDATE merchant SET previous_ipn_secret_sealed = ipn_secret_sealed,
       previous_ipn_secret_until = now() + make_interval(hours => $3),
       ipn_secret_sealed = $2, updated_at = now() WHERE id = $1 RETURNING previous_ipn_secret_until`,
    [merchantId, seal(secretsKey, secret), oldSecretHours],
  );
  return { secret, previousValidUntil: row!.previous_ipn_secret_until };
}

/** What a merchant sets for their payments. Contract: G2. */
export type Settings = Readonly<{
  displayCurrency: string;
  feeBearer: FeeBearer;
  /** Decimal string, percent. */
  underpaymentTolerancePct: string;
  underpaidPolicy: Merchant['underpaidPolicy'];
  callbackDomains: readonly string[];
  autoAcceptCrossChainHours: number;
  whitelistDelayHours: number;
  /** Of the last 24 hours; null: none. Decimal string. */
  refundDailyCapUsd: string | null;
  defaultExpiresIn: number | null;
  ipnEnabled: boolean;
}>;

/** A merchant's settings, locked where `tx` is a transaction that changes them. */
export async function settingsOf(tx: Queryable, merchantId: string, { lock = false } = {}): Promise<Settings> {
  const [row] = await tx.query<Array<{ settings: Settings }>>(
    `SELECT json_build_object('displayCurrency', display_currency, 'feeBearer', fee_bearer,
       'underpaymentTolerancePct', underpayment_tolerance_pct::text, 'underpaidPolicy', underpaid_policy,
       'callbackDomains', callback_domains, 'autoAcceptCrossChainHours', auto_accept_cross_chain_hours,
       'whitelistDelayHours', whitelist_delay_hours, 'refundDailyCapUsd', trim_scale(refund_daily_cap_usd)::text,
       'defaultExpiresIn', default_expires_in, 'ipnEnabled', ipn_enabled) AS settings
       FROM merchant WHERE id = $1 ${lock ? 'FOR NO KEY UPDATE' : ''}`,
    [merchantId],
  );
  return row!.settings;
}

/** Payments that are made already keep what they were made with. A shorter cooling-off of the whitelist counts once the
 *  longer one has passed, so that nobody skips it who takes over a session. */
export const changeSettings = (tx: Queryable, merchantId: string, next: Settings): Promise<unknown> =>
  tx.query(
    `UPDATE merchant SET display_currency = $2, fee_bearer = $3, underpayment_tolerance_pct = $4, underpaid_policy = $5,
       callback_domains = $6, auto_accept_cross_chain_hours = $7, default_expires_in = $8, ipn_enabled = $9,
       whitelist_not_before = CASE WHEN $10 < whitelist_delay_hours
         THEN greatest(whitelist_not_before, now() + make_interval(hours => whitelist_delay_hours))
         ELSE whitelist_not_before END,
       whitelist_delay_hours = $10, refund_daily_cap_usd = $11, updated_at = now() WHERE id = $1`,
    [
      merchantId,
      next.displayCurrency,
      next.feeBearer,
      next.underpaymentTolerancePct,
      next.underpaidPolicy,
      next.callbackDomains,
      next.autoAcceptCrossChainHours,
      next.defaultExpiresIn,
      next.ipnEnabled,
      next.whitelistDelayHours,
      next.refundDailyCapUsd,
    ],
  );

export type ListedMerchant = Pick<
  RowOf<typeof merchantEntity>,
  'id' | 'name' | 'status' | 'held_because' | 'approval' | 'created_at'
>;

export type MerchantFilter = Readonly<{
  /** The beginning of a name, in whatever case. */
  name: string | null;
  status: 'active' | 'suspended' | null;
  approval: Approval | null;
  cursor: string | null;
  limit: number;
}>;

/** Merchants, for operators: newest first, older than `cursor`. */
export const listMerchants = (
  db: Queryable,
  { name, status, approval, cursor, limit }: MerchantFilter,
): Promise<ListedMerchant[]> =>
  db.query<ListedMerchant[]>(
    `SELECT id, name, status, held_because, approval, created_at FROM merchant
      WHERE ($1::text IS NULL OR id < $1) AND ($2::text IS NULL OR lower(name) LIKE $2)
        AND ($3::text IS NULL OR status = $3) AND ($4::text IS NULL OR approval = $4) ORDER BY id DESC LIMIT $5`,
    [
      cursor,
      name === null ? null : `${name.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`,
      status,
      approval,
      limit,
    ],
  );

/** The merchant of an id, as operators see it; empty where there is none. */
export const listedMerchant = (db: Queryable, id: string): Promise<ListedMerchant[]> =>
  db.query<ListedMerchant[]>(
    'SELECT id, name, status, held_because, approval, created_at FROM merchant WHERE id = $1',
    [id],
  );

export type MerchantPage = ListedMerchant & {
  display_currency: string;
  fee_bearer: FeeBearer;
  fee_bps: number;
  open_payments: number;
};

/** One merchant with what operators set for it; null where there is none. */
export async function merchantPage(db: Queryable, id: string): Promise<MerchantPage | null> {
  const [row] = await db.query<MerchantPage[]>(
    `SELECT m.id, m.name, m.status, m.held_because, m.created_at, m.display_currency, m.fee_bearer, m.fee_bps,
            c.open_payments, m.approval
       FROM merchant m JOIN merchant_counter c ON c.merchant_id = m.id WHERE m.id = $1`,
    [id],
  );
  return row ?? null;
}

/** Sets the commission and returns the one before; null where there is no such merchant. */
export async function setFee(tx: Queryable, id: string, feeBps: number): Promise<number | null> {
  const [before] = await tx.query<Array<{ fee_bps: number }>>(
    'SELECT fee_bps FROM merchant WHERE id = $1 FOR NO KEY UPDATE',
    [id],
  );
  if (!before) return null;
  await tx.query('UPDATE merchant SET fee_bps = $2, updated_at = now() WHERE id = $1', [id, feeBps]);
  return before.fee_bps;
}

/** Suspends or activates a merchant; null where there is none. A suspension signs all its users out, and stops its
 *  outgoing money for `reason`; the stop outlives the suspension, until two operators lift it. */
export async function setMerchantStatus(
  tx: Queryable,
  merchantId: string,
  status: 'active' | 'suspended',
  reason: string,
): Promise<ListedMerchant | null> {
  if (status === 'suspended') await stopOutgoing(tx, merchantId, reason);
  const rows = await changedRows<ListedMerchant>(
    tx,
    `UPDATE merchant SET status = $2, updated_at = now() WHERE id = $1
      RETURNING id, name, status, held_because, approval, created_at`,
    [merchantId, status],
  );
  if (rows[0] && status === 'suspended') {
    await tx.query('UPDATE dashboard_user SET session_version = session_version + 1 WHERE merchant_id = $1', [
      merchantId,
    ]);
    await tx.query(
      `UPDATE user_session SET revoked_at = now()
        WHERE revoked_at IS NULL AND user_id IN (SELECT id FROM dashboard_user WHERE merchant_id = $1)`,
      [merchantId],
    );
  }
  return rows[0] ?? null;
}
