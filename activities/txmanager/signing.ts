import type { DataSource } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { signBump } from '../../txmanager/sign/bump';
import { signOnce } from '../../txmanager/sign/once';
import { bumpPayouts, signPayouts } from '../../txmanager/sign/payouts';
import type { Signed, Signer } from '../../txmanager/sign/signer';

/** Signs what a recorded intent says, and nothing else. One attempt per call of `signOnce` for ever; `signBump`
 *  adds one with the same nonce or inputs. The signed bytes are committed before anybody can send them. Invariants:
 *  5, steps 2 and 5. */
export const signingActivities = ({
  db,
  codecs,
  seed,
  expiring,
  newDestinations,
  record,
}: Signer & Readonly<{ db: DataSource }>) => {
  const signer: Signer = { codecs, seed, expiring, newDestinations, ...(record ? { record } : {}) };
  return {
    /** The signed transaction of an intent, made once: a repeat finds the attempt stored. Throws WALLET_FROZEN
     *  (retried), INTENT_MISMATCH (final). */
    async signOnce(intentId: string): Promise<Signed> {
      return signOnce(signer, db, intentId);
    },

    /** One more attempt of a stuck intent. `seenAttempts`: how many the caller has seen, so that a repeat of the same
     *  call adds none. */
    async signBump(intentId: string, seenAttempts: number): Promise<Signed> {
      return signBump(signer, db, intentId, seenAttempts);
    },

    /** Signs what is planned of a mass payout on a network, or on all of them, each once. Safe to repeat. */
    async signPayouts(batchId: string, network?: NetworkId): Promise<Readonly<{ stored: number; reason?: string }>> {
      return signPayouts(signer, db, batchId, network);
    },

    /** One more attempt for each of these, as `signBump` makes it. */
    async bumpPayouts(stuck: ReadonlyArray<Readonly<{ id: string; attempts: number }>>): Promise<number> {
      return bumpPayouts(signer, db, stuck);
    },
  };
};
