import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { createAdapter, createCodecs } from '../../activities/chain';
import { addToWhitelist } from '../../db/whitelist';
import { cancelWithdrawal, openWithdrawal } from '../../db/withdrawals';
import { assetOf } from '../../domain/assets';
import { parseConfig } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { add, compare, fit, subtract, times, toUnits } from '../../domain/money';
import { World, finals, type Invoice, type Shop } from '../world';
import { Random } from './random';

/** One payment of the plan: how it is paid, in what, and where it must end. */
/** `withdrawn`: paid in full, then a part of it is withdrawn, or called back on its way out. */
type Kind = 'full' | 'withdrawn' | 'partThenRest' | 'over' | 'lateByMempool' | 'cancelled' | 'expired';
type Case = Readonly<{ n: number; kind: Kind; currency: string; fiat: number; startAfterMs: number; share: number }>;

export type TortureOptions = Readonly<{
  seed: number;
  payments: number;
  minutes: number;
  kills: boolean;
  say: (line: string) => void;
}>;
export type TortureReport = Readonly<{
  payments: number;
  kills: Record<string, number>;
  problems: string[];
  seconds: number;
}>;

const currencies = ['BTC', 'ETH', 'USDT_ERC20'];
const kinds: readonly Kind[] = [
  'full',
  'full',
  'withdrawn',
  'withdrawn',
  'partThenRest',
  'partThenRest',
  'over',
  'lateByMempool',
  'cancelled',
  'expired',
];
const victims = ['payments-1', 'chain-1', 'signer-1', 'api-1', 'temporal', 'postgres'];

/** What `seed` stands for: the payments and the kills, drawn before anything starts. */
export function planOf({ seed, payments, minutes }: Pick<TortureOptions, 'seed' | 'payments' | 'minutes'>): {
  cases: Case[];
  kills: Array<{ atMs: number; victim: string; downMs: number }>;
} {
  const random = new Random(seed);
  const span = minutes * 60_000;
  const cases = Array.from({ length: payments }, (_, n): Case => {
    const kind = random.pick(kinds);
    return {
      n,
      kind,
      currency: kind === 'lateByMempool' ? 'BTC' : random.pick(currencies),
      fiat: random.whole(20, 90),
      startAfterMs: random.whole(0, Math.round(span * 0.7)),
      share: random.whole(20, 80) / 100,
    };
  });
  const kills: Array<{ atMs: number; victim: string; downMs: number }> = [];
  // Each victim at least once, then by chance.
  for (let at = 4000, k = 0; at < span * 0.85; at += random.whole(6000, 14_000), k += 1) {
    kills.push({ atMs: at, victim: victims[k] ?? random.pick(victims), downMs: random.whole(200, 2500) });
  }
  return { cases, kills };
}

/** Payments of all kinds while every process is killed and started again, all drawn from the seed; then calm, and the reckoning. The same
 *  seed gives the same schedule, not the same interleaving. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { say } = options;
  const { cases, kills } = planOf(options);
  const problems: string[] = [];
  const killed: Record<string, number> = {};
  const world = await World.start({
    miner: true,
    restartAfterMs: 500,
    env: { QUOTE_TTL_SECONDS: '600', PROXY_COUNT: '1' },
  });
  const config = parseConfig(world.stack.env);
  const codecs = createCodecs(config.chain);
  const withdrawals: Array<{ currency: string; address: string; expected: string }> = [];
  const began = Date.now();
  try {
    const shop = await world.shop();
    const killing = options.kills ? kill() : Promise.resolve();
    const ends = Promise.all(
      cases.map((one) =>
        live(one, shop).catch(
          (error: Error) => void problems.push(`payment ${one.n} (${one.kind}, ${one.currency}): ${error.message}`),
        ),
      ),
    );
    await killing;
    await ends;
    say('Calm: draining');
    await reckon(shop);
  } finally {
    await world.stop({ keep: problems.length > 0 });
    if (problems.length) say(`Logs and data are kept in ${world.dataDir}`);
  }
  return { payments: cases.length, kills: killed, problems, seconds: Math.round((Date.now() - began) / 1000) };

  async function kill(): Promise<void> {
    for (const { atMs, victim, downMs } of kills) {
      await sleep(Math.max(0, began + atMs - Date.now()));
      const part = world.stack.part(victim);
      say(`${Math.round((Date.now() - began) / 1000)} s: kill -9 ${victim}, down ${downMs} ms`);
      await part.kill9();
      killed[victim] = (killed[victim] ?? 0) + 1;
      await sleep(downMs);
      for (let tries = 1; ; tries += 1) {
        try {
          await part.start();
          break;
        } catch (error) {
          // PostgreSQL may refuse until the orphans of its postmaster are gone.
          if (tries === 10) throw error;
          await sleep(1000);
        }
      }
    }
  }

  async function live(one: Case, shop: Shop): Promise<void> {
    await sleep(one.startAfterMs);
    const isShort = one.kind === 'expired' || one.kind === 'lateByMempool';
    const invoice = await world.invoice(shop, {
      amount: one.fiat,
      currency: one.currency,
      expiresIn: isShort ? 60 : 3600,
    });
    const due = plain(invoice.amount);
    switch (one.kind) {
      case 'full':
        await pay(invoice, due);
        return ends(shop, invoice, 'SETTLED', due);
      case 'withdrawn':
        await pay(invoice, due);
        await ends(shop, invoice, 'SETTLED', due);
        return withdraw(one, shop, due);
      case 'over': {
        const more = add(due, plain(round(invoice.amount * one.share, one.currency)));
        await pay(invoice, more);
        return ends(shop, invoice, 'SETTLED', more);
      }
      case 'partThenRest': {
        const part = plain(round(invoice.amount * one.share, one.currency));
        await pay(invoice, part);
        await world.sees(shop, invoice.id, ['PARTIALLY_PAID'], { ms: 120_000 });
        await pay(invoice, subtract(due, part));
        return ends(shop, invoice, 'SETTLED', due);
      }
      case 'lateByMempool':
        // Near its end, so that its blocks come after it.
        await sleep(45_000);
        await pay(invoice, due);
        return ends(shop, invoice, 'SETTLED', due);
      case 'cancelled': {
        // Each payer has an address of their own: the limit on cancels is not what is tried here.
        const payer = `10.1.${(one.startAfterMs >> 8) % 256}.${one.startAfterMs % 256}`;
        await world.until(
          'the cancel is answered',
          async () => {
            const answer = await world
              .call(null, 'POST', `/invoice/${invoice.slug}/cancel`, { confirm: true }, { 'x-forwarded-for': payer })
              .catch(() => null);
            return (
              answer?.status === 200 ||
              (await world.payment(shop, invoice.id).catch(() => null))?.status === 'CANCELLED'
            );
          },
          120_000,
        );
        return ends(shop, invoice, 'CANCELLED', '0');
      }
      case 'expired':
        return ends(shop, invoice, 'EXPIRED', '0');
    }
  }

  /** What a person does, without the factor: the same key until the answer is known, whatever dies meanwhile. */
  async function withdraw(one: Case, shop: Shop, paid: string): Promise<void> {
    const { currency } = one;
    const codec = codecs[assetOf(currency).network];
    const address = codec.derive(codec.extendedKey(Buffer.alloc(64, one.n + 1), 'deposit'), 0);
    const by = { id: 'a'.repeat(24), email: 'torture@shop.example' };
    const ask = { currency, address, feeMode: 'deduct' as const, amount: times(paid, '0.8', 6, 'down') };
    const surely = async <T>(act: (tx: EntityManager) => Promise<T>): Promise<T> => {
      for (;;)
        try {
          return await world.db.transaction(act);
        } catch (error) {
          if (error instanceof DomainError && error.code !== 'RATE_UNAVAILABLE') throw error;
          await sleep(500);
        }
    };
    const entry = { type: 'wallet' as const, currency, address, destinationTag: null };
    await surely((tx) => addToWhitelist(tx, shop.id, by, entry)).catch((error: DomainError) => {
      // Of a commit whose answer was lost.
      if (error.code !== 'ALREADY_WHITELISTED') throw error;
    });
    const deps = { codecs, rateMaxAgeSeconds: 3600 };
    const { row } = await surely((tx) => openWithdrawal(tx, deps, shop.id, ask, by, `torture-${one.n}`));
    const isCalledBack = one.share > 0.6;
    if (isCalledBack) {
      await sleep(Math.round((one.share - 0.6) * 10_000));
      await surely((tx) => cancelWithdrawal(tx, shop.id, row.id)).catch((error: DomainError) => {
        if (error.code !== 'WITHDRAWAL_STATE') throw error;
      });
    }
    const last = (): Promise<{ status: string }> =>
      world.db.query('SELECT status FROM withdrawal WHERE id = $1', [row.id]).then((rows) => rows[0]) as never;
    await world.until(
      `withdrawal ${row.id} has ended`,
      async () => ['completed', 'cancelled'].includes((await last().catch(() => null))?.status ?? ''),
      300_000,
    );
    const { status } = await last();
    if (status === 'cancelled' && !isCalledBack) problems.push(`withdrawal ${row.id} was cancelled by nobody`);
    withdrawals.push({ currency, address, expected: status === 'completed' ? row.net_amount : '0' });
  }

  async function pay(invoice: Invoice, amount: string): Promise<void> {
    await world.payer.pay(invoice.currency!, invoice.address, amount);
  }

  async function ends(shop: Shop, invoice: Invoice, status: string, paid: string): Promise<void> {
    const last = await world.sees(shop, invoice.id, finals, { ms: 300_000 });
    if (last.status !== status || compare(plain(last.amountPaid), paid) !== 0) {
      problems.push(`payment ${invoice.id} ended ${last.status} with ${last.amountPaid}, not ${status} with ${paid}`);
    }
  }

  /** What the chain says is there; of coins the audit says it. */
  async function holdingOf(currency: string, address: string): Promise<bigint | null> {
    const adapter = createAdapter(assetOf(currency).network, config);
    return adapter.holding(address, currency, (await adapter.head()).height);
  }

  /** The books against the chain, against the payer's own list, and every event against what the receiver got. */
  async function reckon(shop: Shop): Promise<void> {
    await world.until(
      'the outbox is empty',
      async () => !(await world.db.query('SELECT FROM temporal_request')).length,
      60_000,
    );
    await world
      .until(
        'every event is delivered',
        async () => !(await world.db.query(`SELECT FROM delivery WHERE status <> 'succeeded'`)).length,
        120_000,
      )
      .catch(async () => {
        const open = await world.db.query(`SELECT status, count(*)::int AS n FROM delivery GROUP BY status`);
        problems.push(`deliveries: ${JSON.stringify(open)}`);
      });
    const got = new Set(world.received.map((event) => event.id));
    const events = (await world.db.query(
      'SELECT id, type, seq::int AS seq FROM event WHERE merchant_id = $1 ORDER BY seq',
      [shop.id],
    )) as Array<{ id: string; type: string; seq: number }>;
    events.forEach((event, index) => {
      if (event.seq !== index + 1) problems.push(`event ${event.id} has seq ${event.seq} and not ${index + 1}`);
      // IPN carries what happens to payments; other events go to endpoints, and this shop has none.
      if (event.type.startsWith('payment.') && !got.has(event.id))
        problems.push(`event ${event.id} never reached the receiver`);
    });
    for (const currency of currencies) {
      const sent = add(
        '0',
        ...world.payer.sent.filter((payment) => payment.currency === currency).map((payment) => payment.amount),
      );
      const [row] = (await world.db.query(
        `SELECT coalesce(sum(amount), 0)::text AS booked FROM deposit WHERE currency = $1 AND home IN ('settled', 'unsettled', 'unallocated')`,
        [currency],
      )) as Array<{ booked: string }>;
      if (compare(sent, row!.booked) !== 0)
        problems.push(`${currency}: the payer sent ${sent}, the books have ${row!.booked}`);
    }
    for (const { currency, address, expected } of withdrawals) {
      const { network, decimals } = assetOf(currency);
      const held = await holdingOf(currency, address);
      if (held !== null && held !== toUnits(fit(expected, decimals, 'down'), decimals))
        problems.push(`${currency} withdrawn to ${address} on ${network}: ${held} base units, not ${expected}`);
    }
    for (const violation of await world.audit())
      problems.push(`${violation.invariant}: ${violation.what}: ${violation.found.join('; ')}`);
  }
}

const plain = (amount: number): string => add('0', amount.toFixed(8).replace(/\.?0+$/, '') || '0');
const round = (amount: number, currency: string): number =>
  parseFloat(amount.toFixed(currency.startsWith('USD') ? 2 : 6));
