import { RpcError, type Rpc } from '../json-rpc';

/** What nodes answer, as they write it. */

export type Tx = { hash: string; from: string; to: string | null; value: string; blockHash: string | null };
export type BlockAnswer = {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  baseFeePerGas?: string;
  logsBloom: string;
  transactions: Tx[];
};
export type Log = { address: string; topics: string[]; data: string };
export type Receipt = {
  transactionHash: string;
  blockHash: string;
  blockNumber: string;
  status: string;
  gasUsed: string;
  effectiveGasPrice: string;
  /** What the data on another chain was charged beside the gas, where a network does. */
  l1Fee?: string;
  logs: Log[];
};

export const quantity = (height: number): string => `0x${height.toString(16)}`;
export const numberOf = (text: string): number => parseInt(text, 16);

export const isMined = (receipt: Receipt): boolean => receipt.status === '0x1';

/** `height`: a quantity, or the name of a block. `isWhole`: with its transactions, not their hashes alone. */
export const readBlockBy = (rpc: Rpc, height: string, isWhole: boolean): Promise<BlockAnswer | null> =>
  rpc('eth_getBlockByNumber', [height, isWhole]);

export const readReceipt = (rpc: Rpc, txId: string): Promise<Receipt | null> =>
  rpc('eth_getTransactionReceipt', [txId]);

export const readTx = (rpc: Rpc, txId: string): Promise<Tx | null> => rpc('eth_getTransactionByHash', [txId]);

/** null where the node refuses to answer: not every service tells of itself. */
export const unlessRefused = <T>(call: Promise<T>): Promise<T | null> =>
  call.catch((error: unknown) => {
    if (error instanceof RpcError) return null;
    throw error;
  });
