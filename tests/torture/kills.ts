import { setTimeout as sleep } from 'node:timers/promises';
import { networks, type NetworkId } from '../../domain/chains/assets';
import { evmUrlOf, type Miner } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import type { Part } from '../../sandbox/parts/part';
import type { RpcProxy } from '../faults/rpc-proxy';
import type { World } from '../world';
import type { Kill, Mischief } from './plan';
import type { Stage } from './stage';

/** What was done to the world, by victim and by kind of mischief. */
export type Done = Record<string, number>;
type Say = (line: string) => void;

/** Kills what the plan says, when it says so; each victim is back some time later. Resolves when all run again. */
export async function kill(
  stage: Stage,
  miner: Miner,
  kills: readonly Kill[],
  nodes: ReadonlyMap<string, NetworkId>,
  began: number,
  say: Say,
): Promise<Done> {
  const done: Done = {};
  const queues = new Map<string, Promise<void>>();
  const failures: unknown[] = [];
  for (const { atMs, victim, downMs } of kills) {
    await sleep(Math.max(0, began + atMs - Date.now()));
    const network = nodes.get(victim);
    const one = async (): Promise<void> => {
      say(`${seconds(began)} s: kill -9 ${victim}, down ${downMs} ms`);
      done[victim] = (done[victim] ?? 0) + 1;
      const part = stage.world.stack.part(victim);
      if (!network) await killPart(part, downMs);
      else if (networks[network].expiring) await killSimulator(stage, network, part, downMs);
      else await killNode(stage, miner, network, part, downMs);
    };
    // One that is not back yet is killed as soon as it is; others need not wait for it. The miner stands still for one
    // node at a time.
    const queue = network && !networks[network].expiring ? 'nodes' : victim;
    const before = queues.get(queue) ?? Promise.resolve();
    queues.set(
      queue,
      before.then(one).catch((error: unknown) => {
        say(`${seconds(began)} s: ${victim} was not killed or is not back: ${String(error)}`);
        failures.push(error);
      }),
    );
  }
  await Promise.all(queues.values());
  if (failures.length) throw failures[0];
  return done;
}

async function killPart(part: Part, downMs: number): Promise<void> {
  await part.kill9();
  await sleep(downMs);
  await again(() => part.start());
}

/** A pool is lost with its node. What payers and the provider have in it is theirs to send again, so it is mined
 *  before; what we have sent since is ours. */
async function killNode(stage: Stage, miner: Miner, id: NetworkId, part: Part, downMs: number): Promise<void> {
  const { world } = stage;
  const swap = world.stack.part('swap');
  await stage.withoutPayers([id], async () => {
    await swap.stop();
    await again(() => emptyPool(world, id));
    await miner.stop();
    await again(() => part.kill9());
    await sleep(downMs);
    await again(() => part.start());
    miner.start();
    await swap.start();
  });
}

/** A simulator makes its blocks itself, and loses its pool too where a node of its network does. */
const killSimulator = (stage: Stage, id: NetworkId, part: Part, downMs: number): Promise<void> =>
  stage.withoutPayers([id], async () => {
    await stage.world.payer.mine(networks[id].native);
    await killPart(part, downMs);
  });

/** Mines what waits. What was sent before the base fee rose would wait on, so that it falls for this block, or for one
 *  of the next where the weather raises it between the two calls. */
async function emptyPool({ payer, chains }: World, id: NetworkId): Promise<void> {
  const { kind, native } = networks[id];
  if (kind === 'utxo') return void (await payer.mine(native));
  const url = evmUrlOf(chains, native);
  for (let rounds = 0; rounds < 10; rounds += 1) {
    await call(url, 'anvil_setNextBlockBaseFeePerGas', ['0x7']);
    await payer.mine(native);
    const { pending } = await call<{ pending: string }>(url, 'txpool_status');
    if (parseInt(pending, 16) === 0) return;
  }
}

/** PostgreSQL may refuse until the orphans of its postmaster are gone; a worker, while PostgreSQL is away; a Lightning
 *  node, while its bitcoin node is, which on a busy machine may take a minute to come back. */
async function again(act: () => Promise<unknown>): Promise<void> {
  for (const end = Date.now() + 300_000; ; await sleep(1000))
    try {
      return void (await act());
    } catch (error) {
      if (Date.now() > end) throw error;
    }
}

/** A node that loses answers, answers twice, late or not at all, each for some seconds. Resolves to the calls that were
 *  hit. */
export async function mislead(proxy: RpcProxy, mischief: readonly Mischief[], began: number, say: Say): Promise<Done> {
  const done: Done = {};
  for (const { atMs, node, fault, methods, forMs } of mischief) {
    await sleep(Math.max(0, began + atMs - Date.now()));
    const before = proxy.hits.length;
    const heal = proxy.arm(fault, methods);
    await sleep(forMs);
    heal();
    const hits = proxy.hits.length - before;
    const what = `${fault.kind} ${methods.length ? 'sent' : 'any'}`;
    say(`${seconds(began)} s: ${node} ${what}, ${hits} calls`);
    done[what] = (done[what] ?? 0) + hits;
  }
  return done;
}

const seconds = (began: number): number => Math.round((Date.now() - began) / 1000);
