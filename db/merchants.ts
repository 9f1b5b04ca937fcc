import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Merchant } from '../domain/access';
import { newId } from '../domain/ids';
import { fiatDecimals, type FeeBearer } from '../domain/quote';
import { randomBase62, seal } from './sealing';

/** What guards and prices read of a merchant `m`. */
export const merchantColumns = `m.id AS merchant_id, m.name AS merchant_name, m.status AS merchant_status, m.display_currency, m.fee_bearer,
  m.fee_bps, m.underpayment_tolerance_pct::text AS tolerance_pct, m.underpaid_policy, m.callback_domains, m.default_expires_in,
  m.open_payments_quota, m.ipn_enabled`;

export type MerchantRow = {
  merchant_id: string;
  merchant_name: string;
  merchant_status: 'active' | 'suspended';
  display_currency: string;
  fee_bearer: FeeBearer;
  fee_bps: number;
  tolerance_pct: string;
  underpaid_policy: 'hold' | 'accept' | 'refund';
  callback_domains: string[];
  default_expires_in: number | null;
  open_payments_quota: number | null;
  ipn_enabled: boolean;
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
});

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
}>;

/** A new merchant with its event counter. The IPN secret can be read again (sealed at rest); the publishable key is not secret. */
export async function createMerchant(
  db: DataSource,
  merchant: NewMerchant,
): Promise<{ id: string; ipnSecret: string; publishableKey: string }> {
  const displayCurrency = merchant.displayCurrency ?? 'USD';
  if (!(displayCurrency in fiatDecimals)) throw new RangeError(`No fiat currency '${displayCurrency}'`);
  const id = newId();
  const ipnSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const publishableKey = `pk_live_${randomBase62(32)}`;
  await db.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO merchant (id, name, display_currency, fee_bearer, fee_bps, underpayment_tolerance_pct, underpaid_policy,
         callback_domains, open_payments_quota, ipn_secret_sealed, publishable_key)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
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
        publishableKey,
      ],
    );
    await tx.query('INSERT INTO merchant_counter (merchant_id) VALUES ($1)', [id]);
  });
  return { id, ipnSecret, publishableKey };
}
