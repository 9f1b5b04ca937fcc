import type { PoolLook, Transfer } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { inParallel, RpcError, type Rpc } from '../json-rpc';
import { readTx, unlessNotFound } from './reads';
import type { Tx } from './transactions';

/** `time`: since when it is there, Unix seconds. */
type PoolEntry = { time: number };

/** Transactions of a mempool that are read at once. */
const poolWidth = 8;
/** Of a method that this node does not have. */
const notBuilt = [-1, -32601];

/** A transaction that cannot be read fails alone; where several fail for want of the node, the rest is left. */
export async function readMempool(
  rpc: Rpc,
  transfersOf: (tx: Tx) => Transfer[],
  known: Pick<ReadonlySet<string>, 'has'>,
  mostMs = Infinity,
): Promise<PoolLook> {
  const ids = await rpc<string[]>('getrawmempool');
  const until = performance.now() + mostMs;
  const read = new Set<string>();
  const failed = new Map<string, string>();
  const transfers: Transfer[] = [];
  let unreachable = 0;
  const readOne = async (id: string): Promise<void> => {
    if (unreachable >= poolWidth || performance.now() > until) return;
    try {
      const tx = await readTx(rpc, id);
      read.add(id);
      if (tx) for (const transfer of transfersOf(tx)) transfers.push(transfer);
    } catch (error) {
      failed.set(id, (error as Error).message);
      if (error instanceof DomainError && error.code === 'NODE_UNREACHABLE') unreachable += 1;
    }
  };
  await inParallel(
    ids.filter((id) => !known.has(id)),
    poolWidth,
    readOne,
  );
  return { ids: new Set(ids), read, failed, transfers };
}

export async function pooledSince(rpc: Rpc, txIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const since = new Map<string, number>();
  /** btcd tells of its pool as a whole only. */
  let whole: Record<string, PoolEntry> | null = null;
  const entryOf = async (txId: string): Promise<PoolEntry | null> => {
    try {
      return await rpc<PoolEntry>('getmempoolentry', [txId]);
    } catch (error) {
      if (!(error instanceof RpcError) || !notBuilt.includes(error.code)) throw error;
      whole = await rpc<Record<string, PoolEntry>>('getrawmempool', [true]);
      return whole[txId] ?? null;
    }
  };
  for (const txId of txIds) {
    const entry: PoolEntry | null = whole ? (whole[txId] ?? null) : await unlessNotFound(entryOf(txId));
    if (entry) since.set(txId, entry.time);
  }
  return since;
}
