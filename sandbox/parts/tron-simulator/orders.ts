import { oneFaults, type Body, type Node, type Routes } from './api';
import { keptWorlds } from './chain';
import { allOff } from './world';

/** What the sandbox and tests order of the simulator, below `/sandbox/`. A wrong order is an Error. */

type Clock = Readonly<{
  /** `slots` that nobody used come before the first of so many blocks. */
  mine(blocks: number, slots: number): void;
  halt(isHalted: boolean): void;
}>;

function whole(value: unknown, name: string, otherwise: number, most: number): number {
  const given = value ?? otherwise;
  if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < 0 || given > most)
    throw new Error(`${name} is a whole number up to ${most}`);
  return given;
}

function unitsOf(value: unknown, name: string): bigint {
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) throw new Error(`${name} is a decimal string`);
  return BigInt(value);
}

function addressOf(value: unknown, name: string): string {
  if (typeof value !== 'string' || !/^41[0-9a-f]{40}$/.test(value)) throw new Error(`${name} is an address in hex`);
  return value;
}

export function orderRoutes(node: Node, clock: Clock): Routes {
  const { chain } = node;
  const state = (): object => ({
    head: chain.head.height,
    solid: chain.solid.height,
    genesis: chain.at(0)!.id,
    time: chain.head.time,
    pending: chain.pending().map(({ txId }) => txId),
    lag: node.lag,
    fault: node.next,
  });
  function mine(body: Body): object {
    const blocks = whole(body.blocks, 'blocks', 1, 10_000);
    const skipped = whole(body.skip, 'skip', 0, 1_000_000);
    clock.mine(blocks, skipped);
    return state();
  }
  function fault(body: Body): object {
    const kind = oneFaults.find((one) => one === body.kind);
    if (kind) node.next = kind;
    else if (body.kind === 'lag') node.lag = whole(body.blocks, 'blocks', 0, keptWorlds - 1);
    else if (body.kind === 'stand-still') clock.halt(true);
    else if (body.kind === 'none') {
      node.next = null;
      node.lag = 0;
      clock.halt(false);
    } else throw new Error(`kind is none of ${[...oneFaults, 'lag', 'stand-still', 'none'].join(', ')}`);
    return state();
  }
  return {
    '/sandbox/state': state,
    '/sandbox/mine': mine,
    '/sandbox/reorganise': (body) => {
      chain.reorganise(whole(body.depth, 'depth', 1, 10_000), body.transactions !== 'lost');
      return state();
    },
    '/sandbox/fund': (body) => {
      const contract = body.contract === undefined ? null : addressOf(body.contract, 'contract');
      const units = unitsOf(body.units, 'units');
      chain.order({ kind: 'fund', address: addressOf(body.address, 'address'), contract, units });
      return state();
    },
    '/sandbox/stake': (body) => {
      const [bandwidth, energy] = [unitsOf(body.bandwidth, 'bandwidth'), unitsOf(body.energy, 'energy')];
      chain.order({ kind: 'stake', address: addressOf(body.address, 'address'), bandwidth, energy });
      return state();
    },
    '/sandbox/switch': (body) => {
      const switches = {
        feePoints: whole(body.feePoints, 'feePoints', allOff.feePoints, 10_000),
        isOnTop: body.isOnTop === true,
        isPaused: body.isPaused === true,
        extraEnergy: whole(body.extraEnergy, 'extraEnergy', allOff.extraEnergy, 1000),
        blocked: body.blocked === undefined ? [] : [addressOf(body.blocked, 'blocked')],
      };
      chain.order({ kind: 'switch', contract: addressOf(body.contract, 'contract'), switches });
      return state();
    },
    '/sandbox/fault': fault,
  };
}
