import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from '../../domain/chains/assets';
import { times } from '../../domain/money';
import type { Invoice } from '../world';
import { Drill, type DrillOptions, type Paid } from './drill';

/** What the drill has shown, a line for each; the first that does not hold throws. */
export async function restoreDrill(options: DrillOptions): Promise<string[]> {
  const drill = await Drill.start(options);
  const shown: string[] = [];
  const say = options.say ?? (() => undefined);
  const show = (what: string, holds: boolean, details: unknown = ''): void => {
    if (!holds) throw new Error(`Not so: ${what} ${JSON.stringify(details)}`);
    shown.push(what);
    say(what);
  };
  try {
    await play(drill, show, say, options.isShort ?? false);
    return shown;
  } finally {
    await drill.world.stop();
  }
}

type Show = (what: string, holds: boolean, details?: unknown) => void;

/** Part of an amount, as a withdrawal takes it. */
const part = (amount: number, share: string): string => times(String(amount), share, 6, 'down');

type Rows = (sql: string, values?: readonly unknown[]) => Promise<Array<Record<string, string>>>;
const rowsOf =
  ({ world }: Drill): Rows =>
  (sql, values = []) =>
    world.db.query(sql, [...values]);

/** What was done, and what of it will be lost. */
type Load = Readonly<{
  ether: number;
  coins: readonly string[];
  moment: Date;
  /** Not paid at the moment; settled in the time that is lost. */
  open: readonly Invoice[];
  /** Asked for before the moment, and sent after it. */
  waiting: readonly Paid[];
  /** Asked for and sent in the time that is lost. */
  forgotten: readonly Paid[];
  /** Made in the time that is lost: not paid, and settled. */
  unpaid: readonly Invoice[];
  swept: readonly Invoice[];
  sentBefore: Paid;
  /** Transactions of `waiting` and `forgotten`. */
  signed: readonly string[];
  /** Every address that a payment had. */
  given: ReadonlySet<string>;
}>;

async function play(drill: Drill, show: Show, say: (line: string) => void, isShort: boolean): Promise<void> {
  const rows = rowsOf(drill);
  const load = await loadAndWait(drill, say, isShort);
  say('The server is lost, and restored');
  const lostAt = Date.now();
  await drill.loseAndRestore(load.moment);
  const isBegun = async (): Promise<boolean> => (await rows('SELECT FROM recovery')).length > 0;
  await drill.world.until('a new epoch has begun', isBegun, 120_000);
  const lostSeconds = ((lostAt - load.moment.getTime()) / 1000).toFixed(0);
  say(`${lostSeconds} s are lost; the signer has begun an epoch after ${seconds(lostAt)}`);
  const fresh = await showForgotten(drill, show, load);
  if (isShort) await drill.letAMinutePass();
  await showEnds(drill, show, load, fresh);
  await showBooks(drill, show, load);
  const loss = await rows(
    `SELECT asset, trim_scale(sum(amount))::text AS sum FROM posting WHERE debit = 'E:loss' GROUP BY 1 ORDER BY 1`,
  );
  say(`booked as a loss: ${loss.map(({ asset, sum }) => `${sum} ${asset}`).join(', ')}; it took ${seconds(lostAt)}`);
}

/** Until the server is lost. */
async function loadAndWait(drill: Drill, say: (line: string) => void, isShort: boolean): Promise<Load> {
  const rows = rowsOf(drill);
  const coins = isShort ? ['ETH'] : ['ETH', 'BTC'];
  const settleAll = async (invoices: readonly Invoice[]): Promise<number> => {
    await Promise.all(invoices.map((one) => drill.pay(one)));
    await Promise.all(invoices.map((one) => drill.settles(one)));
    return invoices[0]!.amount;
  };
  const signer = drill.world.stack.part('signer-1');

  say('Load before the backup');
  const ether = await settleAll(await drill.invoices(['ETH']));
  await drill.backUp();

  say('Load after the backup, which the archive has');
  const received: Record<string, number> = { ETH: ether };
  if (!isShort) received['BTC'] = await settleAll(await drill.invoices(['BTC']));
  const withdraw = async (share: string): Promise<Paid[]> => {
    const all: Paid[] = [];
    for (const coin of coins) all.push(await drill.withdrawal(coin, part(received[coin]!, share)));
    return all;
  };
  const sentBefore = await drill.withdrawal('ETH', part(ether, '0.2'));
  await drill.completed(sentBefore.id);
  const open = await drill.invoices(isShort ? ['ETH'] : ['ETH', 'USDT_ERC20', 'BTC', 'BTC']);
  await signer.stop();
  // What is left in the treasury after the loss does not pay the first once more.
  const waiting = await withdraw('0.6');
  const moment = new Date((await rows('SELECT clock_timestamp()::text AS now'))[0]!.now!);

  say('Load that will be lost');
  await signer.start();
  await settleAll(open);
  for (const one of waiting) await drill.completed(one.id);
  const forgotten = await withdraw('0.7');
  for (const one of forgotten) await drill.completed(one.id);
  const ids = [...waiting, ...forgotten].map(({ id }) => id);
  const signed = (await rows('SELECT tx_id FROM withdrawal WHERE id = ANY($1)', [ids])).map((row) => row.tx_id!);
  const unpaid = await drill.invoices(coins);
  const swept = isShort ? [] : await drill.invoices(['ETH']);
  if (swept.length) await settleAll(swept);
  const addresses = await rows('SELECT address FROM address WHERE payment_id IS NOT NULL');
  await drill.lose(moment);
  const given = new Set(addresses.map((row) => row.address!));
  return { ether, coins, moment, open, waiting, forgotten, unpaid, swept, sentBefore, signed, given };
}

/** What the database has forgotten is neither given out again nor lost sight of. Returns new invoices. */
async function showForgotten(drill: Drill, show: Show, load: Load): Promise<Invoice[]> {
  const rows = rowsOf(drill);
  show('the rows of the lost time are gone', (await drill.statusOf('withdrawal', load.forgotten[0]!.id)) === undefined);
  for (const one of load.unpaid) await drill.pay(one);
  const fresh = await drill.invoices(load.coins);
  const again = [...fresh, ...(await drill.invoices(['BTC', 'USDT_ERC20']))];
  const isNew = again.every(({ address }) => !load.given.has(address));
  show('no address is given twice', isNew, again);
  const held = [...load.unpaid, ...load.swept].map(({ address }) => address);
  const unclaimed = `SELECT FROM deposit WHERE allocation = 'unclaimed' AND address = ANY($1)`;
  await drill.world.until(
    'what pays forgotten invoices is held',
    async () => (await rows(unclaimed, [held])).length === held.length,
    240_000,
  );
  show('what pays forgotten invoices is held', true);
  const report = await drill.operator('recoveries');
  const named = [...load.signed, ...held, ...load.forgotten.map(({ address }) => address)];
  const missing = named.filter((one) => !report.includes(one));
  show('what is lost is listed', missing.length === 0, { missing, report });
  return fresh;
}

/** Every open row ends, and frozen wallets sign nothing before two operators unfreeze them. */
async function showEnds(drill: Drill, show: Show, load: Load, fresh: readonly Invoice[]): Promise<void> {
  const rows = rowsOf(drill);
  const frozen = await rows('SELECT network, address FROM wallet_sequence WHERE frozen_reason IS NOT NULL');
  const isFrozen = (coin: string): boolean => frozen.some((row) => row.network === networkOf(coin).id);
  show('the wallets that have sent in the lost time are frozen', load.coins.every(isFrozen), frozen);
  await Promise.all(load.open.map((one) => drill.settles(one)));
  show('invoices that were settled in the lost time settle again', true);
  for (const one of load.waiting) await drill.completed(one.id);
  show('withdrawals that were sent in the lost time end, with their wallets frozen', true);
  const late = await drill.withdrawal('ETH', part(load.ether, '0.1'));
  await sleep(5000);
  show('a frozen wallet sends nothing', (await drill.statusOf('withdrawal', late.id)) === 'pending');

  for (const { network, address } of frozen) await drill.unfreeze(network!, address!);
  await drill.completed(late.id);
  for (const one of fresh) await drill.pay(one);
  for (const one of fresh) await drill.settles(one);
  show('two operators unfreeze the wallets, and what waits ends', true);
  for (const one of load.swept) await drill.claims(one);
  if (load.swept.length) show('a forgotten invoice gets what was swept of it', true);
  const counts: Record<string, number> = {};
  for (const one of [...load.waiting, ...load.forgotten, load.sentBefore, late])
    counts[one.id] = await drill.arrivals(one);
  const isOnce = Object.values(counts).every((count) => count === 1);
  show('nothing is sent twice', isOnce, counts);
}

async function showBooks(drill: Drill, show: Show, { forgotten }: Load): Promise<void> {
  const rows = rowsOf(drill);
  const isBooked = async (): Promise<boolean> =>
    (await rows(`SELECT FROM posting WHERE debit = 'E:loss'`)).length >= forgotten.length;
  await drill.world.until('the loss is booked', isBooked, 120_000);
  await drill.payIn();
  show('operators pay in what is lost', true);
  const left = await rows(`SELECT kind, ref, status FROM intent WHERE NOT booked AND status <> 'dead'`);
  show('every open row ends', left.length === 0, left);
  await drill.agrees();
  const problems = await drill.problems();
  show('audit and reconciliation are clean', problems.length === 0, problems);
}

const seconds = (since: number): string => `${((Date.now() - since) / 1000).toFixed(0)} s`;
