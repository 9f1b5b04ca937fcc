import type { Currency } from '../../domain/chains/assets';
import type { KeyPath, SignedTransaction } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { zeroAddress } from './address';

/** One chain of the family: what tells it from the others. */
export type TronChain = Readonly<{
  /** Id of its block 0, which the node must have. */
  genesis: string;
  /** Its assets by ticker, with the contract of each in base58; null: TRX. */
  assets: ReadonlyMap<Currency, Readonly<{ decimals: number; contract: string | null }>>;
  /** The most that one transfer of a token may burn for energy, in sun: a higher fee limit is not signed. */
  feeLimitCeiling: bigint;
}>;

/** A transfer to sign. It names everything that decides the bytes, so that the same plan gives the same bytes. There is
 *  no nonce: two different plans of one sender can both be mined. Times are Unix milliseconds. */
export type TronPlan = Readonly<{
  from: string;
  key: KeyPath;
  currency: Currency;
  to: string;
  /** Sun, or units of the token. */
  units: bigint;
  /** Id of a block of the chain that the transaction may only be mined on. */
  reference: string;
  timestamp: number;
  /** No block whose parent is of this moment or later may have the transaction. */
  expiresAt: number;
  /** The most sun that it may burn for energy; 0 for TRX, which takes none. */
  feeLimit: bigint;
}>;

export type SignedTronTransaction = SignedTransaction & Readonly<{ expiresAt: number }>;

/** The network's own bound on a fee limit, 15,000 TRX. Feelimit, developers.tron.network. */
const networkFeeLimit = 15_000_000_000n;
/** How long a transaction of ours may live. The network allows 24 hours; to prove that one was not mined, every block
 *  of its life is read (`fate.ts`), 1,200 an hour. */
const lifetimeMs = 3_600_000;
const int64Max = (1n << 63n) - 1n;

/** An asset of the chain. Throws INTENT_MISMATCH where it is of another. */
export function assetIn(chain: TronChain, currency: Currency): Readonly<{ contract: string | null }> {
  const asset = chain.assets.get(currency);
  if (!asset) throw new DomainError('INTENT_MISMATCH', `${currency} is no asset of this chain of TRON`);
  return asset;
}

/** The height that a block's id begins with. Blocks, developers.tron.network. */
export function heightIn(blockId: string): number {
  if (!/^0000[0-9a-f]{60}$/.test(blockId)) throw new Error(`Not an id of a block of TRON: ${blockId}`);
  return parseInt(blockId.slice(0, 16), 16);
}

/** TAPOS: bytes 6 and 7 of the reference's height, and bytes 8 to 15 of its id. Transactions,
 *  developers.tron.network. */
export const taposOf = (blockId: string): Readonly<{ bytes: string; hash: string }> => ({
  bytes: blockId.slice(12, 16),
  hash: blockId.slice(16, 32),
});

/** Refuses what the network would refuse, or what would do something else than transfer. Throws INTENT_MISMATCH. */
export function checkPlan(chain: TronChain, plan: TronPlan): void {
  const { contract } = assetIn(chain, plan.currency);
  const fault = contract === null ? trxFault(plan) : tokenFault(chain, plan, contract);
  const other =
    (plan.to === zeroAddress && 'it pays the zero address') ||
    (!/^0000[0-9a-f]{60}$/.test(plan.reference) && 'its reference is no id of a block') ||
    (!isTime(plan.timestamp, plan.expiresAt) && 'its times are not within an hour of each other');
  const reason = fault || other;
  if (reason) throw new DomainError('INTENT_MISMATCH', `A transfer of ${plan.units} ${plan.currency}: ${reason}`);
}

const isTime = (from: number, until: number): boolean =>
  Number.isSafeInteger(from) && Number.isSafeInteger(until) && from > 0 && until > from && until - from <= lifetimeMs;

function trxFault({ from, to, units, feeLimit }: TronPlan): string | false {
  if (units <= 0n || units > int64Max) return 'its amount cannot be sent';
  if (feeLimit !== 0n) return 'TRX takes no energy, and no fee limit';
  return from === to && 'the network refuses TRX to oneself';
}

function tokenFault({ feeLimitCeiling }: TronChain, { to, units, feeLimit }: TronPlan, contract: string) {
  if (units <= 0n || units >> 256n) return 'its amount cannot be sent';
  if (feeLimit <= 0n || feeLimit > feeLimitCeiling || feeLimit > networkFeeLimit)
    return `its fee limit of ${feeLimit} sun is not within 1 and ${feeLimitCeiling}`;
  return to === contract && "it pays the token's own contract";
}
