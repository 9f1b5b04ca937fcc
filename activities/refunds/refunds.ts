import type { DataSource } from 'typeorm';
import { intentsOwnedBy } from '../../db/txmanager/intents';
import { isByLightning } from '../../domain/chains/assets';
import { lockRefund } from '../../db/refunds/refunds';
import { withGas } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import type { NextIntent } from '../../txmanager/next-intent';
import { lookAgainInMs } from '../../txmanager/plan-outgoing';
import { leaveHeldUpWallets } from '../../txmanager/leave-wallet';
import { firstOpen, isOpen } from '../../txmanager/next-intent';
import { planFromDeposits, planFromBalance } from '../../txmanager/kinds/refund';

/** Plans what sends a refund to its address. */
export const refundActivities = (deps: GasDeps) => ({
  /** The first intent of a refund whose end is not booked, planned where there is none yet; null when there is nothing
   *  left to do. */
  nextRefundIntent: (refundId: string): Promise<NextIntent> =>
    withGas(deps, { kind: 'refund', id: refundId }, () => nextOf(deps.db, refundId)),
});

const nextOf = (db: DataSource, refundId: string): Promise<NextIntent> =>
  db.transaction(async (tx) => {
    const refund = await lockRefund(tx, refundId);
    if (!refund || isByLightning(refund.currency)) throw new Error(`No refund ${refundId} of a chain`);
    const owner = { kind: 'refund', id: refundId } as const;
    if (refund.status === 'pending' && (await intentsOwnedBy(tx, owner)).some(isOpen)) {
      await leaveHeldUpWallets(tx, owner);
    } else if (refund.status === 'pending') {
      const reason =
        refund.source === 'deposit' ? await planFromDeposits(tx, refund) : await planFromBalance(tx, refund);
      if (reason) return { lookAgainInMs, reason };
    }
    return firstOpen(tx, owner);
  });
