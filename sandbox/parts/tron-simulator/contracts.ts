import type { Transaction } from './transactions';
import { accountOf, type World } from './world';

/** The contracts of the simulator: no virtual machine, but what the calls of a TRC-20 token do and take. TRC-20,
 *  developers.tron.network. */

export type Log = Readonly<{ address: string; topics: readonly string[]; data: string }>;
export type InternalTransfer = Readonly<{ from: string; to: string; amount: bigint }>;

export type Called = Readonly<{
  contractRet: 'SUCCESS' | 'REVERT' | 'OUT_OF_ENERGY';
  /** Units that it took. */
  energy: bigint;
  result: string;
  message: string;
  logs: readonly Log[];
  internal: readonly InternalTransfer[];
}>;

/** About what USDT takes: where the recipient has some already, and where his balance is made. */
const energyOf = { known: 64_285n, fresh: 130_285n, view: 935n, revert: 3_500n, forward: 30_000n } as const;

/** First four bytes of the hash of `balanceOf(address)`, `transfer(address,uint256)`, `forward(address)`. */
const selectors = { balanceOf: '70a08231', transfer: 'a9059cbb', forward: '101e8952' } as const;
/** keccak256('Transfer(address,address,uint256)') */
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Who gets what a token keeps of transfers. */
const tokenOwner = `41${'0f'.repeat(20)}`;

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const wordOf = (address: string): string => address.slice(2).padStart(64, '0');
/** The virtual machine looks at the last 20 bytes of a word alone: some wallets write 41 before them. */
const addressIn = (data: string, at: number): string => `41${data.slice(8 + 64 * at + 24, 8 + 64 * (at + 1))}`;

type Effect = Readonly<{
  energy: bigint;
  result: string;
  isRevert?: true;
  /** Made only where the energy suffices. */
  apply?: () => Pick<Called, 'logs' | 'internal'>;
}>;
const reverted: Effect = { energy: energyOf.revert, result: '', isRevert: true };
type Call = Pick<Transaction, 'owner' | 'to' | 'data' | 'amount'>;

function effectOf(world: World, { owner, to, data, amount }: Call, now: number): Effect {
  const { kind, balances, switches } = world.contracts.get(to)!;
  const [selector, words] = [data.slice(0, 8), (data.length - 8) / 64];
  if (kind === 'forwarder' && selector === selectors.forward && words === 1) {
    const target = addressIn(data, 0);
    const apply = (): ReturnType<NonNullable<Effect['apply']>> => {
      accountOf(world, owner, now).balance -= amount;
      accountOf(world, target, now).balance += amount;
      return { logs: [], internal: [{ from: to, to: target, amount }] };
    };
    return { energy: energyOf.forward, result: '', apply };
  }
  if (amount !== 0n || kind === 'forwarder') return reverted;
  if (selector === selectors.balanceOf && words === 1)
    return { energy: energyOf.view, result: word(balances.get(addressIn(data, 0)) ?? 0n) };
  if (selector !== selectors.transfer || words !== 2 || kind === 'reverting') return reverted;
  const [recipient, units] = [addressIn(data, 0), BigInt(`0x${data.slice(72)}`)];
  const held = balances.get(owner) ?? 0n;
  const fee = (units * BigInt(switches.feePoints)) / 10_000n;
  const [gone, arrives] = switches.isOnTop ? [units + fee, units] : [units, units - fee];
  if (held < gone || recipient === `41${'00'.repeat(20)}`) return reverted;
  if (switches.isPaused || switches.blocked.includes(owner)) return reverted;
  const apply = (): ReturnType<NonNullable<Effect['apply']>> => {
    balances.set(owner, held - gone);
    const give = (whom: string, some: bigint): Log => {
      balances.set(whom, (balances.get(whom) ?? 0n) + some);
      return { address: to.slice(2), topics: [transferTopic, wordOf(owner), wordOf(whom)], data: word(some) };
    };
    const given = give(recipient, arrives);
    return { logs: [given, ...(fee ? [give(tokenOwner, fee)] : [])], internal: [] };
  };
  return { energy: balances.get(recipient) ? energyOf.known : energyOf.fresh, result: word(1n), apply };
}

/** Calls with at most `limit` units of energy. What runs out has taken all of it. */
export function call(world: World, tx: Call, limit: bigint, now: number): Called {
  const { energy: usual, result, isRevert, apply } = effectOf(world, tx, now);
  const energy = usual + (usual * BigInt(world.contracts.get(tx.to)!.switches.extraEnergy)) / 100n;
  const nothing = { logs: [], internal: [] };
  if (energy > limit) {
    const message = "Not enough energy for 'SSTORE' operation executing";
    return { contractRet: 'OUT_OF_ENERGY', energy: limit, result: '', message, ...nothing };
  }
  if (isRevert) return { contractRet: 'REVERT', energy, result, message: 'REVERT opcode executed', ...nothing };
  return { contractRet: 'SUCCESS', energy, result, message: '', ...(apply?.() ?? nothing) };
}

/** What a call would take and give, on a copy of the world. */
export const tryCall = (world: World, tx: Call, now: number): Called =>
  call(structuredClone(world), tx, 10n ** 9n, now);
