import { originNow } from '../../db/origin';
import { bookIntent } from '../../txmanager/book';
import { sendPayouts, type SentPayouts } from '../../txmanager/send/payouts';
import { sendIntent, type Sent } from '../../txmanager/send/send';
import type { Sender } from '../../txmanager/send/sender';
import { lookAgainIn } from '../rest';

/** Sends stored bytes, and only those. Invariants: 5, steps 3, 4, 6 and 8. */
export const broadcastActivities = ({ db, adapter, log }: Sender) => {
  const sender: Sender = { db, adapter, log };
  return {
    /** Sends an intent, and goes on until its end is booked, or somebody else has to do something: the signer too,
     *  where nothing is signed. Throws INTENT_OPEN while it waits: the next try is the next look, and leaves no trace
     *  in the history. */
    async followIntent(intentId: string): Promise<Sent> {
      const sent = await sendIntent(sender, intentId);
      if (sent.state === 'final' || sent.state === 'failed') {
        await db.transaction((tx) => bookIntent(tx, intentId));
        const { workflowId } = originNow();
        log.info({ network: adapter.network, intentId, txId: sent.txId, workflowId }, `transaction ${sent.state}`);
      }
      const isWaiting = sent.state === 'waiting' || sent.state === 'frozen';
      if (!isWaiting || sent.attempts === 0) return sent;
      throw lookAgainIn(sent.lookAgainInMs, 'INTENT_OPEN', `${sent.state}, ${sent.reason ?? 'for the chain'}`);
    },

    /** Sends what is signed of a mass payout and not mined. */
    async sendPayouts(batchId: string, isSigning = false): Promise<SentPayouts> {
      return sendPayouts(sender, batchId, isSigning);
    },
  };
};
