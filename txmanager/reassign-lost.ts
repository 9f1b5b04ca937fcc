import type { DataSource, EntityManager } from 'typeorm';
import { reverse } from '../db/ledger/ledger';
import { giveLost, lostOf, lostSweepsOf } from '../db/recovery/lost';
import { lockRefundWithPayment } from '../db/refunds/refunds';
import { lowerNet } from '../db/txmanager/added-fees';
import type { IntentOwner } from '../domain/workflow-ids';
import { receiverOf } from '../domain/chains/tags';
import { assetOf, networkOf, type NetworkId } from '../domain/chains/assets';
import { fromUnits } from '../domain/money';
import { kinds, leavingKinds, type HoldingKind, type Kind } from '../domain/txmanager/kinds';
import { outgoingKinds } from './kinds';
import { lockObligation } from './kinds/obligations';
import type { Obligation } from './obligation';

/** Transactions that were signed for a row in the time that a recovery has lost are reassigned to the row: nothing is
 *  signed for it twice, and the row books what has left. The policy allowed them then, and is not asked again. */

type Lost = Awaited<ReturnType<typeof lostOf>>;

/** Its row says by now that somebody else is paid. */
class PaidAnother extends Error {}

/** Reassigns to an owner what it has lost, in a transaction of its own. Returns why that cannot be yet, or null. Called
 *  before anything is planned. */
export const reassignAtOnce = (db: DataSource, owner: IntentOwner): Promise<string | null> =>
  db
    .transaction((tx) => reassignLost(tx, owner))
    .catch((error: unknown) => {
      if (error instanceof PaidAnother) return error.message;
      throw error;
    });

/** The same in the caller's transaction. `network`: what was lost on it alone. */
export async function reassignLost(tx: EntityManager, owner: IntentOwner, network?: NetworkId): Promise<string | null> {
  const lost = await lostOf(tx, owner, network);
  return lost.length ? reassign(tx, lost, owner.kind === 'sweep' ? owner.id : null) : null;
}

/** The same of the sweeps of a payment's deposits, whatever payment they were for. */
export async function reassignLostSweeps(tx: EntityManager, paymentId: string): Promise<string | null> {
  const lost = await lostSweepsOf(tx, paymentId);
  return lost.length ? reassign(tx, lost, paymentId) : null;
}

async function reassign(tx: EntityManager, lost: Lost, paymentId: string | null): Promise<string | null> {
  for (const one of lost) {
    const { id, booked, kind, twin, outputs } = one;
    // In the order of the locks: its row, then the intent.
    if (twin) await lockObligation(tx, twin);
    await lowerAgain(tx, one);
    if (booked) await reverse(tx, `lost/${id}`);
    const own = await giveLost(tx, id, paymentId);
    if (own === null) return 'what was signed for it before the recovery spends deposits that are not in the chain yet';
    const obligation = await lockObligation(tx, own);
    if (obligation) refuseOther(obligation, kind, outputs);
    if (obligation && !obligation.isUnderWay) await obligation.stored();
    await outgoingKinds.find((one) => one.kind === kind)?.reassigned?.(tx, own);
  }
  return null;
}

/** The amount that the receiver bore above the quote is lost with the rest, and is read from what was signed: the row
 *  charges the same amount again. */
async function lowerAgain(tx: EntityManager, { kind, ref, currency, outputs }: Lost[number]): Promise<void> {
  const [output, ...others] = outputs;
  if (!isHolding(kind) || !output || others.length || networkOf(currency).kind !== 'account') return;
  if (kind === 'refund') await lockRefundWithPayment(tx, ref);
  await lowerNet(tx, kind, ref, fromUnits(BigInt(output.units), assetOf(currency).decimals));
}
const isHolding = (kind: string): kind is HoldingKind =>
  Object.hasOwn(kinds, kind) && kinds[kind as Kind].statement !== null;

/** A refund may have been claimed again meanwhile, for another address. */
function refuseOther(obligation: Obligation, kind: string, outputs: Lost[number]['outputs']): void {
  if (!leavingKinds().some((one) => one === kind)) return;
  const other = obligation.outputs.find(
    ({ address, tag, units }, n) =>
      outputs[n]?.address !== address || outputs[n].tag !== tag || outputs[n].units !== units,
  );
  if (other)
    throw new PaidAnother(
      `it was signed before the recovery for ${outputs[0] && receiverOf(outputs[0])}, ` +
        `and is for ${receiverOf(other)} now: operators decide`,
    );
}
