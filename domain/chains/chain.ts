import type { BlockRef, Fate, ValidityWindow } from '../txmanager/expiry';
import type { Currency, NetworkId } from './assets';
import type { NodeSync } from './freshness';
import type { Destination } from './tags';

/** Amounts are `bigint` in base units (satoshi, wei, token units) in this file and in the adapters, and nowhere
 *  else. */

/** An account-level extended public key; children are derived as `<branch>/<index>`. Never a private key. */
type ExtendedPublicKey = string;

/** Who an address of ours serves. Each role is an account of its own under the seed (hardened index 0, 1, 2). */
export const keyRoles = ['deposit', 'treasury', 'gas'] as const;
export type KeyRole = (typeof keyRoles)[number];

/** Where an address of ours comes from: enough to derive it, and for the signer to find its private key. A recovery of
 *  the database begins a new branch, so that no index repeats; absent: the first, 0. */
export type KeyPath = Readonly<{ role: KeyRole; index: number; branch?: number }>;

/** The seed that addresses are derived from; with several, the one of each branch. Only the signer has any. */
export type Seeds = Uint8Array | ((branch: number) => Uint8Array);

/** One movement of value that a block or the mempool shows. UTXO: one per output, `index` = vout. EVM: token transfer,
 *  `index` = position of the log in its transaction's receipt, which no reorganisation changes; native value of the
 *  transaction itself, `index` = -1; native value moved by a contract inside the transaction, `index` = -(2 + position
 *  of the call in the trace), so that all are distinct and repeatable. */
export type Transfer = Readonly<{
  txId: string;
  index: number;
  to: string;
  /** The destination tag that it carries; absent: none. */
  tag?: string;
  /** null: a token that the registry does not know. */
  currency: Currency | null;
  units: bigint;
  /** UTXO: the outpoints (`txid:vout`) that the transaction spends. Empty on account chains. */
  inputs: readonly string[];
}>;

/** What a node told of value that contracts move inside the transactions of a block. `off`: it has no such method;
 *  `failed`: it has, and this block's failed, in whole or for a transaction. */
export type Traces = Readonly<{ state: 'read' } | { state: 'off' | 'failed'; reason: string }>;
/** The trace of a block that is read again. */
export type Traced = Readonly<
  { state: 'read'; time: number; transfers: readonly Transfer[] } | { state: 'failed'; reason: string }
>;

/** A block as the follower takes it: only what succeeded (reverted transactions and reverted inner calls left out). */
export type Block = Readonly<{
  height: number;
  hash: string;
  parentHash: string;
  /** Unix seconds that the block states. */
  time: number;
  transfers: readonly Transfer[];
  /** Every transaction id in the block, reverted ones included: how our own attempts are found. */
  txIds: readonly string[];
  /** UTXO: every outpoint that the block spends, to its spender; how conflicts and foreign use are found. */
  spent: ReadonlyMap<string, string>;
  /** Absent: there was nothing to trace. */
  traces?: Traces;
}>;

/** A token that a mined transaction moved, as the event of its contract says. */
export type TokenMove = Readonly<{ currency: Currency; from: string; to: string; units: bigint }>;

/** Where a transaction is. `unknown` is not failed: it proves nothing. `moves`: tokens of the registry alone. */
export type Sighting =
  | {
      state: 'mined';
      blockHash: string;
      height: number;
      confirmations: number;
      success: boolean;
      feeUnits: bigint;
      moves: readonly TokenMove[];
    }
  | { state: 'pool' }
  | { state: 'unknown' };

/** What a node said to a broadcast. `known`: it had it; some nodes take it again, `accepted`. `conflict`: nonce too
 *  low, a replacement that pays too little, missing or spent inputs; look up every attempt of ours before any further
 *  step. `refused`: the node does not take it now, for its fee, for want of funds, or for a reason of its own (`other`:
 *  a full pool, an error inside), which says nothing of nonce or inputs. `expired`: where transactions expire, the
 *  node takes it no more, which proves nothing of what blocks have. Throws only where the outcome is unknown (time-out,
 *  5xx, cut connection). */
export type BroadcastAnswer =
  | { outcome: 'accepted' }
  | { outcome: 'known' }
  | { outcome: 'conflict' | 'expired'; reason: string }
  | { outcome: 'refused'; why: 'fee' | 'funds' | 'invalid' | 'other'; reason: string };

/** Native cost of a unit of space or work: satoshi per vbyte (may have decimals), wei per gas, drops per payment, sun
 *  per energy, as decimal strings. */
export type FeeEstimate = Readonly<{
  unitPrice: string;
  tipPrice: string;
  /** Of `unitPrice`, on networks that also charge for data on another chain: what keeps enough for that, however much
   *  the chain takes. No transaction offers it, for the chain charges it by itself. */
  dataPart?: string;
}>;

/** A confirmed output of ours that a transaction may spend. */
export type Coin = Readonly<{ txId: string; vout: number; units: bigint; address: string; key: KeyPath }>;

/** A transaction to sign. All that decides its bytes is in it, so that the same plan gives the same bytes. */
export type TransactionPlan =
  | {
      kind: 'utxo';
      coins: readonly Coin[];
      outputs: readonly { address: string; units: bigint; tag?: string }[];
      /** In base units: inputs − outputs must equal it exactly, or `sign` throws PLAN_UNBALANCED. */
      feeUnits: bigint;
    }
  | {
      kind: 'account';
      from: string;
      key: KeyPath;
      nonce: number;
      to: string;
      /** The destination tag of its recipient. A codec whose transactions carry none refuses the plan. */
      tag?: string;
      /** Native value in wei. */
      value: bigint;
      /** A token transfer: the registry's contract is called with transfer(to, units), and the transaction's value is
       *  0. */
      token?: { currency: Currency; to: string; units: bigint };
      /** Tokens of many accounts of ours, moved by the sweeper: each account delegates to it in this very transaction,
       *  with its own next nonce, and gives `units`, `restUnits` of them to `restTo` and the others to `to`. An account
       *  with 0 units delegates and moves nothing. */
      batch?: {
        currency: Currency;
        to: string;
        restTo?: string;
        accounts: readonly { address: string; key: KeyPath; nonce: number; units: bigint; restUnits?: bigint }[];
      };
      gasLimit: bigint;
      maxFeePerGas: bigint;
      maxPriorityFeePerGas: bigint;
    };

/** The third kind of plan: a transfer of one account that ends with a block or a moment. Families whose transactions
 *  never expire do not know it. docs/decisions/0060-signing-what-expires.md */
export type ExpiringPlan = Readonly<{
  kind: 'expiring';
  from: string;
  key: KeyPath;
  currency: Currency;
  to: string;
  /** The destination tag of its recipient. A codec whose transactions carry none refuses the plan. */
  tag?: string;
  units: bigint;
  /** The newest final block: no earlier one can have the transaction. */
  on: BlockRef;
  last: ValidityWindow['last'];
  /** Of the account; null where transactions have none. */
  sequence: number | null;
  /** What the bytes say of the fee, in base units of the native coin: on the XRP Ledger the fee, on TRON the most that
   *  it may burn for energy. */
  feeLimit: bigint;
}>;

/** What signed bytes say. `tag` null: they carry none. */
type ExpiringBytes = Readonly<
  Pick<ExpiringPlan, 'from' | 'currency' | 'to' | 'units' | 'last' | 'sequence' | 'feeLimit'> & {
    txId: string;
    tag: string | null;
  }
>;

/** What a node says of a transfer before it is signed. `gas`: its work, in the unit that the network prices. `reverts`:
 *  it cannot succeed now, or takes more than asked about; `short`: its sender does not hold it; `unclear`: the node
 *  could not say. `isNew`: its receiver has no account, which another transfer may make. */
export type GasAnswer =
  | Readonly<{ state: 'done'; gas: bigint }>
  | Readonly<{ state: 'reverts'; reason: string; isNew?: true }>
  | Readonly<{ state: 'short' | 'unclear'; reason: string }>;

/** A transfer as a node is asked about it. `ceiling`: the most work that it may take. `topUp`: what it takes is brought
 *  to its sender, for it alone or for others too, and what it does not take is left there. Absent: its sender has it,
 *  and other uses for the rest. */
export type AskedTransfer = Readonly<{
  topUp?: 'own' | 'shared';
  from: string;
  to: string;
  tag?: string;
  currency: Currency;
  units: bigint;
  ceiling: bigint;
}>;

export type SignedTransaction = Readonly<{ txId: string; raw: string }>;

/** What a wallet shows beside a payment, and keeps with it: whom it is for, and what. */
type UriNames = Readonly<{ label: string; message: string }>;

/** The half of an adapter that needs no node: pure functions of keys, addresses and plans. */
export interface ChainCodec {
  readonly network: NetworkId;
  /** The same branch and index, the same address. Normalised: what `normalise` returns. */
  derive(account: ExtendedPublicKey, index: number, branch?: number): string;
  /** The one spelling that is stored and compared (bech32 lower case, EIP-55 checksum), or null where it is no address
   *  of this network: wrong chain, wrong checksum, zero address, a registered token's contract. */
  normalise(address: string): string | null;
  /** Why an address is not taken from people: its kind cannot be paid, or its spelling has no checksum. For the person
   *  who gave it. null: nothing is known against it. `normalise` may read such an address in records and searches. */
  refusalOf(address: string): string | null;
  /** The receiver behind an address that has its tag in it, or of one with a tag beside it. Throws INVALID_ADDRESS, and
   *  VALIDATION_ERROR where the two tags differ. Absent: no address of the network has a tag in it. */
  readDestination?(address: string, tag?: string): Destination;
  /** Account-level extended public key of `role`, from the seed. Only the signer can call it with a seed. */
  extendedKey(seed: Uint8Array, role: KeyRole): ExtendedPublicKey;
  /** Deterministic signature over `plan`. Throws PLAN_UNBALANCED, KEY_MISMATCH (the key does not give the stated
   *  address). */
  sign(seeds: Seeds, plan: TransactionPlan): SignedTransaction;
  /** Why the sweeper contract of the chain cannot move tokens for a gas wallet; null where it can. Absent: there is
   *  none. */
  sweeperFault?(gasWallet: string): string | null;
  /** Virtual bytes or gas of a plan of this shape: UTXO by inputs and outputs, EVM by asset. */
  sizeOf(shape: { inputs: number; outputs: number; currency: Currency }): bigint;
  /** Wallets open the payment from it: BIP 21 or EIP-681; `amount` is a decimal string in whole units. EIP-681 has no
   *  place for `names`. Throws for a tag that it has no place for. */
  paymentUri(address: string, currency: Currency, amount: string, names?: UriNames, tag?: string): string;
  /** `txid`s and outpoints read back from raw bytes, for the record and for audits. */
  decode(raw: string): { txId: string; inputs: readonly string[]; nonce: number | null };
}

/** A look at a mempool. `ids`: all that are in it; `transfers`: of those that were read now; `failed`: why others could
 *  not be read. */
export type PoolLook = Readonly<{
  ids: ReadonlySet<string>;
  read: ReadonlySet<string>;
  failed: ReadonlyMap<string, string>;
  transfers: readonly Transfer[];
}>;

/** What a node tells beside, of a chain whose transactions expire. */
export type ExpiringNode = Readonly<{
  /** The newest final block: what is signed next is signed on it, and by its time a life is over. */
  finalBlock(): Promise<BlockRef>;
  /** What became of a signed transaction. `signedOn`: hash of the block at `window.from`. Whether `absent` proves it
   *  void is for `faultOfProof` to say. */
  fateOf(signed: Readonly<{ txId: string; window: ValidityWindow; signedOn: string }>): Promise<Fate>;
}>;

/** A transfer that a node is asked about before it is signed. `isAll`: the units are all that is left of the native
 *  coin, and what it burns comes out of them. `mostUnits`: what it may burn at the most; a limit that can be lowered to
 *  it is. */
export type ExpiringTransfer = Pick<ExpiringPlan, 'from' | 'currency' | 'to' | 'tag' | 'units'> &
  Readonly<{ isAll?: boolean; mostUnits?: bigint }>;

/** On what a transfer is signed now. `mostUnits`: what it burns at the most, in base units of the native coin. */
type ExpiringTerms = Pick<ExpiringPlan, 'on' | 'last' | 'sequence' | 'feeLimit'> & Readonly<{ mostUnits: bigint }>;

/** `short`: its sender does not hold it, or its fee; `fails`: it would be mined, cost its fee and move nothing;
 *  `unclear`: the node could not say. */
export type TermsAnswer = Readonly<
  { state: 'done'; terms: ExpiringTerms } | { state: 'short' | 'fails' | 'unclear'; reason: string }
>;

/** What a family whose transactions expire brings to the signer. `node`: the signer's own, whose word it takes for
 *  nobody else's; every call throws NODE_UNREACHABLE (retried) where it does not answer. */
export type ExpiringFamily = Readonly<{
  /** Deterministic. Throws INTENT_MISMATCH, KEY_MISMATCH. */
  sign(seeds: Seeds, plan: ExpiringPlan): SignedTransaction;
  /** Reads signed bytes again. Throws INTENT_MISMATCH for what is no transfer of ours, signed by its sender. */
  read(raw: string): ExpiringBytes;
  node: Pick<ExpiringNode, 'fateOf'> & Readonly<{ termsOf(transfer: ExpiringTransfer): Promise<TermsAnswer> }>;
}>;

/** The half that talks to a node. Every method throws NODE_UNREACHABLE (retried) where the node does not answer. */
export interface ChainNode {
  /** The best block; `time`: Unix seconds that it states. */
  head(): Promise<{ height: number; hash: string; time: number }>;
  /** The newest height that no reorganisation can take any more, by the network's own finality; 0: the node knows none.
   *  UTXO networks answer null: depth is all they have. */
  finalHeight(): Promise<number | null>;
  /** Hash of the final block of a height, null above the newest. Absent: no other view than that of all blocks. */
  finalHash?(height: number): Promise<string | null>;
  /** What the node says of its own progress. */
  sync(): Promise<NodeSync>;
  /** null above the head. The caller compares parent hashes. */
  readBlock(height: number): Promise<Block | null>;
  /** Asks for the trace of a block again. Never throws for the trace alone. */
  readTraces(hash: string): Promise<Traced>;
  /** Hash of the canonical block at `height`, or null above the head; cheap. */
  blockHash(height: number): Promise<string | null>;
  /** Reads the unconfirmed transactions whose ids are not in `known`, for `mostMs` at the most. Networks without a
   *  readable mempool answer with nothing. */
  readMempool(known: Pick<ReadonlySet<string>, 'has'>, mostMs?: number): Promise<PoolLook>;
  /** Unix seconds since when the node has had each of these unconfirmed transactions; without those it knows nothing
   *  of. */
  pooledSince(txIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  lookUp(txId: string): Promise<Sighting>;
  /** Second look before credit: the transfer again, from the block with this hash (not height), receipt success
   *  included; null where that block is not canonical or the transfer, with this tag or without one, is not in it.
   *  `untraceable`: its transaction succeeded in that block, and nobody can tell what it moved inside; the balance
   *  can. */
  verify(
    transfer: { txId: string; index: number; to: string; tag?: string; currency: Currency },
    blockHash: string,
  ): Promise<bigint | null | 'untraceable'>;
  /** Addresses that the value of a transfer came from, each once: of every output that its transaction spends, or who
   *  sent it (a token's own sender, which may be another than the transaction's). A source that has no address stands
   *  as its script, like `to` of a transfer. Empty where the transaction is unknown or nobody sent it (a block's
   *  reward, a token's creation). */
  sources(transfer: { txId: string; index: number }): Promise<string[]>;
  /** Holding of `currency` at `address` as of the block with `height`; UTXO networks answer null (their outputs
   *  tell). */
  holding(address: string, currency: Currency, height: number): Promise<bigint | null>;
  /** UTXO: is this output there and unspent, in the chain (mempool spends ignored)? Account chains answer null. */
  unspent(txId: string, vout: number): Promise<boolean | null>;
  /** Next nonce by the node, transactions in its pool included; UTXO networks answer null. */
  nextNonce(address: string): Promise<number | null>;
  /** null: the node cannot say now. */
  estimateFee(): Promise<FeeEstimate | null>;
  /** The work that a transfer takes now, whatever it costs; UTXO networks answer null. */
  estimateGas(transfer: AskedTransfer): Promise<GasAnswer | null>;
  /** What an address must hold and cannot send, in base units of the native coin; absent: there is no such thing. */
  reserveOf?(address: string): Promise<bigint>;
  broadcast(raw: string): Promise<BroadcastAnswer>;
  /** Absent: what is signed for the chain never expires. */
  readonly expiring?: ExpiringNode;
}

export type ChainAdapter = ChainCodec & ChainNode;
