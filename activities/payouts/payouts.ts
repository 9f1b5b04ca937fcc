import { networks, type NetworkId } from '../../domain/chains/assets';
import { estimateOwned } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import { lockBatch } from '../../db/payouts/payouts';
import { reassignLost } from '../../txmanager/reassign-lost';
import { lookAgainInMs } from '../../txmanager/plan-outgoing';
import { bookEnded, planPending } from '../../txmanager/kinds/payouts';

/** What a batch needs next. */
export type PayoutStep = Readonly<{
  /** Something is planned and not signed. */
  sign: boolean;
  /** Where something is to be signed or sent, or not mined yet. */
  networks: readonly NetworkId[];
  lookAgainInMs: number;
  summary: string;
}>;

/** Processes a batch, step by step. */
export const payoutActivities = ({ db, nodes }: GasDeps) => ({
  /** Books what has ended, releases what can no longer be paid, and plans what can be. null once all of it has ended.
   *  Safe to repeat. */
  async payoutStep(batchId: string): Promise<PayoutStep | null> {
    while (await db.transaction((tx) => bookEnded(tx, batchId)));
    const reasons = await db.transaction(async (tx) => {
      const { approved_at: approvedAt } = (await lockBatch(tx, batchId))!;
      const lost = approvedAt ? await reassignLost(tx, { kind: 'payout-batch', id: batchId }) : null;
      return lost === null ? planPending(tx, batchId) : [lost];
    });
    const { waits } = await estimateOwned({ db, nodes }, { kind: 'payout-batch', id: batchId });
    if (waits.size) reasons?.push(...new Set(waits.values()));
    const open = (await db.query(
      `SELECT network, status = 'planned' AS to_sign, status IN ('planned', 'stored', 'sent') AS to_send,
         count(*)::int AS n FROM intent
        WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND NOT booked AND status <> 'dead' GROUP BY 1, 2, 3`,
      [batchId],
    )) as Array<{ network: NetworkId; to_sign: boolean; to_send: boolean; n: number }>;
    if (!open.length && reasons === null) return null;
    const active = [...new Set(open.filter((row) => row.to_send).map((row) => row.network))];
    const count = (some: typeof open): number => some.reduce((sum, row) => sum + row.n, 0);
    const blocks = active.map((network) => networks[network].blockSeconds * 1000);
    return {
      sign: open.some((row) => row.to_sign),
      networks: active,
      lookAgainInMs: reasons?.length ? lookAgainInMs : Math.max(15_000, Math.min(60_000, ...blocks)),
      summary: [`${count(open)} transactions under way`, ...(reasons ?? [])].join('; '),
    };
  },
});
