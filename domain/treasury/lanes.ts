import type { Source } from './treasury';

/** Hot wallets of an account chain. Each has nonces of its own, so that a transaction which no block takes delays the
 *  others of its lane alone; with a gas wallet for each. Amounts are `bigint` in base units.
 *  docs/decisions/0022-lanes.md */

/** The first treasury indexes are kept for lanes. */
export const mostLanes = 16;

/** So many has an account chain where nothing is said. */
export const defaultLanes = 2;

/** A lane whose lowest nonce has been in no block for so many is blocked. A first attempt at a better price comes
 *  after half as many. */
export const blockedAfterBlocks = 20;

/** An address of the treasury. `lane`: `dropped` was one, null never was. `heldUp`: why nothing that is planned from it
 *  would be mined soon. */
export type Wallet = Readonly<{
  address: string;
  free: bigint;
  lane: 'used' | 'dropped' | null;
  heldUp: 'frozen' | 'blocked' | null;
}>;

const isLane = ({ lane }: Wallet): boolean => lane === 'used';
const isOpen = ({ heldUp }: Wallet): boolean => heldUp === null;

/** What pays, in order: lanes, then other addresses; nothing that is frozen. Blocked ones are left out while a lane is
 *  open. Where none is, the blocked lanes come last: behind their blocker is better than nowhere. */
export function payersOf(wallets: readonly Wallet[]): Source[] {
  const open = wallets.filter(isOpen);
  const lanes = open.filter(isLane);
  const last = lanes.length ? [] : wallets.filter((wallet) => isLane(wallet) && wallet.heldUp === 'blocked');
  return [
    ...lanes.map(({ address, free }) => ({ address, free, isLane: true })),
    ...[...open.filter((wallet) => !isLane(wallet)), ...last].map(({ address, free }) => ({ address, free })),
  ];
}

const least = <T>(some: readonly T[], of: (one: T) => bigint): T | undefined =>
  some.reduce<T | undefined>((found, one) => (found === undefined || of(one) < of(found) ? one : found), undefined);

type Held = Wallet & Readonly<{ total: bigint }>;
const withComing = (wallets: readonly Wallet[], comingTo: (address: string) => bigint): Held[] =>
  wallets.map((wallet) => ({ ...wallet, total: wallet.free + comingTo(wallet.address) }));

/** Every lane has the same share, so the lane furthest below its share is the one that has least, with what is on its
 *  way to it. Where all are held up it is the first one. undefined: there is no lane. */
export function laneToFill(
  wallets: readonly Wallet[],
  comingTo: (address: string) => bigint = () => 0n,
): Wallet | undefined {
  const lanes = withComing(wallets.filter(isLane), comingTo);
  return least(lanes.filter(isOpen), ({ total }) => total) ?? lanes[0];
}

/** Where what no lane holds alone is gathered: the open lane that has most; undefined where none is open. */
export const laneToGatherAt = (
  wallets: readonly Wallet[],
  comingTo: (address: string) => bigint = () => 0n,
): Wallet | undefined =>
  least(
    withComing(wallets, comingTo).filter((one) => isLane(one) && isOpen(one)),
    ({ total }) => -total,
  );

type Move = Readonly<{ from: string; to: string; units: bigint }>;

/** So many dropped wallets are emptied in a look: each is a transaction. */
const mostEmptied = 16;

/** What of each lane's float to move now. `least`: a smaller sum is not worth a move. `leastToSpread`: what moves
 *  between two lanes in use is this much at least; null: nothing may. `awaited`: what is asked for and not planned yet:
 *  while a share would not pay for it, nothing is taken from the lane that has most. */
export function floatMoves(
  wallets: readonly Wallet[],
  comingTo: (address: string) => bigint,
  terms: Readonly<{ least: bigint; leastToSpread: bigint | null; awaited: bigint }>,
): Move[] {
  const moves: Move[] = [];
  const arriving = new Map<string, bigint>();
  const coming = (address: string): bigint => comingTo(address) + (arriving.get(address) ?? 0n);
  const dropped = wallets
    .filter((wallet) => wallet.lane === 'dropped' && isOpen(wallet) && wallet.free > terms.least)
    .toSorted((a, b) => (a.free < b.free ? 1 : a.free > b.free ? -1 : 0));
  for (const one of dropped.slice(0, mostEmptied)) {
    const to = laneToFill(wallets, coming);
    if (!to || !isOpen(to)) continue;
    moves.push({ from: one.address, to: to.address, units: one.free });
    arriving.set(to.address, (arriving.get(to.address) ?? 0n) + one.free);
  }
  const lanes = withComing(wallets.filter(isLane), coming);
  const open = lanes.filter(isOpen);
  if (moves.length || terms.leastToSpread === null || open.length < 2) return moves;
  const share = lanes.reduce((sum, { total }) => sum + (total > 0n ? total : 0n), 0n) / BigInt(lanes.length);
  const poor = least(open, ({ total }) => total)!;
  const rich = least(open, ({ free }) => -free)!;
  // Half its share is enough for a lane: what is paid from one of them must not set the others in motion.
  if (poor.total * 2n >= share || rich.free <= share || terms.awaited > share) return moves;
  const [lacks, spare] = [share - poor.total, rich.free - share];
  const units = lacks < spare ? lacks : spare;
  if (units >= terms.leastToSpread) moves.push({ from: rich.address, to: poor.address, units });
  return moves;
}

/** A gas wallet. `isOwn`: that of the lane which gas is for. */
export type GasWallet = Readonly<{
  address: string;
  free: bigint;
  lane: 'used' | 'dropped';
  heldUp: 'frozen' | 'blocked' | null;
  isOwn: boolean;
}>;

/** Which gas wallet buys gas for `units`. A dropped one as long as it can: nothing else empties it. Then the lane's
 *  own, and for what is in no lane the one that has most. None that is held up while another is open, even one that has
 *  too little: it can be filled. undefined: there is none. */
export function gasWalletOf(wallets: readonly GasWallet[], units: bigint): GasWallet | undefined {
  const isUsed = ({ lane }: GasWallet): boolean => lane === 'used';
  const isFree = ({ heldUp }: GasWallet): boolean => heldUp === null;
  const isAble = (one: GasWallet): boolean => isFree(one) && one.free >= units;
  const isOwn = (one: GasWallet): boolean => one.isOwn && isUsed(one);
  const ranks: ReadonlyArray<(one: GasWallet) => boolean> = [
    (one) => isAble(one) && !isUsed(one),
    (one) => isAble(one) && isOwn(one),
    (one) => isAble(one) && isUsed(one),
    (one) => isFree(one) && isOwn(one),
    (one) => isFree(one) && isUsed(one),
    (one) => one.heldUp === 'blocked' && isOwn(one),
    (one) => one.heldUp === 'blocked' && isUsed(one),
    isUsed,
  ];
  for (const fits of ranks) {
    const best = least(wallets.filter(fits), ({ free }) => -free);
    if (best) return best;
  }
  return undefined;
}
