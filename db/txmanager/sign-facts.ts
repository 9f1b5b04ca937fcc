import type { EntityManager } from 'typeorm';
import { intentColumns, type AttemptRow, type IntentRow, type ShareRow } from './intents';
import type { RowOf } from '../entity';
import { prepared } from '../query';
import type { addressEntity } from '../chains/entities';
import type { walletSequenceEntity } from './entities';
import { limitUsesSql, type LimitUseKey, type LimitUseRow } from '../limits/outbound';

/** What the signer's verdicts are made of, read and, where it says so, locked: of many intents in one statement.
 *  Nothing here decides. */

/** These intents, locked until the transaction ends. */
export const lockIntents = (tx: EntityManager, ids: readonly string[]): Promise<IntentRow[]> =>
  prepared(tx, 'lock-intents').query<IntentRow[]>(
    `SELECT ${intentColumns} FROM intent WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE`,
    [ids],
  );

/** Their attempts, oldest first. */
export const attemptsOfAll = (tx: EntityManager, intentIds: readonly string[]): Promise<AttemptRow[]> =>
  tx.query<AttemptRow[]>('SELECT * FROM attempt WHERE intent_id = ANY($1::bigint[]) ORDER BY intent_id, n', [
    intentIds,
  ]);

/** The payments that are still in their batches, in the order of each; none of those that are no batch. */
export const sharesOfAll = (tx: EntityManager, intentIds: readonly string[]): Promise<ShareRow[]> =>
  tx.query<ShareRow[]>(
    `SELECT * FROM sweep_share WHERE intent_id = ANY($1::bigint[]) AND dropped_at IS NULL
      ORDER BY intent_id, position`,
    [intentIds],
  );

export type OwnAddressRow = Pick<
  RowOf<typeof addressEntity>,
  'address' | 'role' | 'merchant_id' | 'branch' | 'key_index'
>;

/** Which of these addresses are ours. */
export const ownAddresses = (
  tx: EntityManager,
  network: string,
  addresses: readonly string[],
): Promise<OwnAddressRow[]> =>
  tx.query<OwnAddressRow[]>(
    `SELECT address, role, merchant_id, branch, key_index FROM address
      WHERE network = $1 AND address = ANY($2) AND tag = ''`,
    [network, addresses],
  );

/** What is read of intents, and locked by nothing, in one statement: each further one costs a mass payout time. */
type SignReads = Readonly<{
  /** Those that have an attempt. */
  signed: string[];
  /** Those that are sweeps of many. */
  shared: string[];
  /** Those whose owners have lost something on their network, and have not taken it over. */
  lost: string[];
  own: OwnAddressRow[];
  freezes: Array<{ currency: string; reason: string }>;
  /** Those of the limit uses asked for that are counted and were not released. */
  limitUses: LimitUseRow[];
}>;

export async function signReads(
  tx: EntityManager,
  network: string,
  of: Readonly<{ ids: readonly string[]; addresses: readonly string[]; limitUses: readonly LimitUseKey[] }>,
): Promise<SignReads> {
  const [row] = await prepared(tx, 'sign-reads').query<SignReads[]>(
    `SELECT ARRAY(SELECT DISTINCT a.intent_id FROM attempt a WHERE a.intent_id = ANY($1::bigint[])) AS signed,
            ARRAY(SELECT DISTINCT s.intent_id FROM sweep_share s
                   WHERE s.intent_id = ANY($1::bigint[]) AND s.dropped_at IS NULL) AS shared,
            ARRAY(SELECT i.id FROM intent i WHERE i.id = ANY($1::bigint[]) AND EXISTS (
                   SELECT FROM intent l WHERE l.owner_kind = 'lost' AND l.lost_owner_kind = i.owner_kind
                      AND l.lost_owner_id = i.owner_id AND l.network = i.network AND l.status <> 'dead')) AS lost,
            (SELECT coalesce(jsonb_agg(jsonb_build_object('address', o.address, 'role', o.role,
                      'merchant_id', o.merchant_id, 'branch', o.branch, 'key_index', o.key_index)), '[]')
               FROM address o WHERE o.network = $2 AND o.address = ANY($3) AND o.tag = '') AS own,
            (SELECT coalesce(jsonb_agg(jsonb_build_object('currency', f.currency, 'reason', f.reason)
                      ORDER BY f.currency), '[]') FROM egress_freeze f) AS freezes,
            (SELECT coalesce(jsonb_agg(to_jsonb(u)), '[]') FROM (${limitUsesSql('$4', '$5')}) u) AS "limitUses"`,
    [of.ids, network, of.addresses, of.limitUses.map(({ kind }) => kind), of.limitUses.map(({ ref }) => ref)],
  );
  return row!;
}

/** The payments that sweeps move, those that have left their batches too: whose they are, and where they settle.
 *  `custody` `platform`: at an address of the treasury; `external`: of the merchant's own. */
export const sweptPayments = (
  tx: EntityManager,
  intentIds: readonly string[],
): Promise<Array<{ intent_id: string; merchant_id: string; address: string | null; custody: string | null }>> =>
  tx.query<Array<{ intent_id: string; merchant_id: string; address: string | null; custody: string | null }>>(
    `SELECT swept.intent_id, p.merchant_id, p.settlement_address AS address, p.custody
       FROM (SELECT id AS intent_id, payment_id FROM intent WHERE id = ANY($1::bigint[])
             UNION SELECT intent_id, payment_id FROM sweep_share WHERE intent_id = ANY($1::bigint[])) swept
       JOIN payment p ON p.id = swept.payment_id ORDER BY swept.intent_id, p.id`,
    [intentIds],
  );

/** Of each batch, how many payments of its shares are of its merchant, currency and settlement address, and how many
 *  deposits of its shares are of those. Batches without any are absent. */
export const sharedPayments = (
  tx: EntityManager,
  intentIds: readonly string[],
): Promise<Array<{ intent_id: string; payments: number; deposits: number }>> =>
  tx.query<Array<{ intent_id: string; payments: number; deposits: number }>>(
    `SELECT i.id AS intent_id, count(*)::int AS payments,
            coalesce(sum((SELECT count(*) FROM deposit d WHERE d.id = ANY(s.deposit_ids)
              AND coalesce(d.child_payment_id, d.payment_id) = p.id AND d.currency = p.currency)), 0)::int AS deposits
       FROM intent i JOIN sweep_share s ON s.intent_id = i.id JOIN payment p ON p.id = s.payment_id
      WHERE i.id = ANY($1::bigint[]) AND s.dropped_at IS NULL AND p.merchant_id = i.merchant_id
        AND p.currency = i.currency AND p.settlement_address = i.outputs->0->>'address'
        AND (p.custody = 'external') = (s.net_units IS NOT NULL)
      GROUP BY i.id`,
    [intentIds],
  );

/** Which of these wallets are frozen, and why. */
export async function frozenAmong(
  tx: EntityManager,
  network: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (!addresses.length) return new Map();
  const rows = await tx.query<Array<{ address: string; frozen_reason: string | null }>>(
    `SELECT address, frozen_reason FROM wallet_sequence
      WHERE network = $1 AND address = ANY($2) AND frozen_reason IS NOT NULL`,
    [network, addresses],
  );
  return new Map(rows.map((row) => [row.address, row.frozen_reason ?? '']));
}

/** The accounts that sign for batches beside the gas wallet, in every attempt of them. */
export const accountsBeside = (
  tx: EntityManager,
  intentIds: readonly string[],
): Promise<Array<{ intent_id: string; address: string }>> =>
  tx.query<Array<{ intent_id: string; address: string }>>(
    `SELECT DISTINCT a.intent_id, c.address FROM attempt a JOIN attempt_account c ON c.attempt_id = a.id
      WHERE a.intent_id = ANY($1::bigint[])`,
    [intentIds],
  );

export type WalletRow = Pick<RowOf<typeof walletSequenceEntity>, 'next_nonce' | 'frozen_reason'>;

/** A network's fee as it was estimated last, and how long ago. */
export type Estimate = Readonly<{ unitPrice: string; tipPrice: string; dataPart: string; ageSeconds: number }>;
type PricedWallet = WalletRow & Readonly<{ fee: Estimate | null }>;

/** The wallet's sequence row, locked: its next nonce is the caller's until the commit. With the fee of its network. */
export async function lockWallet(
  tx: EntityManager,
  wallet: Pick<IntentRow, 'network' | 'from_address'>,
): Promise<PricedWallet> {
  const lock = (): Promise<PricedWallet[]> =>
    prepared(tx, 'lock-wallet').query<PricedWallet[]>(
      `SELECT w.next_nonce, w.frozen_reason,
              (SELECT jsonb_build_object('unitPrice', f.unit_price::text, 'tipPrice', f.tip_price::text,
                        'dataPart', f.data_part::text, 'ageSeconds', floor(extract(epoch FROM now() - f.taken_at))::int)
                 FROM network_fee f WHERE f.network = w.network) AS fee
         FROM wallet_sequence w WHERE w.network = $1 AND w.address = $2 FOR UPDATE`,
      [wallet.network, wallet.from_address],
    );
  const [known] = await lock();
  if (known) return known;
  await tx.query('INSERT INTO wallet_sequence (network, address) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    wallet.network,
    wallet.from_address,
  ]);
  return (await lock())[0]!;
}
