import type { DataSource } from 'typeorm';
import { sweepActivities } from '../../activities/payments/payments';
import type { signingActivities } from '../../activities/txmanager/signing';
import { isToken } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import type { OpenIntent, NextIntent } from '../../txmanager/next-intent';
import { estimateOwned } from '../../txmanager/estimate-gas';
import type { GasNode } from '../../txmanager/gas-node';
import type { IntentOwner } from '../../domain/workflow-ids';

/** Nodes that take every transfer for what it usually takes: 21,000 gas, or 65,000 of a token with the margin. */
export const nodes: readonly GasNode[] = [
  { network: 'bitcoin', estimateGas: () => Promise.resolve(null) },
  {
    network: 'ethereum',
    estimateGas: ({ currency }) => Promise.resolve({ state: 'done', gas: isToken(currency) ? 52_000n : 21_000n }),
  },
];

type SigningActivities = ReturnType<typeof signingActivities>;

/** A signer whose intents are estimated before it is asked, also where no activity has planned them. */
export function estimating(db: DataSource, signer: SigningActivities): SigningActivities {
  const before = (owner: IntentOwner): Promise<unknown> => estimateOwned({ db, nodes }, owner);
  return {
    ...signer,
    async signOnce(intentId) {
      const [owner] = (await db.query('SELECT owner_kind AS kind, owner_id AS id FROM intent WHERE id = $1', [
        intentId,
      ])) as IntentOwner[];
      await before(owner!).catch((error: unknown) => {
        // What is no intent of ours is the signer's to refuse.
        if (!(error instanceof DomainError) || error.code !== 'INTENT_MISMATCH') throw error;
      });
      return signer.signOnce(intentId);
    },
    async signPayouts(batchId) {
      await before({ kind: 'payout-batch', id: batchId });
      return signer.signPayouts(batchId);
    },
  };
}

/** Sweeps whose intents are always estimated. */
export function sweepsAt(deps: Omit<Parameters<typeof sweepActivities>[0], 'nodes'>) {
  const sweeps = sweepActivities({ ...deps, nodes });
  const ready = async (next: Promise<NextIntent>): Promise<OpenIntent | null> => {
    const intent = await next;
    if (intent && 'lookAgainInMs' in intent) throw new Error(intent.reason);
    return intent;
  };
  return {
    ...sweeps,
    nextIntent: (paymentId: string) => ready(sweeps.nextIntent(paymentId)),
    nextBatchIntent: (batchId: string) => ready(sweeps.nextBatchIntent(batchId)),
  };
}
