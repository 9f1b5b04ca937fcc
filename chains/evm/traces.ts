import { getAddress, type Hex } from 'viem';
import type { Traces, Transfer } from '../../domain/chains/chain';
import type { Currency } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { RpcError, type Rpc } from '../json-rpc';

/** Value that contracts send, by the traces of a node. Whatever a block holds, a trace costs so much and no more: what
 *  fails is read again later, and found by balance. */

type Call = { type: string; to?: string; value?: string; error?: string; calls?: Call[] };
type Trace = { txHash?: string; result?: Call; error?: string };

/** How long the trace of a new block is waited for, of one that failed before, and how large it may be. */
const firstMs = 5000;
const againMs = 10_000;
const mostBytes = 64 * 1024 * 1024;
/** How nodes and services say that they have no such method: JSON-RPC, EIP-1474. */
const noMethod = [-32601, -32004];
/** Calls that move the value they state. */
const moving = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);

/** Calls below this one. */
const count = (call: Call): number => (call.calls ?? []).reduce((sum, inner) => sum + 1 + count(inner), 0);

/** Value that contracts sent inside a transaction; a call that failed takes all its inner calls back. */
function innerTransfers(native: Currency, txId: string, root: Call): Transfer[] {
  const found: Transfer[] = [];
  let position = 0;
  const walk = (call: Call): void => {
    if (call.error) return;
    for (const inner of call.calls ?? []) {
      position += 1;
      const units = BigInt(inner.value ?? '0x0');
      if (!inner.error && units > 0n && inner.to && moving.has(inner.type))
        found.push({
          txId,
          index: -1 - position,
          to: getAddress(inner.to as Hex),
          currency: native,
          units,
          inputs: [],
        });
      if (inner.error) position += count(inner);
      else walk(inner);
    }
  };
  walk(root);
  return found;
}

/** Why a call for a trace failed; throws what is no failure of a call. */
function reasonOf(error: unknown): string {
  if (error instanceof RpcError || error instanceof DomainError || error instanceof RangeError) return error.message;
  throw error;
}

type BlockTraces = Readonly<{ traces?: Traces; inner: Transfer[] }>;
export type Tracer = Readonly<{
  /** Of a block, by the ids of its transactions in their order. `again`: with more patience. */
  ofBlock(hash: string, txIds: readonly string[], again?: boolean): Promise<BlockTraces>;
  /** One transfer inside a transaction: undefined where it is not in it, null where nobody can tell. */
  find(txId: string, index: number): Promise<Transfer | undefined | null>;
}>;

/** The traces of one node. Only a node that has no such method is not asked again. `warn` hears of that once. */
export function tracerOf(rpc: Rpc, native: Currency, warn?: (text: string) => void): Tracer {
  let off: string | null = null;
  return {
    async ofBlock(hash, txIds, again = false) {
      if (!txIds.length) return { inner: [] };
      if (off !== null) return { traces: { state: 'off', reason: off }, inner: [] };
      const options = { waitMs: again ? againMs : firstMs, tries: 1, mostBytes };
      try {
        const answers = await rpc<Trace[]>('debug_traceBlockByHash', [hash, { tracer: 'callTracer' }], options);
        const inner = answers.flatMap(({ txHash, result }, index) =>
          result ? innerTransfers(native, txHash ?? txIds[index]!, result) : [],
        );
        const untraced = answers.find((trace) => !trace.result);
        if (!untraced && answers.length === txIds.length) return { traces: { state: 'read' }, inner };
        const why = untraced?.error ?? `${answers.length} of ${txIds.length} transactions`;
        return { traces: { state: 'failed', reason: `The trace is not whole: ${why}` }, inner };
      } catch (error) {
        const reason = reasonOf(error);
        if (!(error instanceof RpcError) || !noMethod.includes(error.code))
          return { traces: { state: 'failed', reason }, inner: [] };
        off = reason;
        warn?.(
          `The node does not trace blocks (${reason}): value sent by contracts is found by balance. ` +
            'See docs/adding-a-network.md',
        );
        return { traces: { state: 'off', reason }, inner: [] };
      }
    },
    async find(txId, index) {
      if (off !== null) return null;
      try {
        const options = { waitMs: firstMs, tries: 1, mostBytes };
        const trace = await rpc<Call>('debug_traceTransaction', [txId, { tracer: 'callTracer' }], options);
        return innerTransfers(native, txId, trace).find((transfer) => transfer.index === index);
      } catch (error) {
        reasonOf(error);
        return null;
      }
    },
  };
}
