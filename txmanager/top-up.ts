import type { EntityManager } from 'typeorm';
import { intentsOwnedBy, planIntent, type IntentRow } from '../db/txmanager/intents';
import { isToken, networks, type NetworkId } from '../domain/chains/assets';
import { costUnits, settlementWork } from '../domain/chains/costs';
import { isTopUp, kinds, topUpKinds } from '../domain/txmanager/kinds';
import type { IntentOwner } from '../domain/workflow-ids';
import { isOpen } from './next-intent';

/** The token transfers that a top-up was planned for: those of its address that were planned after it and before the
 *  next one; where there is none, those that were there. */
export function transfersOf(topUp: IntentRow, all: readonly IntentRow[]): IntentRow[] {
  const address = topUp.outputs[0]!.address;
  const isHere = (one: IntentRow): boolean =>
    one.from_address === address && one.network === topUp.network && isToken(one.currency);
  const isAfter = (one: IntentRow): boolean => BigInt(one.id) > BigInt(topUp.id);
  const next = all.find((one) => isTopUp(one) && isAfter(one) && one.outputs[0]!.address === address);
  const own = all.filter((one) => isHere(one) && isAfter(one) && (!next || BigInt(one.id) < BigInt(next.id)));
  return own.length ? own : all.filter((one) => isHere(one) && one.status !== 'dead');
}

/** Whether what a token takes is brought to an address that pays for nothing else, where the rest would be left. */
export const isAloneThere = ({ kind, currency, deposit_ids }: IntentRow): boolean =>
  isToken(currency) && (!kinds[kind].leaves || deposit_ids.length > 0);

/** The same where prices stand still, so that a top-up brings what is taken and little more. */
export const isTopUpExact = (transfer: IntentRow): boolean =>
  isAloneThere(transfer) && networks[transfer.network as NetworkId].expiring !== undefined;

/** What the transfers take that are not signed, at their highest price; null while one has no estimate. `isLater`: it
 *  waits for another to its address, and counts as a usual one then; null where all of them wait so. */
export const neededFor = (
  transfers: readonly IntentRow[],
  isLater: (transfer: IntentRow) => boolean = () => false,
): bigint | null => {
  const open = transfers.filter(({ status }) => status === 'planned');
  const unknown = open.filter(({ gas_limit }) => gas_limit === null);
  if (unknown.length && (unknown.length === open.length || !unknown.every(isLater))) return null;
  const workOf = ({ currency, gas_limit }: IntentRow): bigint =>
    gas_limit === null ? settlementWork(currency) : BigInt(gas_limit);
  return open.reduce((sum, one) => sum + costUnits(one.max_unit_price, workOf(one)), 0n);
};

/** How much of the gas that an owner's top-ups have brought to an address its transactions have not taken. */
export async function leftOfTopUps(tx: EntityManager, owner: IntentOwner, address: string): Promise<bigint> {
  const [row] = await tx.query<Array<{ units: string }>>(
    `SELECT coalesce(sum(CASE WHEN i.kind = ANY($4) AND a.success THEN a.moved_units ELSE 0 END
              - CASE WHEN a.from_address = $3 THEN a.fee_units ELSE 0 END), 0)::text AS units
       FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE i.owner_kind = $1 AND i.owner_id = $2 AND a.status = 'final'
        AND (a.from_address = $3 OR i.outputs->0->>'address' = $3)`,
    [owner.kind, owner.id, address, topUpKinds()],
  );
  const left = BigInt(row!.units);
  return left > 0n ? left : 0n;
}

/** Plans another top-up for an address whose transfers take more than was brought for them: the energy of a transfer
 *  on TRON rises where its recipient has spent his last token. Returns whether it did. */
export async function topUpMore(tx: EntityManager, owner: IntentOwner, address: string): Promise<boolean> {
  const all = await intentsOwnedBy(tx, owner);
  const topUps = all.filter((one) => isTopUp(one) && one.status !== 'dead' && one.outputs[0]!.address === address);
  const last = topUps.at(-1);
  if (!last || topUps.some(isOpen)) return false;
  const needed = neededFor(all.filter((one) => one.from_address === address && isToken(one.currency)));
  const left = await leftOfTopUps(tx, owner, address);
  if (needed === null || left === 0n || needed <= left) return false;
  const { kind, network, currency, from_address, max_unit_price, fee_budget, payment_id, merchant_id } = last;
  const id = await planIntent(tx, {
    ...{ kind, network, currency, from_address, max_unit_price, fee_budget, payment_id, merchant_id },
    ref: `${topUps[0]!.ref}/more-${topUps.length}`,
    outputs: [{ address, units: (needed - left).toString() }],
    deposit_ids: last.deposit_ids,
    ...{ owner_kind: owner.kind, owner_id: owner.id },
  });
  return id !== null;
}
