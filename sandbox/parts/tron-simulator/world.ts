/** What the chain knows after a block: accounts and contracts. Addresses are hex, `41…`. */

/** `…Limit`: staked for, a day. `…Used`: of that at the moment `…At` (Unix milliseconds). Amounts: sun, points,
 *  units. */
export type Account = {
  balance: bigint;
  createdAt: number;
  freeUsed: bigint;
  freeAt: number;
  bandwidthLimit: bigint;
  bandwidthUsed: bigint;
  bandwidthAt: number;
  energyLimit: bigint;
  energyUsed: bigint;
  energyAt: number;
};

/** `token`: TRC-20 with `transfer` and `balanceOf`. `reverting`: every `transfer` reverts. `forwarder`: sends the TRX
 *  of a call on, inside the transaction. */
export type ContractKind = 'token' | 'reverting' | 'forwarder';
/** `feePoints`: in ten thousandths, what a token keeps of each transfer for its owner; or, `isOnTop`, takes beside it.
 *  `blocked`: who may not send it. Fee, pause and blocks are switches of Tether's contract (`basisPointsRate`,
 *  `isBlackListed`), but for the fee on top. `extraEnergy`: in per cent of what its calls take, as a contract that many
 *  call is charged (dynamic energy model, developers.tron.network). */
export type Switches = Readonly<{
  feePoints: number;
  isOnTop: boolean;
  isPaused: boolean;
  blocked: readonly string[];
  extraEnergy: number;
}>;
type Contract = { kind: ContractKind; balances: Map<string, bigint>; switches: Switches };

export type World = { accounts: Map<string, Account>; contracts: Map<string, Contract> };

/** What an operator of the simulator does without a transaction; it is part of the block that comes next. */
export type Act =
  | Readonly<{ kind: 'fund'; address: string; contract: string | null; units: bigint }>
  | Readonly<{ kind: 'switch'; contract: string; switches: Switches }>
  | Readonly<{ kind: 'stake'; address: string; bandwidth: bigint; energy: bigint }>;

export const dayMs = 86_400_000;
/** Points of bandwidth that every account has a day. Bandwidth and Energy, developers.tron.network. */
export const freeLimit = 600n;

/** Prices in sun, as of the main network in 2026. Paying for resources, developers.tron.network. */
export const prices = {
  byte: 1000n,
  energy: 100n,
  newAccountBandwidth: 100_000n,
  newAccount: 1_000_000n,
  maxFeeLimit: 15_000_000_000n,
} as const;

export const allOff: Switches = {
  feePoints: 0,
  isOnTop: false,
  isPaused: false,
  blocked: [],
  extraEnergy: 0,
};

export const emptyWorld = (contracts: Readonly<Record<string, ContractKind>>): World => ({
  accounts: new Map(),
  contracts: new Map(
    Object.entries(contracts).map(([address, kind]) => [address, { kind, balances: new Map(), switches: allOff }]),
  ),
});

/** The account of an address, made where there is none. */
export function accountOf(world: World, address: string, now: number): Account {
  const known = world.accounts.get(address);
  if (known) return known;
  const made: Account = {
    balance: 0n,
    createdAt: now,
    freeUsed: 0n,
    freeAt: now,
    bandwidthLimit: 0n,
    bandwidthUsed: 0n,
    bandwidthAt: now,
    energyLimit: 0n,
    energyUsed: 0n,
    energyAt: now,
  };
  world.accounts.set(address, made);
  return made;
}

/** What is used comes back evenly within 24 hours. Bandwidth and Energy, developers.tron.network. */
function usedNow(used: bigint, at: number, now: number): bigint {
  const left = BigInt(Math.max(0, dayMs - (now - at)));
  return (used * left) / BigInt(dayMs);
}

const left = (limit: bigint, used: bigint): bigint => (limit > used ? limit - used : 0n);
export const freeLeft = ({ freeUsed, freeAt }: Account, now: number): bigint =>
  left(freeLimit, usedNow(freeUsed, freeAt, now));
export const bandwidthLeft = ({ bandwidthLimit, bandwidthUsed, bandwidthAt }: Account, now: number): bigint =>
  left(bandwidthLimit, usedNow(bandwidthUsed, bandwidthAt, now));
export const energyLeft = ({ energyLimit, energyUsed, energyAt }: Account, now: number): bigint =>
  left(energyLimit, usedNow(energyUsed, energyAt, now));

export function useFree(account: Account, points: bigint, now: number): void {
  account.freeUsed = usedNow(account.freeUsed, account.freeAt, now) + points;
  account.freeAt = now;
}
export function useBandwidth(account: Account, points: bigint, now: number): void {
  account.bandwidthUsed = usedNow(account.bandwidthUsed, account.bandwidthAt, now) + points;
  account.bandwidthAt = now;
}
export function useEnergy(account: Account, units: bigint, now: number): void {
  account.energyUsed = usedNow(account.energyUsed, account.energyAt, now) + units;
  account.energyAt = now;
}

export function act(world: World, one: Act, now: number): void {
  if (one.kind === 'stake') {
    const account = accountOf(world, one.address, now);
    account.bandwidthLimit = one.bandwidth;
    account.energyLimit = one.energy;
  } else if (one.kind === 'switch') world.contracts.get(one.contract)!.switches = one.switches;
  else if (one.contract === null) accountOf(world, one.address, now).balance += one.units;
  else {
    const { balances } = world.contracts.get(one.contract)!;
    balances.set(one.address, (balances.get(one.address) ?? 0n) + one.units);
  }
}
