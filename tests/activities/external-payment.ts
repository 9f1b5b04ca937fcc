import type { DataSource } from 'typeorm';
import { post } from '../../db/ledger/ledger';
import { newId, newSlug } from '../../domain/ids';
import { depositJournal } from '../../domain/ledger/ledger';
import { unguarded } from '../unguarded';

/** Where the payment is, and whose it is: `address` is the deposit address of `index`. */
type Place = Readonly<{ merchantId: string; address: string; index: number; settlement: string }>;

/** The rows of a confirmed payment of 1 ETH that settles to an address of its merchant's own. Returns its id. */
export async function externalPayment(
  db: DataSource,
  { merchantId, address, index, settlement }: Place,
): Promise<string> {
  const id = newId();
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, native_rate, network_fee_amount,
         amount_paid, settlement_address, custody, expires_at, expires_in, required_confirmations, confirmed_at, tx_ids)
       VALUES ($1, $2, $3, 'CONFIRMED', 'api', 3200, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 1, 3200, 1,
         0.000084, 1, $4, 'external', now() + interval '1 hour', 3600, 2, clock_timestamp() - interval '3 hours',
         '{}')`,
      [id, merchantId, newSlug(), settlement],
    ),
  );
  await db.query(
    `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
     VALUES ('ethereum', $1, 'deposit', $2, 'ETH', $3, $4)`,
    [address, index, merchantId, id],
  );
  const deposit = { network: 'ethereum', txId: `0x${newId()}`, index: -1, currency: 'ETH', amount: '1' };
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at, confirmed_at, allocation, exchange_rate, quote_amount, rated_at)
     VALUES ('ethereum', $1, -1, $2, 'deposit', $3, 'ETH', 1, 1, false, 'confirmed', now(), now(), 'unsettled', 3200, 1,
       date_trunc('milliseconds', now()))`,
    [deposit.txId, address, id],
  );
  await db.transaction((tx) => post(tx, depositJournal({ ...deposit, merchantId })));
  return id;
}
