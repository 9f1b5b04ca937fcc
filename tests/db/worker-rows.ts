import type { Client } from 'pg';
import {
  back,
  batch,
  bolt,
  given,
  held,
  id,
  intents,
  invoices,
  onAccount,
  other,
  own,
  paid,
  shared,
  shop,
  swapped,
  sweepOf,
} from './worker-journal-cases';
import { insertMerchant } from '../merchant-row';

/** The rows that the journals of worker-journal-cases.ts are about. */

/** As the owner, with the guards of other tables asleep. */
export async function unguarded(owner: Client, sql: string, values: readonly unknown[] = []): Promise<void> {
  await owner.query('BEGIN');
  await owner.query('SET LOCAL session_replication_role = replica');
  await owner.query(sql, [...values]);
  await owner.query('COMMIT');
}
const put = (owner: Client, table: string, row: object): Promise<void> => {
  const text = JSON.stringify(row).replaceAll("'", "''");
  const columns = Object.keys(row).join(', ');
  return unguarded(
    owner,
    `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE
       SELECT ${columns} FROM json_populate_record(NULL::${table}, '${text}')`,
  );
};
const putDeposit = (owner: Client, n: number, address: string, more: object = {}): Promise<void> =>
  put(owner, 'deposit', {
    ...{ id: n, network: 'ethereum', tx_id: `0x${n}`, out_index: 0, address, role: 'deposit', payment_id: paid },
    ...{ currency: 'ETH', amount: 1, stated_amount: 1, is_dust: false, status: 'mined', first_seen_at: 'now' },
    ...{ found_by: 'transfer', inputs: [], verify_tries: 0 },
    ...more,
  });
const putIntent = async (owner: Client, n: string, kind: string, of: string, more: object = {}): Promise<void> => {
  const from_address = `0xfrom${n}`;
  await put(owner, 'intent', {
    ...{ id: n, kind, ref: of, network: 'ethereum', currency: 'ETH', from_address, outputs: [], deposit_ids: [] },
    ...{ max_unit_price: 1, fee_budget: 300, status: 'sent', owner_kind: 'sweep', owner_id: of, booked: false },
    ...{ created_at: 'now', updated_at: 'now', refusals: 0, void_through: 0 },
    ...more,
  });
  await put(owner, 'attempt', {
    ...{
      id: n,
      intent_id: n,
      n: 1,
      network: 'ethereum',
      tx_id: `0xt${n}`,
      raw: '',
      from_address,
      nonce: 0,
      inputs: [],
    },
    ...{ unit_price: 1, max_fee_units: 300, moved_units: 7, outputs: [], status: 'sent', created_at: 'now' },
    ...{ is_replacement: false },
  });
};

async function putMerchants(owner: Client): Promise<void> {
  for (const merchant of [shop, other]) await insertMerchant(owner, merchant);
  for (const [payment, custody, currency] of [
    [paid, 'platform', 'ETH'],
    [own, 'external', 'ETH'],
    [bolt, 'platform', 'BTC'],
    [onAccount, 'platform', 'ETH'],
  ] as const)
    await unguarded(
      owner,
      `INSERT INTO payment (id, merchant_id, slug, status, source, idempotency_key, fiat_amount, fiat_currency,
         fee_bearer, fee_bps, tolerance_pct, underpaid_policy, expires_at, expires_in, currency, amount,
         settlement_address, custody)
       VALUES ('${payment}', '${shop}', '${payment}', 'SWEEP_QUEUED', 'api', '${payment}', 9, 'USD', 'merchant', 50, 0,
         'hold', now(), 900, '${currency}', 1, '0xs', '${custody}')`,
    );
}

async function putDeposits(owner: Client): Promise<void> {
  await putDeposit(owner, 1, '0xa1', { payment_id: own });
  await putDeposit(owner, 2, '0xa2', { payment_id: own });
  await putDeposit(owner, 3, '0xa3', { payment_id: null });
  await putDeposit(owner, 4, '0xa4');
  await putDeposit(owner, 5, '0xa5', { payment_id: null, role: 'treasury', currency: 'USDT_ERC20', amount: 6 });
  await putDeposit(owner, 6, '0xa6', { payment_id: onAccount, tag: '7' });
  await unguarded(
    owner,
    `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', '0xa6', 'treasury', 0)`,
  );
  await unguarded(
    owner,
    `INSERT INTO address (network, address, role, key_index, conversion_id)
     VALUES ('ethereum', '0xa5', 'treasury', 99, '${swapped}')`,
  );
}

async function putInvoices(owner: Client): Promise<void> {
  for (const [n, [hash, isForPayment]] of (
    [
      [invoices.settles, true],
      [invoices.waits, false],
    ] as const
  ).entries())
    await put(owner, 'lightning_invoice', {
      ...{ id: id(20 + n), payment_id: bolt, currency: 'BTC', asked_msat: 1_500_000_000, expires_at: 'now' },
      ...{ state: 'taking', hash, invoice: 'lnbcrt1', decision: 'take', why: 'whole', is_for_payment: isForPayment },
      ...{ decided_at: 'now', created_at: 'now' },
    });
}

async function putWhatLeaves(owner: Client): Promise<void> {
  const leaving = { currency: 'ETH', network: 'ethereum', address: '0xb', network_fee: 0.5, net_amount: 2 };
  const { withdrawal, refund, leg: line } = held;
  await unguarded(
    owner,
    `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, address,
       fee_mode, amount, network_fee, net_amount, gross_amount, requested_by, requested_by_name, needs_approval,
       approved_at)
     VALUES ('${withdrawal}', '${shop}', 'w', '', 'broadcast', 'ETH', 'ethereum', '0xb', 'add', 2, 0.5, 2, 2.5,
       '${id(99)}', 'ann', false, now())`,
  );
  for (const [refundId, source, deposits] of [
    [refund, 'balance', '{}'],
    [back, 'deposit', '{1}'],
  ] as const)
    await unguarded(
      owner,
      `INSERT INTO refund (id, merchant_id, payment_id, idempotency_key, body_hash, status, type, currency, network,
         source, deposit_ids, fee_bearer, amount, network_fee, gross_amount, net_amount, fiat_amount, fiat_currency,
         address)
       VALUES ('${refundId}', '${shop}', '${paid}', '${refundId}', '', 'broadcast', 'full', 'ETH', 'ethereum',
         '${source}', '${deposits}', 'merchant', 2.5, 0.5, 2.5, 2, 9, 'USD', '0xb')`,
    );
  await unguarded(
    owner,
    `INSERT INTO payout_batch (id, merchant_id, status, rows_hash, row_count, totals, fees, created_by, created_by_id)
     VALUES ('${batch}', '${shop}', 'processing', '', 2, '{}', '{}', 'ann', '${id(99)}')`,
  );
  for (const [row_index, [lineId, intent_id]] of [
    [line, intents.leg],
    [shared, intents.shared],
  ].entries())
    await put(owner, 'payout_leg', {
      ...{ ...leaving, id: lineId, batch_id: batch, merchant_id: shop, row_index, amount: 2.5, status: 'broadcast' },
      ...{ state_version: 1, intent_id, updated_at: 'now' },
    });
  for (const conversion of [swapped, given])
    await unguarded(
      owner,
      `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
         from_amount, to_amount, exchange_rate, commission_amount, net_from_amount, is_debited)
       VALUES ('${conversion}', '${shop}', '', 'processing', 'external', 'ETH', 'USDT_ERC20', 3, 6, 2, 1, 2, true)`,
    );
}

async function putIntents(owner: Client): Promise<void> {
  await putIntent(owner, sweepOf.paid, 'sweep', 's1', { payment_id: paid, deposit_ids: [4] });
  await putIntent(owner, sweepOf.own, 'sweep', 's2', { payment_id: own, deposit_ids: [1] });
  await putIntent(owner, sweepOf.many, 'sweep', 's3', { deposit_ids: [2] });
  await put(owner, 'sweep_share', {
    ...{ intent_id: sweepOf.many, payment_id: own, position: 0, deposit_ids: [2], brought_units: 1 },
  });
  await putIntent(owner, intents.withdrawal, 'withdrawal', held.withdrawal);
  await putIntent(owner, intents.refund, 'refund', held.refund);
  await putIntent(owner, intents.leg, 'leg', held.leg);
  await putIntent(owner, intents.back, 'refund', back);
  await putIntent(owner, intents.shared, 'leg', `${batch}/1`);
}

/** As they are before any of the journals is due. */
export async function putRows(owner: Client): Promise<void> {
  await putMerchants(owner);
  await putDeposits(owner);
  await putInvoices(owner);
  await putWhatLeaves(owner);
  await putIntents(owner);
}
