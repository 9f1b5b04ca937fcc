import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { finals, type Shop, type World } from '../world';
import { ask } from '../bench/conversions';
import { dispatched } from '../bench/measure';
import type { Payer } from '../bench/payouts';
import { End } from './end';
import type { Sample } from './growth';

/** What people ask of the service all the time while it is looked at. */

/** Unpaid payments end after so many seconds, the fewest there are: from then on as many end as begin. */
const expiresIn = 60;
/** One of so many creations names no currency; the others take turns. */
const currencies = ['BTC', 'ETH', 'USDT_ERC20', undefined] as const;
/** Milliseconds between two acts of a kind. A key converts five times a minute at the most, and an authenticator has
 *  two codes a minute. */
const pauses = { pay: 3000, convert: 15_000, payOut: 45_000 } as const;
/** While the service warms up what is seldom comes more often, so that its code is compiled and its caches are full. */
const warmPauses: Readonly<Record<keyof typeof pauses, number>> = { pay: 1000, convert: 15_000, payOut: 30_000 };
const payoutLines = 10;
const lanes = 16;

/** Acts that are due one after the other, so many a second; whoever is late does not wait. */
async function paced(perSecond: number, end: End, act: (n: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      const n = next++;
      await end.orAt(began + (n * 1000) / perSecond);
      if (end.isOver()) return;
      await act(n);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Milliseconds of all processors since the machine has started, and those without work. */
function processorTimes(): Readonly<{ all: number; idle: number }> {
  const times = cpus().map((one) => one.times);
  const sum = (of: (one: (typeof times)[number]) => number): number => times.reduce((total, one) => total + of(one), 0);
  return {
    all: sum(({ user, nice, sys, irq, idle }) => user + nice + sys + irq + idle),
    idle: sum(({ idle }) => idle),
  };
}

export class Load {
  /** How long each creation took, ms. */
  readonly creations: Sample[] = [];
  /** Payments that were paid in full. */
  readonly paid: string[] = [];
  readonly conversions: string[] = [];
  readonly payouts: string[] = [];

  constructor(
    private readonly world: World,
    private readonly shop: Shop,
    private readonly converter: Shop,
    private readonly payer: Payer,
    private readonly callbackUrl: string,
  ) {}

  /** Everything at once, creations so many a second; throws at the first refusal. `warmMs`: the moment until which the
   *  service warms up. */
  async run(perSecond: number, warmMs: number, end: End): Promise<void> {
    const every = async (kind: keyof typeof pauses, act: (n: number) => Promise<void>): Promise<void> => {
      for (let n = 0; !end.isOver(); n += 1) {
        const began = performance.now();
        await act(n);
        await end.orAt(began + (began < warmMs ? warmPauses : pauses)[kind]);
      }
    };
    await Promise.all([
      ...(perSecond > 0 ? [paced(perSecond, end, (n) => this.create(currencies[n % currencies.length]))] : []),
      every('pay', (n) => this.pay(currencies[n % 3]!)),
      every('convert', () => this.convert()),
      every('payOut', () => this.payOut()),
    ]);
  }

  /** How many creations a second this machine carries to their end beside all else: what it carries alone, of the share
   *  of its processors that the rest leaves. */
  async most(seconds: number, mostMs: number): Promise<number> {
    const alone = await this.mostAlone(seconds, mostMs);
    const end = new End(performance.now() + 3000 * seconds);
    const before = processorTimes();
    await this.run(0, 0, end);
    const after = processorTimes();
    return (alone * (after.idle - before.idle)) / (after.all - before.all);
  }

  /** How many a second it carries where nothing else is asked of it: it makes as many as it can for some seconds, tells
   *  of them, and then ends all of them at their deadlines and tells of that. Throws where one of these takes longer
   *  than `mostMs`. */
  private async mostAlone(seconds: number, mostMs: number): Promise<number> {
    const began = performance.now();
    const lane = async (): Promise<void> => {
      for (let n = 0; performance.now() - began < seconds * 1000; n += 1) await this.create(currencies[n % 4]);
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    await this.told(mostMs);
    const creating = performance.now() - began;
    await sleep(began + expiresIn * 1000 - performance.now());
    const due = performance.now();
    await this.world.until('all have ended', async () => !(await this.unfinished()).length, mostMs);
    await this.told(mostMs);
    return this.creations.length / ((creating + performance.now() - due) / 1000);
  }

  /** Every event has come to its receiver. */
  async told(mostMs: number): Promise<void> {
    await dispatched(this.world);
    const left = `SELECT FROM delivery WHERE status <> 'succeeded' AND url = $1 LIMIT 1`;
    const isTold = async (): Promise<boolean> => !(await this.world.db.query(left, [this.callbackUrl])).length;
    await this.world.until('every event is delivered', isTold, mostMs);
  }

  private async create(currency: string | undefined): Promise<void> {
    const began = performance.now();
    const { callbackUrl: ipnCallbackUrl } = this;
    await this.post(this.shop, '/api/v1/payments', { amount: 25, currency, expiresIn, ipnCallbackUrl });
    this.creations.push({ atMs: began, value: performance.now() - began });
  }

  private async pay(currency: string): Promise<void> {
    const { callbackUrl: ipnCallbackUrl } = this;
    const made = await this.post(this.shop, '/api/v1/payments', { amount: 25, currency, ipnCallbackUrl });
    const page = await fetch(this.world.stack.part('checkout-1').url + new URL(made.invoiceUrl, 'http://any').pathname);
    if (!page.ok || !(await page.text()).includes(made.depositAddress))
      throw new Error(`The page of ${made.paymentId}`);
    await this.world.payer.pay(currency, made.depositAddress, String(made.amount));
    this.paid.push(made.paymentId);
  }

  private async convert(): Promise<void> {
    const made = await this.post(this.converter, '/api/v1/conversions', ask);
    this.conversions.push((made.data ?? made)._id);
  }

  private async payOut(): Promise<void> {
    // The run outlasts an access token.
    await this.payer.ann.post('/api/v1/auth/refresh');
    const rows = await this.payer.rows(Array.from({ length: payoutLines }, () => 'ETH' as const));
    this.payouts.push(await this.payer.queue(rows));
  }

  private async post(shop: Shop, path: string, body: object) {
    const answer = await this.world.call(shop, 'POST', path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** What has not come to its end: each by its id and status. Who has named no currency has days to do so. */
  async unfinished(): Promise<string[]> {
    const rows = (await this.world.db.query(
      `SELECT 'payment ' || id || ' ' || status AS what FROM payment
        WHERE (id = ANY($1) AND status <> 'SETTLED') OR NOT status = ANY($2)
       UNION ALL SELECT 'conversion ' || id || ' ' || status FROM conversion
        WHERE id = ANY($3) AND status <> 'completed'
       UNION ALL SELECT 'payout ' || id || ' ' || status FROM payout_batch
        WHERE id = ANY($4) AND status <> 'completed'`,
      [this.paid, [...finals, 'AWAITING_CURRENCY'], this.conversions, this.payouts],
    )) as Array<{ what: string }>;
    return rows.map(({ what }) => what);
  }
}
