import { currenciesWith, networksNamed, nodesWith } from './torture/networks';
import { kinds, planOf, victimsWith } from './torture/plan';
import { simulatorWeatherOf } from './torture/simulator-weather';

/** What a seeded fault run draws before it starts; docs/operations/torture.md. */

const ask = { seed: 7, runs: 40, minutes: 4, only: kinds, networks: [] } as const;

it('draws the same plan from the same seed', () => {
  const of = (seed: number) => JSON.stringify(planOf({ ...ask, seed }));
  expect(of(7)).toBe(of(7));
  expect(of(7)).not.toBe(of(8));
});

it('knows networks by id and by the ticker of their coin, each once, and refuses others', () => {
  expect(networksNamed('')).toEqual([]);
  expect(networksNamed('tron,xrp,XRPL,litecoin,trx')).toEqual(['litecoin', 'xrpl', 'tron']);
  expect(networksNamed('all')).toContain('arbitrum');
  expect(networksNamed('xrp,dogecoin')).toBeNull();
  expect(networksNamed('bitcoin')).toBeNull();
});

it('pays in every currency of the networks that are named, and kills and misleads every node of them', () => {
  const networks = networksNamed('litecoin,base,xrp,tron')!;
  const { runs, kills, mischief } = planOf({ ...ask, runs: 400, networks });
  for (const currency of currenciesWith(networks)) {
    const paid = runs.filter(({ what }) => new RegExp(`/payments/.* USD in ${currency},`).test(what));
    expect([currency, paid.length > 0]).toEqual([currency, true]);
  }
  expect(currenciesWith(networks)).toEqual([
    ...['BTC', 'ETH', 'USDT_ERC20', 'LTC', 'ETH_BASE', 'USDC_BASE', 'XRP', 'TRX', 'USDT_TRC20'],
  ]);
  expect([...nodesWith(networks).keys()]).toEqual([
    ...['anvil', 'btcd', 'litecoind', 'anvil-base', 'xrpl-simulator', 'tron-simulator'],
  ]);
  expect(new Set(kills.map(({ victim }) => victim))).toEqual(new Set(victimsWith(networks)));
  expect(new Set(mischief.map(({ node }) => node))).toEqual(new Set(nodesWith(networks).values()));
});

it('has weather for simulators alone, of each kind, and loses one transaction of TRON at the most', () => {
  expect(simulatorWeatherOf(7, 4, ['litecoin', 'base'])).toEqual([]);
  const drawn = simulatorWeatherOf(7, 15, ['xrpl', 'tron']);
  const kindsOn = (id: string) => new Set(drawn.filter(({ network }) => network === id).map(({ kind }) => kind));
  expect(kindsOn('xrpl')).toEqual(new Set(['lag', 'stand still', 'lose_answer', 'cut', 'duplicate', 'swallow']));
  expect(kindsOn('tron')).toEqual(
    new Set(['lag', 'stand still', 'reply-lost', 'duplicate', 'dropped', 'expired', 'busy']),
  );
  expect(drawn.filter(({ kind }) => kind === 'dropped')).toHaveLength(1);
  for (const [n, one] of drawn.entries())
    if (drawn[n + 1]?.network === one.network) expect(drawn[n + 1]!.atMs).toBeGreaterThan(one.atMs + one.forMs);
});
