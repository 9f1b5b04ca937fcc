import { call, type InternalTransfer, type Log } from './contracts';
import { Refusal, type Transaction } from './transactions';
import {
  accountOf,
  bandwidthLeft,
  energyLeft,
  freeLeft,
  prices,
  useBandwidth,
  useEnergy,
  useFree,
  type Account,
  type World,
} from './world';

/** Carries transactions out. */

/** What came of a transaction. Amounts: sun, points of bandwidth, units of energy. */
export type Outcome = Readonly<{
  /** As blocks name it: SUCCESS, REVERT, OUT_OF_ENERGY. */
  contractRet: string;
  fee: bigint;
  netUsage: bigint;
  netFee: bigint;
  /** null: it called no contract. */
  energy: Readonly<{ usage: bigint; fee: bigint; total: bigint }> | null;
  result: string;
  message: string;
  logs: readonly Log[];
  internal: readonly InternalTransfer[];
}>;

/** Bytes that are counted for the result. Bandwidth and Energy, developers.tron.network. */
const resultBytes = 64;

type Bandwidth = Readonly<{ source: 'staked' | 'free' | 'burned'; points: bigint; fee: bigint }>;

/** All of it from one source. What makes an account is never free. Bandwidth and Energy, developers.tron.network. */
function bandwidthFor(account: Account, size: number, makesAccount: boolean, now: number): Bandwidth {
  const points = BigInt(size + resultBytes);
  if (bandwidthLeft(account, now) >= points) return { source: 'staked', points, fee: 0n };
  if (!makesAccount && freeLeft(account, now) >= points) return { source: 'free', points, fee: 0n };
  const fee = makesAccount ? prices.newAccountBandwidth : points * prices.byte;
  if (account.balance < fee) throw new Refusal('BANDWITH_ERROR', 'Account resource insufficient error.');
  return { source: 'burned', points, fee };
}

function pay(account: Account, { source, points, fee }: Bandwidth, now: number): void {
  if (source === 'staked') useBandwidth(account, points, now);
  else if (source === 'free') useFree(account, points, now);
  account.balance -= fee;
}

const invalid = (message: string): Refusal =>
  new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${message}`);

const isAddress = (address: string): boolean => /^41[0-9a-f]{40}$/.test(address);

/** Changes `world`, unless it throws a Refusal: then the transaction has no place in a block. */
export function execute(world: World, tx: Transaction, now: number): Outcome {
  if (tx.type !== 'TransferContract' && tx.type !== 'TriggerSmartContract')
    throw invalid(`the simulator knows no ${tx.type}`);
  if (!isAddress(tx.owner)) throw invalid('Invalid ownerAddress!');
  const account = world.accounts.get(tx.owner);
  if (!account) throw invalid(`account [${tx.owner}] does not exist`);
  return tx.type === 'TransferContract' ? transfer(world, account, tx, now) : trigger(world, account, tx, now);
}

/** TRX to an address without an account makes one, for a fee. Accounts, developers.tron.network. */
function transfer(world: World, account: Account, tx: Transaction, now: number): Outcome {
  const makesAccount = !world.accounts.has(tx.to);
  const bandwidth = bandwidthFor(account, tx.size, makesAccount, now);
  const activation = makesAccount ? prices.newAccount : 0n;
  if (!isAddress(tx.to)) throw invalid('Invalid toAddress!');
  if (tx.to === tx.owner) throw invalid('Cannot transfer TRX to yourself.');
  if (tx.amount <= 0n) throw invalid('Amount must be greater than 0.');
  if (world.contracts.has(tx.to)) throw invalid('Cannot transfer TRX to a smartContract.');
  if (account.balance < bandwidth.fee + activation + tx.amount)
    throw invalid('Validate TransferContract error, balance is not sufficient.');
  pay(account, bandwidth, now);
  account.balance -= activation + tx.amount;
  accountOf(world, tx.to, now).balance += tx.amount;
  return {
    contractRet: 'SUCCESS',
    fee: bandwidth.fee + activation,
    netUsage: bandwidth.source === 'burned' ? 0n : bandwidth.points,
    netFee: bandwidth.fee,
    energy: null,
    result: '',
    message: '',
    logs: [],
    internal: [],
  };
}

/** The call may take as much energy as its sender has staked for or can burn, and no more than its fee limit pays for.
 *  What fails is paid for all the same. Feelimit and Smart contract errors, developers.tron.network. */
function trigger(world: World, account: Account, tx: Transaction, now: number): Outcome {
  const bandwidth = bandwidthFor(account, tx.size, false, now);
  if (!world.contracts.has(tx.to)) throw invalid('No contract or not a smart contract');
  if (tx.feeLimit < 0n || tx.feeLimit > prices.maxFeeLimit) throw invalid('feeLimit must be >= 0 and <= maxFeeLimit');
  const spendable = account.balance - bandwidth.fee - tx.amount;
  if (tx.amount < 0n || spendable < 0n) throw invalid('balance is not sufficient');
  const staked = energyLeft(account, now);
  const affordable = staked + spendable / prices.energy;
  const limited = tx.feeLimit / prices.energy;
  const limit = affordable < limited ? affordable : limited;
  pay(account, bandwidth, now);
  const done = call(world, tx, limit, now);
  const usage = done.energy < staked ? done.energy : staked;
  const fee = (done.energy - usage) * prices.energy;
  useEnergy(account, usage, now);
  account.balance -= fee;
  return {
    contractRet: done.contractRet,
    fee: bandwidth.fee + fee,
    netUsage: bandwidth.source === 'burned' ? 0n : bandwidth.points,
    netFee: bandwidth.fee,
    energy: { usage, fee, total: done.energy },
    result: done.result,
    message: done.message,
    logs: done.logs,
    internal: done.internal,
  };
}
