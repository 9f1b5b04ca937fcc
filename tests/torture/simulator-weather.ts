import { setTimeout as sleep } from 'node:timers/promises';
import { networks, type NetworkId } from '../../domain/chains/assets';
import { simulatorUrlOf } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import type { OptionalNetwork } from '../../sandbox/stack/networks';
import type { Done } from './kills';
import { Random } from './random';
import type { Stage } from './stage';

/** What the simulators of networks whose transactions expire are ordered to do to the service: their nodes lag, and
 *  what is sent is answered wrongly, or is lost until it expires. */

const faults = {
  xrpl: ['lose_answer', 'cut', 'duplicate', 'swallow'],
  tron: ['reply-lost', 'duplicate', 'dropped', 'expired', 'busy'],
} as const;
type Simulated = keyof typeof faults;
const isSimulated = (id: NetworkId): id is Simulated => id in faults;

/** `blocks`: how far a node lags. `calls`: how many of those that send meet the fault. */
type SimulatorWeather = Readonly<{
  network: Simulated;
  atMs: number;
  forMs: number;
  kind: string;
  blocks: number;
  calls: number;
}>;

/** Each kind at least once for each network where there is time for it, then by chance; one at a time. */
export function simulatorWeatherOf(
  seed: number,
  minutes: number,
  ids: readonly OptionalNetwork[],
): readonly SimulatorWeather[] {
  const span = minutes * 60_000;
  return ids.filter(isSimulated).flatMap((network) => {
    // Numbers of its own, so that a seed draws the same runs with it and without.
    const random = new Random(seed ^ (network === 'xrpl' ? 0x78_72_70 : 0x74_72_78));
    const kinds = ['lag', 'stand still', ...faults[network]];
    const drawn: SimulatorWeather[] = [];
    for (let at = 2500; at < span * 0.8; at += random.whole(2000, 6000)) {
      const forMs = random.whole(3000, 12_000);
      let kind = kinds[drawn.length] ?? random.pick(kinds);
      // A transaction on TRON lives for ten minutes, and its wallet waits for it: one is enough.
      if (kind === 'dropped' && drawn.some((one) => one.kind === kind)) kind = 'lag';
      drawn.push({ network, atMs: at, forMs, kind, blocks: random.whole(1, 25), calls: random.whole(1, 3) });
      at += forMs;
    }
    return drawn;
  });
}

/** Orders it all, while no payer uses these networks: what is lost is ours. Resolves to how often each was ordered. */
export async function simulatorWeather(
  stage: Stage,
  planned: readonly SimulatorWeather[],
  began: number,
  say: (line: string) => void,
): Promise<Done> {
  const done: Done = {};
  const orders = { xrpl: ordersOfXrpl(stage), tron: ordersOfTron(stage) };
  const inTurn = async (network: Simulated): Promise<void> => {
    for (const one of planned.filter((other) => other.network === network)) {
      await sleep(Math.max(0, began + one.atMs - Date.now()));
      await stage.withoutPayers([network], async () => {
        say(`${Math.round((Date.now() - began) / 1000)} s: ${network} ${one.kind} for ${one.forMs} ms`);
        const what = `${network} ${one.kind}`;
        done[what] = (done[what] ?? 0) + 1;
        // A payment that waits in the pool may not be lost by this.
        await stage.again(() => stage.world.payer.mine(networks[network].native));
        await orders[network].begin(one);
        await sleep(one.forMs);
        await orders[network].end();
      });
    }
  };
  await Promise.all((Object.keys(faults) as Simulated[]).map(inTurn));
  return done;
}

type Orders = Readonly<{ begin: (one: SimulatorWeather) => Promise<unknown>; end: () => Promise<unknown> }>;

/** Repeated, for the simulator may be down at the moment. */
function ordersOfXrpl(stage: Stage): Orders {
  const order = (what: object): Promise<unknown> =>
    stage.again(() => call(simulatorUrlOf(stage.world.chains, 'XRP'), 'simulator_order', [what]));
  return {
    begin({ kind, blocks, calls }) {
      if (kind === 'lag') return order({ order: 'lag', ledgers: blocks });
      if (kind === 'stand still') return order({ order: 'stand_still' });
      return order({ order: 'fault', fault: kind, times: calls });
    },
    async end() {
      await order({ order: 'go_on' });
      await order({ order: 'no_faults' });
    },
  };
}

function ordersOfTron(stage: Stage): Orders {
  const order = (body: object): Promise<unknown> =>
    stage.again(async () => {
      const url = `${simulatorUrlOf(stage.world.chains, 'TRX')}/sandbox/fault`;
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`/sandbox/fault: HTTP ${answer.status}`);
    });
  return {
    begin({ kind, blocks }) {
      if (kind === 'lag') return order({ kind, blocks });
      return order({ kind: kind === 'stand still' ? 'stand-still' : kind });
    },
    end: () => order({ kind: 'none' }),
  };
}
