import { networks, type NetworkId } from '../../domain/chains/assets';
import { estimateOwned } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import { lockBatch, networksOf } from '../../db/payouts/payouts';
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
  /** The networks that a batch is processed on, each by itself: what holds one of them up holds up no other.
   *  docs/decisions/0101-payouts-network-by-network.md */
  payoutNetworks: (batchId: string): Promise<NetworkId[]> => networksOf(db, batchId),

  /** Books what has ended on a network, releases what can no longer be paid, and plans what can be. null once all of it
   *  has ended there. Safe to repeat. Without a network all of them at once, for a workflow from before. */
  async payoutStep(batchId: string, network?: NetworkId): Promise<PayoutStep | null> {
    const owner = { kind: 'payout-batch', id: batchId } as const;
    while (await db.transaction((tx) => bookEnded(tx, batchId, network)));
    const reasons = await db.transaction(async (tx) => {
      const { approved_at: approvedAt } = (await lockBatch(tx, batchId))!;
      const lost = approvedAt ? await reassignLost(tx, owner, network) : null;
      return lost === null ? planPending(tx, batchId, network) : [lost];
    });
    const { waits } = await estimateOwned({ db, nodes }, owner, network);
    if (waits.size) reasons?.push(...new Set(waits.values()));
    const open = (await db.query(
      `SELECT network, status = 'planned' AS to_sign, status IN ('planned', 'stored', 'sent') AS to_send,
         count(*)::int AS n FROM intent
        WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND NOT booked AND status <> 'dead'
          AND network = coalesce($2, network) GROUP BY 1, 2, 3 ORDER BY network`,
      [batchId, network ?? null],
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
