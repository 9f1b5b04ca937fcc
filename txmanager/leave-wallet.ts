import type { EntityManager } from 'typeorm';
import { isToken, networks, type NetworkId } from '../domain/chains/assets';
import { accountOf } from '../domain/chains/costs';
import { payersOf } from '../domain/treasury/lanes';
import { assignSources, priceReserve, type Source } from '../domain/treasury/treasury';
import { kinds } from '../domain/txmanager/kinds';
import type { IntentOwner } from '../domain/workflow-ids';
import { changedRows } from '../db/query';
import { disband } from '../db/sweeps/sweeps';
import { heldUpWallets } from '../db/treasury/lanes';
import { wholeUnitPrice } from '../db/chains/fees';
import { lockTreasury, treasurySources } from '../db/treasury/treasury';
import { endIntent, intentsOwnedBy, plannedOf, type IntentRow } from '../db/txmanager/intents';
import { gasWalletFor } from './gas-wallet';
import { isTopUp } from '../domain/txmanager/kinds';
import { transfersOf } from './top-up';

/** Transfers of one currency that leave together, with the top-up that was planned for them. */
type Group = Readonly<{ transfers: readonly IntentRow[]; topUp: IntentRow | null }>;

/** Moves unsigned intents of an owner to another address, where their own is frozen or blocked and another holds
 *  enough. Signed intents stay: their bytes may be mined. The caller has locked the owner's row. `only`: those on one
 *  network. */
export async function leaveHeldUpWallets(tx: EntityManager, owner: IntentOwner, only?: NetworkId): Promise<void> {
  await leaveHeldUpGas(tx, owner, only);
  const planned = (await plannedOf(tx, owner, only)).filter(isFromLane);
  for (const network of new Set(planned.map((intent) => intent.network))) {
    const heldUp = await heldUpWallets(tx, network);
    const isStuck = (intent: IntentRow): boolean =>
      intent.network === network && !intent.deposit_ids.length && heldUp.includes(intent.from_address);
    if (!planned.some(isStuck)) continue;
    const all = await intentsOwnedBy(tx, owner);
    const stuck = all.filter((intent) => isFromLane(intent) && isStuck(intent));
    if (!stuck.length) continue;
    await lockTreasury(tx, network);
    const price = BigInt(await wholeUnitPrice(tx, network));
    for (const currency of new Set(stuck.map((intent) => intent.currency))) {
      let payers: readonly Source[] = payersOf(await treasurySources(tx, currency));
      const fee = isToken(currency) ? 0n : price * accountOf(currency).work.native * priceReserve;
      for (const group of groupsOf(
        all,
        stuck.filter((intent) => intent.currency === currency),
      ))
        payers = await moveTo(tx, group, payers, fee);
    }
  }
}

/** Planned, and what leaves a hot wallet of an account chain. A kind that nobody answers for is left to the signer,
 *  which refuses it. */
const isFromLane = ({ status, kind, network }: IntentRow): boolean =>
  status === 'planned' &&
  Object.hasOwn(kinds, kind) &&
  kinds[kind].leaves &&
  kinds[kind].spends === 'treasury' &&
  networks[network as NetworkId].kind === 'account';

/** Top-ups that nobody has signed come from another gas wallet where their own is frozen or blocked. A sweep of many
 *  cannot: its payments go one by one. */
export async function leaveHeldUpGas(tx: EntityManager, owner: IntentOwner, only?: NetworkId): Promise<void> {
  const planned = (await plannedOf(tx, owner, only)).filter((one) => isTopUp(one) || owner.kind === 'sweep-batch');
  for (const intent of planned) {
    const { id, network, from_address, outputs } = intent;
    if (!(await heldUpWallets(tx, network, 'gas')).includes(from_address)) continue;
    if (isTopUp(intent)) {
      const { address, units } = outputs[0]!;
      const from = await gasWalletFor(tx, network as NetworkId, address, BigInt(units!));
      await tx.query(
        `UPDATE intent SET from_address = $2, gas_limit = NULL, updated_at = now()
          WHERE id = $1 AND status = 'planned'`,
        [id, from],
      );
    } else if (await endIntent(tx, id, ['planned'])) await disband(tx, id, 'its gas wallet is frozen or blocked');
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
    const gas = await gasWalletFor(tx, topUp.network as NetworkId, one.from, BigInt(topUp.outputs[0]!.units!));
    const moved = await changedRows<{ id: string }>(
      tx,
      `UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', to_jsonb($2::text)), from_address = $3,
              gas_limit = NULL, updated_at = now() WHERE id = $1 AND status = 'planned' RETURNING id`,
      [topUp.id, one.from, gas],
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
