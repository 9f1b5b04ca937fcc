/** What a command needs, and which steps each step begins after. Steps that wait for nothing run beside each other:
 *  Go builds while npm installs, so that a first start takes hardly longer than its longest build. A step names only
 *  steps before it. `store`: where Temporal keeps its workflows. */

const servers = { temporal: [], btcd: [] };
const serversOnPostgres = { 'temporal-on-postgres': [], btcd: [] };
const chosen = (store) => (store === 'postgres' ? serversOnPostgres : servers);

/** One after the other: most of them may ask Debian for a package, and two of its installations cannot run at once. */
const toolsOfTests = {
  'test-server': [],
  browser: ['test-server'],
  litecoind: ['browser'],
  python: ['litecoind'],
  pythons: ['python'],
  php: ['pythons'],
  promtool: ['php'],
  'go-modules': ['promtool'],
  nodes: ['go-modules'],
};

/** The program of each coin's node beside Bitcoin's, by what arguments call its network. */
const programsOfCoins = { litecoind: ['litecoin', 'ltc'] };
/** Those of the coins that `--with` or `--networks` names; `all` does too. */
const coinsWhereNamed = (args) => {
  const words = args.flatMap((one) => one.toLowerCase().split(/[\s,=]+/));
  const isNamed = ([, names]) => words.some((one) => one === 'all' || names.includes(one));
  return Object.fromEntries(
    Object.entries(programsOfCoins)
      .filter(isNamed)
      .map(([program]) => [program, []]),
  );
};

const lndWhereNamed = (args) => (args.some((one) => one.includes('lightning')) ? { lnd: ['btcd'] } : {});

/** Beside the packages and the build. The second build with Go of one module waits for the first, whose compiled
 *  packages it shares. */
const needs = {
  start: (store, args) => ({
    ...chosen(store),
    ...coinsWhereNamed(args),
    ...lndWhereNamed(args),
  }),
  bench: (store, args) => ({ ...chosen(store), ...coinsWhereNamed(args.includes('networks') ? ['all'] : []) }),
  torture: (store, args) => ({ ...chosen(store), ...coinsWhereNamed(args), ...lndWhereNamed(args) }),
  'restore-drill': () => servers,
  'upgrade-drill': () => servers,
  soak: chosen,
  test: (store) => ({
    ...servers,
    ...(store === 'postgres' ? { 'temporal-on-postgres': ['temporal'] } : {}),
    lightning: ['temporal'],
    ...toolsOfTests,
  }),
};

/** The steps of a command by name, each with the names of those it begins after. A test or check builds by itself,
 *  beside its other checks; everything else as soon as the packages are there.
 *  @public */
export const planOf = (command, store = 'sqlite', args = []) => ({
  packages: [],
  ...(command === 'test' || command === 'check' ? {} : { build: ['packages'] }),
  ...(Object.hasOwn(needs, command) ? needs[command](store, args) : {}),
});

/** Carries a plan out: every step begins as soon as those are done that it begins after. `acts`: what each step does,
 *  by name; an act gets `done`, which promises the end of another step to one that finds out later that it needs it.
 *  Returns what the acts returned, as one object. Rejects with the first failure, after which no step begins that
 *  waits for the failed one. */
export async function carryOut(plan, acts) {
  const steps = new Map();
  const done = (name) => steps.get(name);
  for (const [name, after] of Object.entries(plan)) {
    const unknown = after.find((one) => !steps.has(one));
    if (unknown) throw new Error(`The step ${name} begins after ${unknown}, which is no step before it`);
    steps.set(
      name,
      Promise.all(after.map(done)).then(() => acts[name](done)),
    );
  }
  return Object.assign({}, ...(await Promise.all(steps.values())));
}
