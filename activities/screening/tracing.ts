import { isBalanceTxId } from '../../domain/chains/balance-deposit';
import type { ChainNode } from '../../domain/chains/chain';
import type { NetworkId } from '../../domain/chains/assets';
import type { Trace } from '../../domain/screening/screening';

export type TracingDeps = Readonly<{ adapter: Pick<ChainNode, 'sources'> & { network: NetworkId } }>;

/** More are not looked at: what is left out makes the trace incomplete. */
const most = 200;

export const tracingActivities = ({ adapter }: TracingDeps) => ({
  /** Who sent these deposits, all of this worker's network. Throws NODE_UNREACHABLE (retried). */
  async traceSources(deposits: ReadonlyArray<{ txId: string; index: number }>): Promise<Trace> {
    const addresses = new Set<string>();
    const incomplete = new Set<string>();
    for (const deposit of deposits) {
      const found = isBalanceTxId(deposit.txId) ? [] : await adapter.sources(deposit);
      if (!found.length) incomplete.add(deposit.txId);
      for (const address of found) {
        if (addresses.size < most) addresses.add(address);
        else if (!addresses.has(address)) incomplete.add(deposit.txId);
      }
    }
    return { network: adapter.network, addresses: [...addresses], incomplete: [...incomplete] };
  },
});
