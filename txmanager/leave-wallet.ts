import type { EntityManager } from 'typeorm';
import { isToken, networks, type NetworkId } from '../domain/chains/assets';
import { evmOf } from '../domain/chains/costs';
import { payersOf } from '../domain/treasury/lanes';
import { assignSources, priceReserve, type Source } from '../domain/treasury/treasury';
import { kinds } from '../domain/txmanager/kinds';
import type { IntentOwner } from '../domain/workflow-ids';
import { changedRows } from '../db/query';
import { heldUpWallets } from '../db/treasury/lanes';
import { lockTreasury, treasurySources, unitPriceNow } from '../db/treasury/treasury';
import { intentsOwnedBy, type IntentRow } from '../db/txmanager/intents';
import { isTopUp, transfersOf } from './top-up';

/** Transfers of one currency that leave together, with the top-up that was planned for them. */
type Group = Readonly<{ transfers: readonly IntentRow[]; topUp: IntentRow | null }>;

/** What an owner has planned and nobody has signed pays from another address where its own is frozen or blocked, and
 *  another holds enough. What is signed stays: its bytes may be mined. The caller has locked the owner's row. */
export async function leaveHeldUpWallets(tx: EntityManager, owner: IntentOwner): Promise<void> {
  const all = await intentsOwnedBy(tx, owner);
  const planned = all.filter(
    ({ status, kind, network }) =>
      status === 'planned' &&
      // A kind that nobody answers for is left to the signer, which refuses it.
      Object.hasOwn(kinds, kind) &&
      kinds[kind].leaves &&
      kinds[kind].spends === 'treasury' &&
      networks[network as NetworkId].kind === 'account',
  );
  for (const network of new Set(planned.map((intent) => intent.network))) {
    const heldUp = await heldUpWallets(tx, network);
    const stuck = planned.filter(
      (intent) => intent.network === network && !intent.deposit_ids.length && heldUp.includes(intent.from_address),
    );
    if (!stuck.length) continue;
    await lockTreasury(tx, network);
    const price = BigInt(await unitPriceNow(tx, network));
    for (const currency of new Set(stuck.map((intent) => intent.currency))) {
      let payers: readonly Source[] = payersOf(await treasurySources(tx, currency));
      const fee = isToken(currency) ? 0n : price * evmOf(currency).gas.native * priceReserve;
      for (const group of groupsOf(
        all,
        stuck.filter((intent) => intent.currency === currency),
      ))
        payers = await moveTo(tx, group, payers, fee);
    }
  }
}

/** Native coins go one by one. Tokens go with all that their top-up buys gas for, as long as it is not signed. */
function groupsOf(all: readonly IntentRow[], stuck: readonly IntentRow[]): Group[] {
  const alone = stuck.filter(({ currency }) => !isToken(currency)).map((one) => ({ transfers: [one], topUp: null }));
  const topUps = all.filter(
    ({ kind, status, outputs }) =>
      isTopUp({ kind }) &&
      status === 'planned' &&
      stuck.some(({ from_address }) => from_address === outputs[0]!.address),
  );
  const together = topUps
    .map((topUp) => ({ topUp, transfers: transfersOf(topUp, all).filter(({ status }) => status !== 'dead') }))
    .filter(({ transfers }) => transfers.length > 0 && transfers.every((one) => stuck.includes(one)));
  return [...alone, ...together];
}

/** What the payers have left. */
async function moveTo(
  tx: EntityManager,
  { transfers, topUp }: Group,
  payers: readonly Source[],
  fee: bigint,
): Promise<readonly Source[]> {
  const units = transfers.reduce((sum, { outputs }) => sum + BigInt(outputs[0]!.units!), 0n);
  const { paid, left } = assignSources(payers, [{ ref: transfers[0]!.id, address: '', units }], fee);
  const [one] = paid;
  if (!one) return payers;
  if (topUp) {
    const moved = await changedRows<{ id: string }>(
      tx,
      `UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', to_jsonb($2::text)), gas_limit = NULL,
              updated_at = now() WHERE id = $1 AND status = 'planned' RETURNING id`,
      [topUp.id, one.from],
    );
    if (!moved.length) return payers;
  }
  await tx.query(
    `UPDATE intent SET from_address = $2, gas_limit = NULL, updated_at = now()
      WHERE id = ANY($1::bigint[]) AND status = 'planned'`,
    [transfers.map(({ id }) => id), one.from],
  );
  return left;
}
