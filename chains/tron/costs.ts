import type { Currency } from '../../domain/chains/assets';
import type { AskedTransfer } from '../../domain/chains/chain';
import {
  readAccount,
  readPrices,
  readResources,
  tokenBalance,
  tryTransfer,
  type Prices,
  type Resources,
} from './accounts';
import type { TronCodec } from './codec';
import type { Ask } from './http';
import { assetIn, type TronChain, type TronPlan } from './plan';

/** What a transfer costs its sender, before it is signed. All in sun, rounded up. Paying for resources,
 *  developers.tron.network. */
type TronCost = Readonly<{
  /** Points, and what is burned for them: nothing, or the price of all of them. */
  bandwidth: bigint;
  bandwidthFee: bigint;
  /** Units, and what is burned for those that the sender has not staked for. */
  energy: bigint;
  energyFee: bigint;
  /** TRX to an address that has no account makes one. */
  activationFee: bigint;
  /** To sign with: the energy at its price with a margin, whoever pays for it; 0 for TRX. */
  feeLimit: bigint;
  /** What is burned at the most, if all energy up to the fee limit is. */
  most: bigint;
}>;

/** `reverts`: it cannot succeed now; `short`: its sender does not hold it, or its cost; `expensive`: it takes more than
 *  the ceiling of fee limits; `unclear`: the node could not say. */
export type CostAnswer =
  | Readonly<{ state: 'done'; cost: TronCost }>
  | Readonly<{ state: 'reverts' | 'short' | 'expensive' | 'unclear'; reason: string }>;

/** The estimate of energy is of this moment: a recipient may spend all he has before, so that his balance is made anew,
 *  and the contract's own price changes every six hours (dynamic energy model). In per cent of the estimate. */
const marginPercent = 20n;

/** A transfer as it is asked about. */
export type AskedTronTransfer = Pick<TronPlan, 'from' | 'to' | 'units'> & Readonly<{ currency: Currency }>;

/** Stands for what is not known yet, and takes as many bytes. */
const likely = { reference: `0000${'ff'.repeat(30)}`, timestamp: 2 ** 41 - 1, expiresAt: 2 ** 41 } as const;

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** All of a transaction's bandwidth comes from one source: staked, else the free quota, else burned. What makes an
 *  account never comes from the free quota. Bandwidth and Energy, developers.tron.network. */
function bandwidthFeeOf(points: bigint, makesAccount: boolean, own: Resources, prices: Prices): bigint {
  if (own.bandwidth >= points) return 0n;
  if (makesAccount) return prices.newAccountBandwidth;
  return own.freeBandwidth >= points ? 0n : points * prices.byte;
}

/** What costs are counted from. */
type Known = Readonly<{
  ask: Ask;
  codec: Pick<TronCodec, 'sizeOf'>;
  chain: TronChain;
  prices: Prices;
  /** What its sender need not burn. */
  own: Resources;
}>;

/** What a transfer burns, whatever TRX its sender holds. */
async function burnOf({ ask, codec, chain, prices, own }: Known, asked: AskedTronTransfer): Promise<CostAnswer> {
  const { contract } = assetIn(chain, asked.currency);
  const base = { ...asked, key: { role: 'deposit', index: 0 } as const, ...likely };
  if (contract === null) {
    const bandwidth = codec.sizeOf({ ...base, feeLimit: 0n });
    const account = await readAccount(ask, asked.to);
    // No block has it, and no node takes it: TransferActuator.validate of java-tron.
    if (account?.isContract) return { state: 'reverts', reason: `${asked.to} is a contract, and takes no TRX` };
    const makesAccount = account === null;
    const bandwidthFee = bandwidthFeeOf(bandwidth, makesAccount, own, prices);
    const activationFee = makesAccount ? prices.newAccount : 0n;
    const most = bandwidthFee + activationFee;
    return {
      state: 'done',
      cost: { bandwidth, bandwidthFee, energy: 0n, energyFee: 0n, activationFee, feeLimit: 0n, most },
    };
  }
  const held = await tokenBalance(ask, contract, asked.from);
  if (held < asked.units)
    return { state: 'short', reason: `${asked.from} holds ${held} of ${asked.units} ${asked.currency}` };
  const tried = await tryTransfer(ask, { ...asked, contract });
  if (tried.state !== 'done') return tried;
  const feeLimit = limitFor(chain, tried.energy, prices);
  if (feeLimit === null)
    return { state: 'expensive', reason: `it takes ${tried.energy} energy at ${prices.energy} sun each` };
  const bandwidth = codec.sizeOf({ ...base, feeLimit });
  const bandwidthFee = bandwidthFeeOf(bandwidth, false, own, prices);
  const burned = tried.energy > own.energy ? tried.energy - own.energy : 0n;
  const energyFee = burned * prices.energy;
  const staked = smaller(own.energy * prices.energy, feeLimit);
  const most = bandwidthFee + feeLimit - staked;
  const cost = { bandwidth, bandwidthFee, energy: tried.energy, energyFee, activationFee: 0n, feeLimit, most };
  return { state: 'done', cost };
}

/** What a transfer burns if its estimate is right. */
const leastOf = ({ bandwidthFee, energyFee, activationFee }: TronCost): bigint =>
  bandwidthFee + energyFee + activationFee;

/** The cost of a token's transfer with a fee limit by which it burns no more than `most`, though what it takes. */
function within(cost: TronCost, most: bigint, own: Resources, prices: Prices): TronCost {
  const least = leastOf(cost);
  if (cost.most <= most || cost.most <= least) return cost;
  const room = (most > least ? most : least) - cost.bandwidthFee;
  const feeLimit = smaller(cost.feeLimit, own.energy * prices.energy + room);
  return { ...cost, feeLimit, most: cost.bandwidthFee + room };
}

/** What a transfer would take now. Its fee limit is no higher than what its sender can pay, and `mostUnits`. */
export async function costOf(
  ask: Ask,
  codec: Pick<TronCodec, 'sizeOf'>,
  chain: TronChain,
  asked: AskedTronTransfer & Readonly<{ mostUnits?: bigint }>,
): Promise<CostAnswer> {
  const [sender, own, prices] = await Promise.all([
    readAccount(ask, asked.from),
    readResources(ask, asked.from),
    readPrices(ask),
  ]);
  const answer = await burnOf({ ask, codec, chain, prices, own }, asked);
  if (answer.state !== 'done') return answer;
  const balance = sender?.balance ?? 0n;
  const isNative = assetIn(chain, asked.currency).contract === null;
  const cost = isNative ? answer.cost : within(answer.cost, smaller(balance, asked.mostUnits ?? balance), own, prices);
  const needed = isNative ? asked.units + cost.most : leastOf(cost);
  return balance < needed ? short(asked, balance, cost.most) : { state: 'done', cost };
}

/** The longest amount of TRX: a plan may not know yet how much is left. */
const longest = (1n << 63n) - 1n;
const nothing: Resources = { freeBandwidth: 0n, bandwidth: 0n, energy: 0n };

/** What a transfer burns where nothing is free or staked any more when it is signed, and what its node's prices are. Of
 *  a token whose TRX are brought (`topUp`): what it burns if its estimate is right. What is free today comes back
 *  before one that goes alone is given up, so that nothing is brought for its bytes. */
export async function costAtMost(
  ask: Ask,
  codec: Pick<TronCodec, 'sizeOf'>,
  chain: TronChain,
  { topUp, ...asked }: AskedTronTransfer & Pick<AskedTransfer, 'topUp'>,
): Promise<Readonly<{ prices: Prices; answer: CostAnswer }>> {
  const prices = await readPrices(ask);
  const known = { ask, codec, chain, prices, own: nothing };
  const isNative = assetIn(chain, asked.currency).contract === null;
  if (isNative) return { prices, answer: await burnOf(known, { ...asked, units: longest }) };
  const answer = await burnOf(known, asked);
  if (answer.state !== 'done' || topUp === undefined) return { prices, answer };
  const { bandwidth, energyFee } = answer.cost;
  const isFree = topUp === 'own' && prices.freeBandwidth >= bandwidth;
  const bandwidthFee = isFree ? 0n : answer.cost.bandwidthFee;
  return { prices, answer: { state: 'done', cost: { ...answer.cost, bandwidthFee, most: bandwidthFee + energyFee } } };
}

/** The fee limit for so much energy, with the margin as far as the ceiling leaves one; null: the ceiling is below the
 *  estimate itself. It bounds staked energy as well as burned. Feelimit, developers.tron.network. */
function limitFor({ feeLimitCeiling }: TronChain, energy: bigint, { energy: price }: Prices): bigint | null {
  const exact = energy * price;
  if (exact > feeLimitCeiling) return null;
  const wanted = (exact * (100n + marginPercent) + 99n) / 100n;
  return smaller(wanted > 0n ? wanted : 1n, feeLimitCeiling);
}

const short = ({ from, units, currency }: AskedTronTransfer, balance: bigint, most: bigint): CostAnswer => ({
  state: 'short',
  reason: `${from} holds ${balance} sun, and ${units} ${currency} take up to ${most} sun beside what they move`,
});
