import type { EntityManager } from 'typeorm';
import type { BatchStatus, LegRow } from '../../domain/payouts/payout';
import { keyOf } from '../payouts/payouts';
import type { IntentRow } from './intents';
import type { RowOf } from '../entity';
import type { addressEntity } from '../chains/entities';
import type { walletSequenceEntity } from './entities';

/** What the signer's verdicts are made of, read and, where it says so, locked. Nothing here decides. */

export type OwnAddressRow = Pick<
  RowOf<typeof addressEntity>,
  'address' | 'role' | 'merchant_id' | 'branch' | 'key_index'
>;

/** Those of these addresses that are ours. */
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

/** `platform`: an address of the treasury; `external`: of the merchant's own. */
export type Settlement = Readonly<{ address: string; custody: string | null }>;

/** Where the payments of a sweep settle, those that have left its batch too. */
export const settlementsOf = async (tx: EntityManager, intent: IntentRow): Promise<Settlement[]> =>
  (
    await tx.query<Array<{ address: string | null; custody: string | null }>>(
      `SELECT settlement_address AS address, custody FROM payment
        WHERE id = $1 OR id IN (SELECT payment_id FROM sweep_share WHERE intent_id = $2)`,
      [intent.payment_id, intent.id],
    )
  ).flatMap(({ address, custody }) => (address === null ? [] : [{ address, custody }]));

/** Whose payments a sweep moves, those that have left its batch too. */
export const merchantsOf = async (tx: EntityManager, intent: IntentRow): Promise<string[]> =>
  (
    await tx.query<Array<{ merchant_id: string }>>(
      `SELECT DISTINCT merchant_id FROM payment
        WHERE id = $1 OR id IN (SELECT payment_id FROM sweep_share WHERE intent_id = $2)`,
      [intent.payment_id, intent.id],
    )
  ).map((row) => row.merchant_id);

/** How many payments of the intent's shares are of its merchant, currency and settlement address, and how many deposits
 *  of its shares are of those. */
export async function sharedPayments(
  tx: EntityManager,
  intent: IntentRow,
): Promise<Readonly<{ payments: number; deposits: number }>> {
  const [row] = await tx.query<Array<{ payments: number; deposits: number }>>(
    `SELECT count(*)::int AS payments, coalesce(sum((SELECT count(*) FROM deposit d WHERE d.id = ANY(s.deposit_ids)
              AND coalesce(d.child_payment_id, d.payment_id) = p.id AND d.currency = p.currency)), 0)::int AS deposits
       FROM sweep_share s JOIN payment p ON p.id = s.payment_id
      WHERE s.intent_id = $1 AND s.dropped_at IS NULL AND p.merchant_id = $2 AND p.currency = $3
        AND p.settlement_address = $4 AND (p.custody = 'external') = (s.net_units IS NOT NULL)`,
    [intent.id, intent.merchant_id, intent.currency, intent.outputs[0]?.address],
  );
  return row!;
}

export const frozenWallets = async (tx: EntityManager, network: string): Promise<string[]> =>
  (
    await tx.query<Array<{ address: string }>>(
      'SELECT address FROM wallet_sequence WHERE network = $1 AND frozen_reason IS NOT NULL',
      [network],
    )
  ).map((row) => row.address);

/** Which of these wallets is frozen, and why; null where none is. */
export const frozenAmong = async (
  tx: EntityManager,
  network: string,
  addresses: readonly string[],
): Promise<string | null> =>
  (
    await tx.query<Array<{ reason: string }>>(
      `SELECT address || ': ' || frozen_reason AS reason FROM wallet_sequence
        WHERE network = $1 AND address = ANY($2) AND frozen_reason IS NOT NULL ORDER BY address LIMIT 1`,
      [network, addresses],
    )
  )[0]?.reason ?? null;

/** The accounts that sign for a batch beside the gas wallet, in every attempt of it. */
export const accountsBeside = async (tx: EntityManager, intentId: string): Promise<string[]> =>
  (
    await tx.query<Array<{ address: string }>>(
      `SELECT DISTINCT c.address FROM attempt a JOIN attempt_account c ON c.attempt_id = a.id WHERE a.intent_id = $1`,
      [intentId],
    )
  ).map(({ address }) => address);

export type WalletRow = Pick<RowOf<typeof walletSequenceEntity>, 'next_nonce' | 'frozen_reason'>;

/** The wallet's sequence row, locked: its next nonce is the caller's until the commit. */
export async function lockWallet(
  tx: EntityManager,
  wallet: Pick<IntentRow, 'network' | 'from_address'>,
): Promise<WalletRow> {
  await tx.query('INSERT INTO wallet_sequence (network, address) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    wallet.network,
    wallet.from_address,
  ]);
  const [row] = await tx.query<WalletRow[]>(
    'SELECT next_nonce, frozen_reason FROM wallet_sequence WHERE network = $1 AND address = $2 FOR UPDATE',
    [wallet.network, wallet.from_address],
  );
  return row!;
}

/** The network's fee as it was estimated last, and how long ago. */
export type Estimate = Readonly<{ unitPrice: string; tipPrice: string; dataPart: string; ageSeconds: number }>;

export async function estimateOf(tx: EntityManager, network: string): Promise<Estimate | null> {
  const [row] = await tx.query<Estimate[]>(
    `SELECT unit_price::text AS "unitPrice", tip_price::text AS "tipPrice", data_part::text AS "dataPart",
            floor(extract(epoch FROM now() - taken_at))::int AS "ageSeconds" FROM network_fee WHERE network = $1`,
    [network],
  );
  return row ?? null;
}

export type DueIntent = Pick<
  IntentRow,
  | 'id'
  | 'kind'
  | 'ref'
  | 'network'
  | 'currency'
  | 'from_address'
  | 'outputs'
  | 'deposit_ids'
  | 'status'
  | 'owner_kind'
  | 'owner_id'
  | 'payment_id'
  | 'merchant_id'
  | 'max_unit_price'
  | 'fee_budget'
  | 'gas_limit'
> & { is_signed: boolean };
export type DueLine = Pick<
  LegRow,
  'id' | 'intent_id' | 'status' | 'currency' | 'address' | 'destination_tag' | 'net_amount'
> & { isListed: boolean };
/** What a mass payout and some of its intents say. `admission`: null where nobody has counted it. `wallet`: that of the
 *  first intent; null as long as the limits were not asked, which are locked before it. */
export type PayoutRows = Readonly<{
  status: BatchStatus;
  isApproved: boolean;
  intents: DueIntent[];
  lines: DueLine[];
  freezes: Array<{ currency: string; reason: string }>;
  /** Why the merchant's outgoing money is held; null: it is not. */
  held: string | null;
  admission: Readonly<{ isSigned: boolean; isReleased: boolean }> | null;
  wallet: WalletRow | null;
  own: OwnAddressRow[];
  price: Estimate | null;
}>;

/** Everything that the signer looks at, and locks, of some intents of a mass payout, in one call; null where there are
 *  none. Lock order as ever: batch, intents, whitelist, freezes, wallet. */
export async function payoutRows(
  tx: EntityManager,
  batchId: string,
  intentIds: readonly string[],
): Promise<PayoutRows | null> {
  type Found = Omit<PayoutRows, 'lines'> & {
    lines: Array<Omit<DueLine, 'isListed'>>;
    listed: Array<[currency: string, address: string, tag: string | null]>;
  };
  const [row] = await tx.query<Array<{ found: Found | null }>>('SELECT payout_to_sign($1, $2) AS found', [
    batchId,
    intentIds,
  ]);
  if (!row?.found) return null;
  const { listed, lines, ...found } = row.found;
  const keys = new Set(listed.map(([currency, address, tag]) => keyOf(currency, address, tag)));
  const isListed = (line: Omit<DueLine, 'isListed'>): boolean =>
    keys.has(keyOf(line.currency, line.address, line.destination_tag));
  return { ...found, lines: lines.map((line) => ({ ...line, isListed: isListed(line) })) };
}
