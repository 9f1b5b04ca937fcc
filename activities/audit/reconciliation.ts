import { ApplicationFailure, Context } from '@temporalio/activity';
import type { DataSource } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import { isZero } from '../../domain/money';
import { requiredDepth } from '../../db/payments/payments';
import { OwnSums } from '../../db/audit/closed-sums';
import { storePositions, reconcileAssets } from '../../db/audit/reconciliation';
import { reconcileLightning, type LightningHoldings } from '../../db/audit/reconcile-lightning';
import { restUntil } from '../rest';

export type ReconciliationDeps = Readonly<{
  db: DataSource;
  adapters: readonly ChainAdapter[];
  /** Our Lightning node; none: nothing is compared with one. */
  lightning?: LightningHoldings;
  config: Pick<Config, 'confirmations' | 'POLL_INTERVAL_MS' | 'unexplainedBounds'>;
  log: { error(fields: object, text: string): void };
}>;

/** Holds the books against the chains. */
export const reconciliationActivities = ({ db, adapters, lightning, config, log }: ReconciliationDeps) => {
  /** One look at every asset. What does not add up may not leave from then on. */
  async function lookOnce(own: OwnSums): Promise<void> {
    const depthOf = (network: NetworkId): number => requiredDepth(network, config.confirmations);
    const { positions } = await reconcileAssets(db, adapters, depthOf, undefined, own);
    const stopped = await storePositions(db, positions, config.unexplainedBounds);
    for (const one of positions.filter(
      ({ currency, unexplained }) => stopped.includes(currency) && !isZero(unexplained),
    ))
      log.error({ ...one }, 'Books and chain differ: nothing of this asset leaves until an operator has looked');
    for (const one of lightning ? await reconcileLightning(db, lightning) : [])
      log.error({ ...one }, 'The Lightning node has less than the books say: nothing of this asset leaves');
  }

  return {
    /** Never returns while its worker lives: a look after every block that a follower has taken. The first look reads
     *  all of the ledger, those after it what was posted since. */
    async keepReconciliation(): Promise<void> {
      const { cancellationSignal } = Context.current();
      const own = new OwnSums();
      let seen = '';
      while (!cancellationSignal.aborted) {
        const [row] = (await db.query(
          `SELECT coalesce(string_agg(hash, ' ' ORDER BY network), '') AS blocks FROM chain_cursor`,
        )) as Array<{ blocks: string }>;
        if (row!.blocks !== seen) {
          await lookOnce(own);
          seen = row!.blocks;
        }
        await restUntil(Math.max(1000, config.POLL_INTERVAL_MS), cancellationSignal);
      }
      throw ApplicationFailure.retryable('This worker is shutting down', 'MOVES');
    },
  };
};
