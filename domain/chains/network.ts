/** What networks and assets are described by. */

export type NetworkId =
  'arbitrum' | 'base' | 'bitcoin' | 'bnb' | 'ethereum' | 'litecoin' | 'optimism' | 'polygon' | 'tron' | 'xrpl';
/** A ticker, unique per asset and network: native coins by their own, tokens as `<TOKEN>_<STANDARD>`. */
export type Currency = string;

type AnyNetwork = Readonly<{
  id: NetworkId;
  /** In words, for payers. */
  name: string;
  native: Currency;
  /** The network whose addresses it has: key indexes of both are drawn from one sequence, so that no address is given
   *  twice, and what is given on one is watched on the other. Absent: nobody else has its addresses. */
  addressesOf?: NetworkId;
  /** Confirmations before a deposit counts, and before our own transaction is final. */
  confirmations: number;
  /** How deep a reorganisation the follower can unwind: block hashes kept. */
  reorgWindow: number;
  blockSeconds: number;
  /** A node whose newest block is older stands still. Blocks come at random: so long a pause is one of years. */
  headMaxAgeSeconds: number;
  /** Two nodes whose heads are further apart disagree. */
  headMaxGap: number;
  /** How long a seen deposit may take to confirm after `expiresAt`. Invariants: 3, row 14. */
  confirmLimitSeconds: number;
  /** A deposit keeps the rate of when it was first seen if a block takes it within this many; later, that of its
   *  block's time counts. */
  rateHoldBlocks: number;
  hasMempool: boolean;
  /** No cap on a transaction's price is below this many base units per unit of work: what is planned in a calm hour
   *  still follows the prices of an ordinary busy day. */
  leastPriceCap: string;
  /** No price above this many base units per unit of work is planned with or paid, whatever its node asks for. Absent:
   *  the prices of its blocks are the measure. */
  mostPrice?: string;
  /** Scheme of payment URIs: BIP 21, EIP-681. */
  uriScheme: string;
  /** Absent: its transactions carry no destination tags. */
  destinationTags?: DestinationTags;
}>;

/** What tells a chain whose transactions expire from others of its family. `networkId`: as its nodes name it; 0: the
 *  main network. `genesis`: id of its block 0. `feeLimitCeiling`: the most that one transfer of a token may burn for
 *  energy, in sun. */
export type ExpiringChain =
  | Readonly<{ family: 'xrpl'; networkId: number; isTest: boolean }>
  | Readonly<{ family: 'tron'; genesis: string; feeLimitCeiling: bigint }>;

/** Numbers that tell the receivers behind one address apart. A payment gets one of its own behind our account. */
export type DestinationTags = Readonly<{
  /** A decimal string. */
  largest: string;
}>;

/** What is known of a chain by the name that the configuration gives it. */
type NamedChain = Readonly<{
  /** Of a public test chain: where its coins are given away. */
  faucet?: string;
  /** A public page of a transaction, with `{txId}` in it. */
  explorerTxUrl?: string;
  /** A chain of one machine: blocks come when somebody makes one. */
  isLocal?: true;
}>;

/** How one chain of a UTXO network (main, test) writes its addresses and derives its keys. No node of a local one can
 *  estimate a fee: the least that nodes relay is the price there. */
export type UtxoChain = NamedChain &
  Readonly<{
    /** SLIP-44. */
    coinType: number;
    bech32: string;
    pubKeyHash: number;
    scriptHash: number;
    /** Other versions of script addresses: read, and written with `scriptHash`. */
    otherScriptHashes?: readonly number[];
    /** Prefixes of addresses (bech32) that the network has and we cannot pay. To each: why not, for who gave one. */
    unpayable?: Readonly<Record<string, string>>;
    wif: number;
  }>;
/** How the settings of a network's node are named and described. */
type NodeSettings<Prefix extends string> = Readonly<{
  /** With what their names begin. */
  prefix: Prefix;
  /** Programs that serve as its node, in words. */
  node: string;
  /** Where a node of one machine listens. */
  url: string;
}>;
/** With what the settings of a UTXO network begin: `<prefix>_RPC_URL`, `_RPC_USER`, `_RPC_PASSWORD`, `_SECOND_RPC_URL`,
 *  `_NETWORK`. */
export type UtxoPrefix = 'BTC' | 'LTC';
/** Bitcoin, and networks that descend from it. */
export type UtxoNetwork = AnyNetwork &
  Readonly<{
    kind: 'utxo';
    expiring?: undefined;
    settings: NodeSettings<UtxoPrefix>;
    /** By the name that the configuration gives. */
    chains: Readonly<Record<string, UtxoChain>>;
    /** The least price that nodes relay, in base units per virtual byte. */
    leastPrice: string;
    /** Virtual bytes of a transaction of our kind of coins: what it takes anyway, for each coin, for each output. */
    sizes: Readonly<{ base: number; input: number; output: number }>;
    /** Up to `maxPrice` (base units per virtual byte) coins below `smallCoin` base units are put together: what is
     *  cheap now is expensive when they must be spent in haste. */
    joining: Readonly<{ maxPrice: bigint; smallCoin: bigint }>;
  }>;
/** With what the settings of an EVM network begin: `<prefix>_RPC_URL`, `_SECOND_RPC_URL`, `_CHAIN_ID`,
 *  `_SWEEPER_CONTRACT`. */
export type EvmPrefix = 'ARBITRUM' | 'BASE' | 'BNB' | 'ETH' | 'OPTIMISM' | 'POLYGON';
/** What addresses hold is a balance, and each transfer is a transaction of its own. */
type AnyAccountNetwork = AnyNetwork &
  Readonly<{
    kind: 'account';
    work: WorkFigures;
    /** Where blocks are not traced, the balance of an open invoice is looked at every so many. */
    balanceEveryBlocks: number;
    /** What is found by balance is nobody's until two operators give it to the payment of its address. Absent: it is
     *  that payment's at once. */
    isFoundUnclaimed?: true;
    /** An account must hold what its node says, and cannot send it. Absent: it can send all. */
    hasReserve?: true;
    /** Absent: the work is all that a transaction pays for. */
    dataFee?: DataFee;
  }>;
/** Chains of the Ethereum Virtual Machine with fees by EIP-1559. */
export type EvmNetwork = AnyAccountNetwork &
  Readonly<{
    expiring?: undefined;
    settings: NodeSettings<EvmPrefix>;
    /** SLIP-44; EVM chains share the addresses of Ethereum. */
    coinType: number;
    /** Of the live chain. */
    chainId: number;
    /** Ids of chains whose blocks come when somebody makes one; that of the sandbox first. */
    localChainIds: readonly number[];
    /** Public test chains by id. */
    testChains?: Readonly<Record<number, Readonly<{ name: string; faucet: string }>>>;
    /** Public pages of a transaction by the id of their chain, with `{txId}` in them. */
    explorerTxUrls: Readonly<Record<number, string>>;
    /** The least tip that we offer, in base units per gas. */
    leastTip: string;
    batch: BatchFigures;
  }>;
/** A network that also charges for a transaction's data on another chain, and tells by a contract how much. */
export type DataFee = Readonly<{
  /** Answers `getL1FeeUpperBound(uint256 bytes)`, in base units. */
  oracle: string;
  /** No transfer of ours has more bytes for its gas than this many for `gas`; what a small one is charged at the least
   *  is in them. */
  bytes: number;
  gas: bigint;
}>;
/** The work of transfers, in the unit that the network prices: gas on EVM chains, the transaction itself on the XRP
 *  Ledger, energy on TRON. Work times the price of its unit is what a transfer burns. */
export type WorkFigures = Readonly<{
  /** What one transfer of the native coin to an account like others takes, and about what one of a token does: what
   *  plans and quotes count with. What is signed has the estimate of the node. */
  native: bigint;
  token: bigint;
  /** What one transfer may take at the most, its margin included: more is not signed. */
  ceiling: Readonly<{ native: bigint; token: bigint }>;
  /** What a quote counts for settling a deposit of a token, its top-up included. */
  tokenSettlement: bigint;
  /** What is signed above a node's estimate, in per cent of it: the chain may stand otherwise when a block takes it. */
  marginPercent: bigint;
  /** How many times today's price a token's top-up pays for. Decimal string. */
  topUpReserve: string;
}>;
/** Of one transaction that moves the tokens of many addresses, in gas. */
export type BatchFigures = Readonly<{
  /** What it may take, and about what it does. */
  limit: Readonly<{ base: bigint; each: bigint }>;
  estimate: Readonly<{ base: bigint; each: bigint; rest: bigint }>;
  /** What an account's delegation (EIP-7702) and the call of it take in it. */
  delegation: bigint;
}>;
/** With what the settings of a network whose transactions expire begin: `<prefix>_RPC_URL`, `_SECOND_RPC_URL`,
 *  `_NETWORK`; of TRON also `TRON_FINAL_RPC_URL`. */
export type ExpiringPrefix = 'TRON' | 'XRPL';
/** Its transactions end with a block or a moment, and the signer has a node of its own for it. */
export type ExpiringNetwork = AnyAccountNetwork &
  Readonly<{
    settings: NodeSettings<ExpiringPrefix>;
    /** The family of its chains. */
    expiring: ExpiringChain['family'];
    /** By the name that the configuration gives. Of a local one the node is a simulator of ours. */
    chains: Readonly<Record<string, ExpiringChain & NamedChain>>;
    /** What an address looks like, after "one": for people who gave another. */
    addressForm: string;
  }>;
export type AccountNetwork = EvmNetwork | ExpiringNetwork;
export type Network = UtxoNetwork | AccountNetwork;

export type Asset = Readonly<{
  currency: Currency;
  asset: string;
  network: NetworkId;
  name: string;
  decimals: number;
  /** Decimals of a payable amount: few enough that a JSON number carries it exactly and a payer can type it. */
  payDecimals: number;
  /** Deposits below this many units of the asset are stored and change nothing. Decimal string. */
  dust: string;
  /** Main-network contract; `TOKEN_CONTRACTS` overrides it on other chains. null: the native asset. */
  contract: string | null;
  requiresDestinationTag: boolean;
  addressRegex: string;
  /** Worth about one unit of fiat money. */
  stable: boolean;
  /** How much the signer releases in 24 hours to destinations that it does not know yet, where nothing else is set.
   *  Decimal string. */
  newDestinationCap: string;
  /** Up to how much on our own wallets that nobody claims is booked by itself, where nothing else is set. Decimal
   *  string. */
  unexplainedBound: string;
}>;
