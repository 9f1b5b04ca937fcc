import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chains } from '../../miner';

/** What goes wrong with the next order that is made. A fault that holds something back lets it go when POST
 *  /sandbox/release says so. */
export const providerFaults = [
  /** No order is made. */
  'refuse',
  /** The order is made, and its answer is lost. */
  'reply-lost',
  /** Says that no deposit came in time, before one could. */
  'expired',
  /** Takes the deposit and says no more; pays when released. */
  'silent',
  /** Says that it has paid, and pays when released. */
  'late',
  /** Pays, and when released once more. */
  'twice',
  /** Pays nine tenths. */
  'short',
  /** Pays another asset of the same network. */
  'wrong-asset',
  /** Sends the deposit back, less a fee. */
  'refund',
  /** Keeps the deposit and says that it has failed. */
  'failed',
  /** The same; pays when released. */
  'failed-then-completed',
  /** Pays, and says that it has failed. */
  'completed-then-failed',
  /** A status that is not in its documentation. */
  'unknown-status',
] as const;
export type ProviderFault = (typeof providerFaults)[number];

export type SwapOptions = Readonly<{
  /** Orders and keys last below it. */
  dataDir: string;
  port: number;
  chains: Chains;
  tokens: Readonly<Record<string, string>>;
  /** Who gives it its first coins. */
  payerMnemonic: string;
  mnemonic: string;
  /** The sandbox's price file. */
  priceFile: string;
  apiKey: string;
  /** Confirmations that it wants of a deposit. */
  confirmations?: number;
  /** How long it keeps a rate and waits for a deposit. */
  validSeconds?: number;
}>;

/** A payment of the provider's. `isDeep`: nothing takes it out of its chain again. */
export type Sent = { txId: string; currency: string; address: string; amount: string; isDeep: boolean };

export type Order = {
  id: string;
  index: number;
  from: string;
  to: string;
  fromAmount: string;
  toAmount: string;
  payinAddress: string;
  payoutAddress: string;
  refundAddress: string;
  payload: unknown;
  createdAt: string;
  validUntil: string;
  status: string;
  fault: ProviderFault | null;
  released: boolean;
  received: string | null;
  payinHash: string | null;
  payoutHashes: string[];
  refundHash: string | null;
  refundAmount: string | null;
  /** None of an order of an older sandbox. */
  sent?: Sent[];
};
export type Rate = Readonly<{ from: string; to: string; fromAmount: string; toAmount: string; validUntil: string }>;
export type Saved = { orders: Order[]; scanned: number; funded: boolean };

/** An error answer of the provider's API. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The provider's orders, kept in one file below `dataDir` across restarts. */
export function openOrders(dataDir: string): { state: Saved; save: () => void } {
  const file = join(dataDir, 'swap.json');
  mkdirSync(dataDir, { recursive: true });
  const state: Saved = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Saved)
    : { orders: [], scanned: 0, funded: false };
  const save = (): void => {
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  return { state, save };
}
