import type { EntityManager } from 'typeorm';
import type { ExpiringPlan, KeyPath, TransactionPlan } from '../../domain/chains/chain';
import type { SignedRecord } from '../../db/recovery/lost';
import { validitiesOf } from '../../db/txmanager/expiry';
import { sharesOf, type IntentRow } from '../../db/txmanager/intents';
import { isOfMany } from '../../domain/txmanager/kinds';
import { kindOf } from '../kinds';

/** What the signer writes down beside the database of each signature: enough to make it an attempt again, and to give
 *  it to its row. docs/operations/backup-and-restore.md */

/** An account whose tokens the gas wallet moves, with the key that lets it. */
export type BatchAccount = Readonly<{
  address: string;
  key: KeyPath;
  nonce: number;
  units: bigint;
  restUnits: bigint;
  depositIds: string[];
}>;

type Recorded = Pick<
  IntentRow,
  | 'kind'
  | 'ref'
  | 'network'
  | 'currency'
  | 'from_address'
  | 'outputs'
  | 'owner_kind'
  | 'owner_id'
  | 'merchant_id'
  | 'max_unit_price'
  | 'fee_budget'
  | 'gas_limit'
>;

/** The part of it that the intent says. */
export const recordedIntent = (intent: Recorded) => ({
  kind: intent.kind,
  ref: intent.ref,
  ownerKind: intent.owner_kind,
  ownerId: intent.owner_id,
  owner: `${intent.owner_kind}/${intent.owner_id}`,
  network: intent.network,
  currency: intent.currency,
  from: intent.from_address,
  merchantId: intent.merchant_id,
  maxUnitPrice: intent.max_unit_price,
  feeBudget: intent.fee_budget,
  gasLimit: intent.gas_limit,
  planned: intent.outputs,
});

/** The part of it that other rows say. */
export async function recordedRows(
  tx: EntityManager,
  intent: IntentRow,
  plan: TransactionPlan | ExpiringPlan,
  accounts: readonly BatchAccount[],
): Promise<Pick<SignedRecord, 'keys' | 'deposits' | 'lines' | 'shares' | 'accounts'>> {
  const outpoints = await outpointsOf(tx, intent.deposit_ids);
  const named = (ids: readonly string[]): string[] => ids.map((id) => outpoints.get(id)!);
  const shares = isOfMany(intent) ? await sharesOf(tx, intent.id) : [];
  const keyOf = (address: string, { role, index, branch = 0 }: KeyPath) => ({ address, role, branch, index });
  const keys =
    plan.kind === 'utxo'
      ? plan.coins.map(({ address, key }) => keyOf(address, key))
      : [keyOf(plan.from, plan.key), ...accounts.map(({ address, key }) => keyOf(address, key))];
  return {
    keys,
    deposits: named(intent.deposit_ids),
    lines: (await kindOf(intent).lines?.(tx, intent.id)) ?? [],
    shares: shares
      .filter(({ deposit_ids: ids }) => ids.every((id) => outpoints.has(id)))
      .map((share) => ({
        position: share.position,
        deposits: named(share.deposit_ids),
        brought: share.brought_units,
        net: share.net_units,
      })),
    accounts: accounts.map(({ address, nonce, units, depositIds }) => ({
      ...{ address, nonce, units: units.toString(), deposits: named(depositIds) },
    })),
  };
}

/** Until when it is valid, and what proves void all that was signed for its intent before: a recovery then knows which
 *  of many records of an intent stands. */
export async function recordedWindow(
  tx: EntityManager,
  intentId: string,
  { on, last, sequence }: ExpiringPlan,
): Promise<NonNullable<SignedRecord['window']>> {
  const before = await validitiesOf(tx, [intentId]);
  return {
    fromHeight: on.height,
    fromHash: on.hash,
    toHeight: 'height' in last ? last.height : null,
    toMs: 'time' in last ? last.time : null,
    sequence,
    absences: before.flatMap(({ absence }) => absence ?? []),
  };
}

async function outpointsOf(tx: EntityManager, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (!ids.length) return new Map();
  const rows = await tx.query<Array<{ id: string; outpoint: string }>>(
    `SELECT id, tx_id || ':' || out_index AS outpoint FROM deposit WHERE id = ANY($1::bigint[])`,
    [ids],
  );
  return new Map(rows.map(({ id, outpoint }) => [id, outpoint]));
}
