import { Drill } from './drill';
import { openWork, type Work } from './work';

export type DrillOptions = Readonly<{
  /** The folder that the earlier release was built in. */
  release: string;
  /** How long the old process and the new one of a role run beside each other. */
  pauseMs: number;
  say?: (line: string) => void;
}>;

/** An event that was refused for a while is sent again minutes later. */
const patienceMs = 600_000;

/** What the drill has shown, a line for each; the first that does not hold throws. */
export async function upgradeDrill(options: DrillOptions): Promise<string[]> {
  const { release, pauseMs, say = () => undefined } = options;
  const shown: string[] = [];
  const show = (what: string, holds: boolean, details: unknown = ''): void => {
    if (!holds) throw new Error(`Not so: ${what} ${JSON.stringify(details)}`);
    shown.push(what);
    say(what);
  };
  const drill = await Drill.start(release);
  let hasHeld = false;
  try {
    await play(drill, pauseMs, show, say);
    hasHeld = true;
    return shown;
  } finally {
    await drill.end({ keep: !hasHeld });
    if (!hasHeld) say(`Logs and data are kept in ${drill.world.dataDir}`);
  }
}

async function play(
  drill: Drill,
  pauseMs: number,
  show: (what: string, holds: boolean, details?: unknown) => void,
  say: (line: string) => void,
): Promise<void> {
  const { world, miner } = drill;
  say('The earlier release runs');
  await Promise.all([drill.settled('ETH', 2000), drill.settled('BTC', 2000)]);
  await useProvider(drill);
  const works = await openWork(drill);
  say(`Under way: ${works.map(({ what, before }) => `${what} (${before})`).join(', ')}`);
  const began = drill.requests().count;
  miner.start();
  const load = await drill.underLoad(() => drill.roll(pauseMs, say));
  const { count, failures } = drill.requests();
  show('every process of the earlier release is replaced', drill.isRolled());
  show('no request failed meanwhile', failures.length === 0, failures);
  say(`${count - began} requests, ${load.length} payments made and paid meanwhile`);

  for (const { id } of load) await world.sees(drill.shop, id, 'SETTLED', { ms: 240_000 });
  show('all that was paid meanwhile is settled', load.length > 0);
  for (const { goOn } of works) await goOn?.();
  await Promise.all(works.map((work) => ends(drill, work).then(() => say(`${work.what}: ${work.end}`))));
  show('all that was under way has come to its end', true);
  const broken = drill.brokenReplays();
  show('the new code goes on with every workflow', broken.length === 0, broken.slice(0, 5));
  const failed = await drill.failedWorkflows();
  show('no workflow has failed', failed.length === 0, failed);
  const violations = await world.audit();
  show('audit and reconciliation are clean', violations.length === 0, violations);
}

/** Bitcoin is sold to the provider, where the local chains take their time; other pairs convert at once. */
async function useProvider(drill: Drill): Promise<void> {
  const eve = await drill.operator();
  await eve.post('/api/v1/platform/conversion-pairs', {
    ...{ fromCurrency: 'BTC', toCurrency: 'ETH', mode: 'external', reason: 'upgrade drill' },
    totpCode: await eve.totpCode(),
  });
  const isPriced = async () => ((await drill.world.db.query('SELECT FROM swap_rate')) as unknown[]).length > 0;
  await drill.world.until('the swap provider is priced', isPriced);
}

async function ends(drill: Drill, { what, end, status }: Work): Promise<void> {
  let last = '';
  const hasEnded = async () => (last = await status().catch(() => last)) === end;
  await drill.world.until(`${what} is ${end}`, hasEnded, patienceMs).catch((error: Error) => {
    throw new Error(`${error.message}; it is ${last}`);
  });
}
