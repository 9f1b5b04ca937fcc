import { nextOf } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import type { NextIntent } from '../../txmanager/next-intent';
import { queueSweep, type Queued } from '../../txmanager/queue-sweep';
import { settlementGas } from '../../txmanager/settlement-gas';
import { termsOf } from '../../txmanager/sweep-terms';
import type { PaymentDeps } from '../payments/deps';

/** Plans what moves payments' money to its settlement. */
export const sweepActivities = ({ db, config, nodes }: Pick<PaymentDeps, 'db' | 'config'> & GasDeps) => ({
  /** Row 15: plans the payment's sweep, alone or with others that are ready, or says what it waits for. A repeat finds
   *  the same intents. */
  async queueSweep(paymentId: string): Promise<Queued> {
    const settlement = await settlementGas({ db, nodes }, paymentId);
    return db.transaction((tx) => queueSweep(tx, termsOf(config), paymentId, settlement));
  },

  /** The first intent of a payment's own sweep whose end is not booked; null when all are. */
  nextIntent: (paymentId: string): Promise<NextIntent> => nextOf({ db, nodes }, { kind: 'sweep', id: paymentId }),

  /** The intent of a batch, while its end is not booked. */
  nextBatchIntent: (batchId: string): Promise<NextIntent> =>
    nextOf({ db, nodes }, { kind: 'sweep-batch', id: batchId }),
});
