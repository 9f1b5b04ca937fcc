import type { DataSource } from 'typeorm';
import { baseUnits, isByLightning } from '../../domain/chains/assets';
import { destinationOf } from '../../domain/chains/tags';
import { intentsOwnedBy } from '../../db/txmanager/intents';
import { isStillListed, lockWithdrawal } from '../../db/withdrawals/withdrawals';
import { failWithdrawal } from '../../commands/withdrawals/fail';
import { withGas } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import type { NextIntent } from '../../txmanager/next-intent';
import { lookAgainInMs, planOutgoing } from '../../txmanager/plan-outgoing';
import { leaveHeldUpWallets } from '../../txmanager/leave-wallet';
import { firstOpen, isOpen } from '../../txmanager/next-intent';
import { unlisted } from '../../txmanager/kinds/withdrawal';

/** Plans what sends a withdrawal to its address. */
export const withdrawalActivities = (deps: GasDeps) => ({
  /** The first intent of a withdrawal whose end is not booked, planned where there is none yet; null when there is
   *  nothing left to do. One whose address is no longer listed ends here. */
  nextWithdrawalIntent: (id: string): Promise<NextIntent> =>
    withGas(deps, { kind: 'withdrawal', id }, () => nextOf(deps.db, id)),
});

const nextOf = (db: DataSource, id: string): Promise<NextIntent> =>
  db.transaction(async (tx) => {
    const row = await lockWithdrawal(tx, id);
    if (!row || isByLightning(row.currency)) throw new Error(`No withdrawal ${id} of a chain`);
    const owner = { kind: 'withdrawal', id } as const;
    if (row.status === 'pending') {
      if (!(await isStillListed(tx, row))) {
        await failWithdrawal(tx, row, unlisted);
        return firstOpen(tx, owner);
      }
      if (!(await intentsOwnedBy(tx, owner)).some(isOpen)) {
        const { planned, reason } = await planOutgoing(tx, {
          kind: 'withdrawal',
          ref: id,
          currency: row.currency,
          outputs: [{ ref: id, ...destinationOf(row), units: baseUnits(row.currency, row.net_amount) }],
          merchantId: row.merchant_id,
          owner,
        });
        if (!planned.length) return { lookAgainInMs, reason: reason ?? 'nothing can pay it now' };
      } else await leaveHeldUpWallets(tx, owner);
    }
    return firstOpen(tx, owner);
  });
