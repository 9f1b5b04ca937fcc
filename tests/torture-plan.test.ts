import { assets } from '../domain/chains/assets';
import { compare, subtract, times } from '../domain/money';
import { playMoney } from '../sandbox/play-money';
import { capitalOf } from './torture/funding';
import { currenciesWith, networksNamed, nodesWith } from './torture/networks';
import { kindsWith, planOf, victimsWith } from './torture/plan';
import { lightningKinds } from './torture/scenarios/lightning';
import { Random } from './torture/random';
import { amountOf } from './torture/scenarios/amounts';
import { simulatorWeatherOf } from './torture/simulator-weather';

/** What a seeded fault run draws before it starts; docs/operations/torture.md. */

const ask = { seed: 7, runs: 40, minutes: 4, only: kindsWith(false), networks: [], lightning: false } as const;

it('draws the same plan from the same seed', () => {
  const of = (seed: number) => JSON.stringify(planOf({ ...ask, seed }));
  expect(of(7)).toBe(of(7));
  expect(of(7)).not.toBe(of(8));
});

it('knows networks by id and by the ticker of their coin, each once, and refuses others', () => {
  expect(networksNamed('')).toEqual({ networks: [], lightning: false });
  expect(networksNamed('tron,xrp,XRPL,litecoin,trx')!.networks).toEqual(['litecoin', 'xrpl', 'tron']);
  expect(networksNamed('all')).toMatchObject({ networks: expect.arrayContaining(['arbitrum']), lightning: false });
  expect(networksNamed('base,lightning')).toEqual({ networks: ['base'], lightning: true });
  expect(networksNamed('xrp,dogecoin')).toBeNull();
  expect(networksNamed('bitcoin')).toBeNull();
});

it('pays in every currency of the networks that are named, and kills and misleads every node of them', () => {
  const { networks } = networksNamed('litecoin,base,xrp,tron')!;
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
  expect(new Set(kills.map(({ victim }) => victim))).toEqual(new Set(victimsWith(networks, false)));
  expect(new Set(mischief.map(({ node }) => node))).toEqual(new Set(nodesWith(networks).values()));
});

it('has money of every coin of the registry, of which each run takes a little', () => {
  for (const asset of assets) {
    const [count, each, ofTheMerchant] = capitalOf(asset);
    const rest = subtract(times(each, String(count), 18, 'down'), ofTheMerchant);
    expect([asset.currency, compare(rest, ofTheMerchant) >= 0]).toEqual([asset.currency, true]);
    const dollars = Number(times(amountOf(new Random(3), asset.currency), playMoney(asset).usd, 2, 'down'));
    expect([asset.currency, dollars >= 5 && dollars <= 120]).toEqual([asset.currency, true]);
  }
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

it('does by Lightning what is drawn once it is asked for it, and kills and misleads its nodes then alone', () => {
  expect(kindsWith(false)).not.toContain('lightning');
  const { runs, kills, mischief } = planOf({ ...ask, runs: 600, only: kindsWith(true), lightning: true });
  const drawn = new Set(runs.flatMap(({ what }) => /\/lightning\/\d+: (.+?),/.exec(what)?.[1] ?? []));
  expect([...drawn].toSorted()).toEqual([...lightningKinds].toSorted());
  expect(new Set(kills.map(({ victim }) => victim))).toEqual(new Set(victimsWith([], true)));
  expect(mischief.map(({ node }) => node)).toContain('lightning');
  const without = planOf(ask);
  expect(without.kills.map(({ victim }) => victim)).not.toContain('lnd');
  expect(without.mischief.map(({ node }) => node)).not.toContain('lightning');
});
