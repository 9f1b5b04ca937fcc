import { RpcError, type Rpc } from '../json-rpc';
import type { Tx } from './transactions';

/** Single questions to a node; null where it does not know the thing. */

const notFound = -5;
const outOfRange = [-1, -8];

type Header = { height: number; confirmations: number; time: number };

/** null where the node refuses with one of these codes. */
async function unless<T>(codes: readonly number[], call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RpcError && codes.includes(error.code)) return null;
    throw error;
  }
}

export const unlessNotFound = <T>(call: Promise<T>): Promise<T | null> => unless([notFound], call);

export const readBlockHash = (rpc: Rpc, height: number): Promise<string | null> =>
  unless(outOfRange, rpc<string>('getblockhash', [height]));

export const readTx = (rpc: Rpc, txId: string): Promise<Tx | null> =>
  unlessNotFound(rpc<Tx>('getrawtransaction', [txId, 1]));

/** Of a block off the main chain Core tells -1 confirmations, btcd an error. */
export const readHeader = (rpc: Rpc, hash: string): Promise<Header | null> =>
  unlessNotFound(rpc<Header>('getblockheader', [hash, true])).catch((error: unknown) => {
    if (error instanceof RpcError && /not in the main chain/i.test(error.message)) return null;
    throw error;
  });
