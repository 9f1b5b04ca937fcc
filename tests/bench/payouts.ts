import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { inParallel } from '../../chains/json-rpc';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { assetOf } from '../../domain/chains/assets';
import { parseConfig, type Config } from '../../domain/config';
import { available } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { add, subtract, toUnits } from '../../domain/money';
import { call } from '../../sandbox/parts/json-rpc';
import type { Visitor } from '../../sandbox/visitor';
import { World } from '../world';
import { median, percentile, report, rounds } from './measure';

const count = 500;
const validations = 20;
const path = '/api/v1/mass-payouts';
/** Ether last, and as often as anything is measured: its rate is that of processes at work, and a median. */
const currencies = ['BTC', 'USDT_ERC20', 'ETH'] as const;
type Currency = (typeof currencies)[number];
/** `CURRENCIES=ETH`: payouts in these alone, and none in several. */
const only = process.env['CURRENCIES']?.split(',');
const batches = [...currencies, ...Array.from({ length: rounds - 1 }, () => 'ETH' as const)].filter(
  (currency) => only?.includes(currency) ?? true,
);
/** With more digits than Bitcoin and the token have. */
const amounts: Record<Currency, string> = {
  ETH: '0.012345678901234567',
  BTC: '0.00123456789',
  USDT_ERC20: '3.4567891',
};
const treasury: Record<Currency, string> = { ETH: '60', BTC: '4', USDT_ERC20: '10000' };
/** The rest is for what fees come to beyond their estimates. */
const credited: Record<Currency, string> = { ETH: '50', BTC: '3', USDT_ERC20: '10000' };

type Row = Readonly<{ currency: Currency; address: string; amount: string }>;
type Line = Row & Readonly<{ status: string; netToDestination: string; networkFee: string }>;
type Batch = Readonly<{
  status: string;
  totalsByCurrency: Record<string, string>;
  feeByCurrency: Record<string, string>;
  legs: readonly Line[];
}>;

/** Mass payouts of 500 rows: how long they take, beside what the node alone takes of transactions that are signed
 *  already; and that every recipient has exactly what its row says, by what the chains say. */
export async function payouts(): Promise<void> {
  const world = await World.start({ miner: true, env: { LOG_LEVEL: 'warn' } });
  try {
    const shop = await Payer.open(world);
    const all: number[] = [];
    const raw: Acceptance[] = [];
    const ether: string[] = [];
    for (const currency of batches) {
      const rows = await shop.rows(Array.from({ length: count }, () => currency));
      const times: number[] = [];
      for (let n = 0; n < validations; n += 1) {
        const start = performance.now();
        await shop.ann.post(`${path}/validate`, { rows });
        times.push(performance.now() - start);
        if (n % 10 === 9) await world.db.query('DELETE FROM rate_limit');
      }
      all.push(...times);
      // Before the first and after each, for machines are not equally fast all the time.
      if (currency === 'ETH' && !raw.length) raw.push(await rawAcceptance(world, shop.codecs.ethereum));
      const before = await shop.balances();
      const id = await shop.queue(rows);
      const batch = await shop.ends(id);
      const wrong = await shop.wrong(batch, before);
      if (currency === 'ETH') {
        ether.push(id);
        raw.push(await rawAcceptance(world, shop.codecs.ethereum));
      }
      const events = await eventsOf(world, `payout-batch/${id}`);
      report({
        name: `history of a payout of ${count} lines, ${currency}`,
        value: events,
        unit: 'events',
        limit: '≤ 2,000',
        holds: events <= 2000,
        detail: await took(world, id),
      });
      reportWrong(`${count} rows of ${currency}, ${batch.status}`, wrong);
    }
    if (ether.length) await reportLines(world, shop.codecs.ethereum, ether, raw);
    const [p50, p99] = [percentile(all, 0.5), percentile(all, 0.99)];
    report({
      name: `validation of ${count} rows, p99 ÷ p50`,
      value: p99 / p50,
      unit: '×',
      detail: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    });
    for (const isCancelled of only ? [] : [false, true]) {
      const rows = await shop.rows(Array.from({ length: count }, (_, n) => currencies[n % currencies.length]!));
      const before = await shop.balances();
      const id = await shop.queue(rows);
      if (isCancelled) {
        const sent = `SELECT FROM payout_leg WHERE batch_id = $1 AND status IN ('broadcast', 'completed') LIMIT 1`;
        await world.until('some are sent', async () => (await world.db.query(sent, [id])).length > 0, 120_000);
        await shop.ann.post(`${path}/${id}/cancel`);
      }
      const batch = await shop.ends(id);
      const paid = batch.legs.filter((line) => line.status === 'completed').length;
      const what = isCancelled ? `cancelled in the middle, ${paid} paid` : batch.status;
      reportWrong(`${count} rows of three currencies, ${what}`, await shop.wrong(batch, before));
    }
    const audit = await world.audit();
    if (audit.length) throw new Error(`The audit found ${JSON.stringify(audit)}`);
  } finally {
    await world.stop();
  }
}

function reportWrong(what: string, wrong: readonly string[]): void {
  report({
    name: `recipients and books that differ: ${what}`,
    value: wrong.length,
    unit: 'found',
    limit: '0',
    holds: !wrong.length,
    detail:
      wrong.slice(0, 3).join('; ') || 'each recipient has netToDestination, fees and ledger agree to the last digit',
  });
}

/** A merchant with a full treasury behind it. */
export class Payer {
  private readonly config: Config;
  readonly codecs: ReturnType<typeof createCodecs>;
  private constructor(
    private readonly world: World,
    readonly ann: Visitor,
    private readonly merchant: Readonly<{ merchantId: string; id: string }>,
  ) {
    this.config = parseConfig(world.stack.env);
    this.codecs = createCodecs(this.config.chain);
  }

  static async open(world: World): Promise<Payer> {
    const ann = world.visitor('ann@payouts.example');
    await ann.register('Payouts');
    const merchant = await ann.enrol();
    for (const currency of currencies) {
      await world.payIn(currency, treasury[currency], 120_000);
      const credit = available(merchant.merchantId);
      await world.db.transaction((tx) =>
        post(tx, {
          key: `bench/${currency}`,
          entry: adjustment,
          postings: [{ debit: 'Q:capital', credit, asset: currency, amount: credited[currency] }],
        }),
      );
    }
    return new Payer(world, ann, merchant);
  }

  /** A row to a new address of the whitelist for each. */
  async rows(wanted: readonly Currency[]): Promise<Row[]> {
    const { bitcoin, ethereum } = this.codecs;
    const xpub = bitcoin.extendedKey(randomBytes(64), 'deposit');
    return inParallel(
      wanted.map((currency, n) => ({ currency, n })),
      4,
      async ({ currency, n }) => {
        const address =
          currency === 'BTC' ? bitcoin.derive(xpub, n) : ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!;
        const entry = { type: 'wallet', currency, address, destinationTag: null } as const;
        const by = { id: this.merchant.id, email: this.ann.email };
        await addToWhitelist(this.world.db.manager, this.merchant.merchantId, by, entry);
        return { currency, address, amount: amounts[currency] };
      },
    );
  }

  async queue(rows: readonly Row[]): Promise<string> {
    return (await this.ann.post(path, { rows, totpCode: await this.ann.totpCode() })).body.data._id;
  }
  private read = async (id: string): Promise<Batch> => (await this.ann.call('GET', `${path}/${id}`)).body.data;
  async ends(id: string): Promise<Batch> {
    const ended = 'SELECT FROM payout_batch WHERE id = $1 AND completed_at IS NOT NULL';
    await this.world.until('all have ended', async () => (await this.world.db.query(ended, [id])).length > 0, 600_000);
    return this.read(id);
  }
  async balances(): Promise<Record<string, { balance: string; reserved: string }>> {
    const { balances } = (await this.ann.call('GET', '/api/v1/ledger/balances')).body;
    return Object.fromEntries(balances.map((one: { currency: string }) => [one.currency, one]));
  }

  /** Whatever is not as the rows say: on the chains, in the batch's sums, in the balances, in the statement. */
  async wrong(batch: Batch, before: Awaited<ReturnType<Payer['balances']>>): Promise<string[]> {
    const found: string[] = [];
    const held = await this.held(batch.legs);
    for (const line of batch.legs) {
      const paid = line.status === 'completed' ? toUnits(line.netToDestination, assetOf(line.currency).decimals) : 0n;
      const has = held.get(line.address) ?? 0n;
      if (has !== paid) found.push(`${line.address} has ${has} and not ${paid}`);
      if (!['completed', 'refunded'].includes(line.status)) found.push(`${line.address} is ${line.status}`);
    }
    const after = await this.balances();
    for (const currency of new Set(batch.legs.map((line) => line.currency))) {
      const lines = batch.legs.filter((line) => line.currency === currency);
      const sum = (some: readonly Line[], part: (line: Line) => string): string => add('0', ...some.map(part));
      const figures = [
        [sum(lines, (line) => add(line.netToDestination, line.networkFee)), batch.totalsByCurrency[currency]],
        [sum(lines, (line) => line.networkFee), batch.feeByCurrency[currency]],
        [
          after[currency]?.balance,
          subtract(
            before[currency]!.balance,
            sum(
              lines.filter((line) => line.status === 'completed'),
              (line) => line.amount,
            ),
          ),
        ],
        [after[currency]?.reserved, before[currency]?.reserved],
      ];
      for (const [is, wanted] of figures) if (is !== wanted) found.push(`${currency}: ${is} and not ${wanted}`);
    }
    return found;
  }

  /** Base units that the chains say each recipient has. */
  private async held(lines: readonly Line[]): Promise<Map<string, bigint>> {
    const held = new Map<string, bigint>();
    const bitcoin = createAdapter('bitcoin', this.config);
    const ethereum = createAdapter('ethereum', this.config);
    const { height } = await bitcoin.head();
    if (lines.some((line) => line.currency === 'BTC'))
      for (let at = 0; at <= height; at += 1)
        for (const { to, units } of (await bitcoin.readBlock(at))!.transfers)
          held.set(to, (held.get(to) ?? 0n) + units);
    const head = (await ethereum.head()).height;
    await inParallel(
      lines.filter((line) => line.currency !== 'BTC'),
      8,
      async (line) => held.set(line.address, (await ethereum.holding(line.address, line.currency, head))!),
    );
    return held;
  }
}

/** Of all runs of a workflow. */
async function eventsOf(world: World, workflowId: string): Promise<number> {
  let count = 0;
  for (let runId: string | undefined; ;) {
    const { events } = await world.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    count += events?.length ?? 0;
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
    if (!runId) return count;
  }
}

/** From the queue on. */
async function took(world: World, id: string): Promise<string> {
  const [whole] = await world.db.query(
    `SELECT extract(epoch FROM max(a.sent_at) - b.created_at)::float8 AS sent,
       extract(epoch FROM b.completed_at - b.created_at)::float8 AS ended
       FROM payout_batch b JOIN intent i ON i.owner_kind = 'payout-batch' AND i.owner_id = b.id
       JOIN attempt a ON a.intent_id = i.id
      WHERE b.id = $1 GROUP BY b.id`,
    [id],
  );
  const times = `the last is sent after ${whole.sent.toFixed(1)} s, final after ${whole.ended.toFixed(1)} s`;
  return `${times}; ${await partsOf(world, id)}`;
}

/** What takes the time between the plan of some lines and that of the next: medians of those that are planned
 *  together. Coins are not estimated. */
async function partsOf(world: World, id: string): Promise<string> {
  const [row] = await world.db.query(
    `WITH windows AS (
       SELECT i.created_at AS planned, coalesce(max(i.gas_estimated_at), i.created_at) AS estimated,
              min(a.created_at) AS begun, max(a.sent_at) AS sent, max(a.final_at) AS final, max(l.updated_at) AS booked
         FROM payout_leg l JOIN intent i ON i.id = l.intent_id JOIN attempt a ON a.intent_id = i.id AND a.n = 1
        WHERE l.batch_id = $1 GROUP BY i.created_at),
     took AS (
       SELECT estimated - planned AS estimate, begun - estimated AS hand_over, sent - begun AS sign_and_send,
              lead(planned) OVER (ORDER BY planned) - sent AS next_plan, final - sent AS finality,
              booked - final AS book
         FROM windows)
     SELECT ${parts.map((part) => `${medianMs(part)} AS ${part}`).join(', ')} FROM took`,
    [id],
  );
  const shown = parts.map((part) => `${part.replaceAll('_', ' ')} ${row[part] ?? 'none'}`);
  return `ms of a window: ${shown.join(', ')}`;
}
const parts = ['estimate', 'hand_over', 'sign_and_send', 'next_plan', 'finality', 'book'] as const;
const medianMs = (part: string): string =>
  `round(1000 * percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ${part}))::numeric)::int`;

/** `raw`: what the node took before and after the payouts. */
async function reportLines(
  world: World,
  codec: ReturnType<typeof createCodecs>['ethereum'],
  ids: readonly string[],
  raw: readonly Acceptance[],
): Promise<void> {
  // Those that are planned together, from the moment that the signer begins with the first to the last of them with the
  // node.
  const windows = await world.db.query(
    `SELECT count(*)::int AS n, extract(epoch FROM max(a.sent_at) - min(a.created_at))::float8 AS seconds FROM intent i
       JOIN attempt a ON a.intent_id = i.id
      WHERE i.owner_kind = 'payout-batch' AND i.owner_id = ANY($1) AND a.n = 1
      GROUP BY i.owner_id, i.created_at HAVING count(*) >= 32`,
    [ids],
  );
  const lines = median(windows.map((window: { n: number; seconds: number }) => window.n / window.seconds));
  const perSecond = widths.map((width) => median(raw.flatMap((some) => some.get(width)!)));
  const best = Math.max(...perSecond);
  const each = widths.map((width, n) => `${perSecond[n]!.toFixed(0)}/s from ${width} lanes`);
  const together = await batchAcceptance(world, codec);
  report({
    name: 'lines signed and broadcast ÷ raw acceptance of signed transactions',
    value: lines / best,
    unit: '×',
    limit: '≥ 0.3',
    holds: lines / best >= 0.3,
    detail:
      `${lines.toFixed(0)}/s in ${windows.length} windows against ${each.join(', ')}; ` +
      `${together.toFixed(0)}/s in one JSON-RPC batch, which not all nodes take`,
  });
}

const widths = [8, 16, 64];
type Acceptance = ReadonlyMap<number, readonly number[]>;

/** Signed transactions that anvil takes a second, by the lanes that they come from. */
async function rawAcceptance(world: World, codec: ReturnType<typeof createCodecs>['ethereum']): Promise<Acceptance> {
  const url = world.stack.anvil.url;
  const perSecond = new Map<number, number[]>();
  for (const width of widths) {
    const each: number[] = [];
    for (let n = 0; n < rounds; n += 1) {
      const raws = await signedTransfers(url, codec);
      const began = performance.now();
      await inParallel(raws, width, (raw) => call(url, 'eth_sendRawTransaction', [raw]));
      each.push(raws.length / ((performance.now() - began) / 1000));
      await dropPooled(url);
    }
    perSecond.set(width, each);
  }
  return perSecond;
}

/** The same in one request. */
async function batchAcceptance(world: World, codec: ReturnType<typeof createCodecs>['ethereum']): Promise<number> {
  const url = world.stack.anvil.url;
  const perSecond: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const raws = await signedTransfers(url, codec);
    const calls = raws.map((raw, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [raw] }));
    const began = performance.now();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) });
    const results = (await answer.json()) as Array<{ result?: string }>;
    if (!results.every((one) => one.result)) throw new Error(`The node did not take ${JSON.stringify(results)}`);
    perSecond.push(raws.length / ((performance.now() - began) / 1000));
    await dropPooled(url);
  }
  return median(perSecond);
}

/** Nothing of what was only to be measured need be mined: anvil takes minutes to trace a block of a thousand
 *  transfers. */
const dropPooled = (url: string): Promise<unknown> => call(url, 'anvil_dropAllTransactions', []);

/** As many as a window has, of a wallet of their own. */
async function signedTransfers(url: string, codec: ReturnType<typeof createCodecs>['ethereum']): Promise<string[]> {
  const seed = randomBytes(64);
  const key = { role: 'treasury' as const, index: 0 };
  const from = codec.derive(HDKey.fromMasterSeed(seed).derive(`m/44'/60'/1'`).publicExtendedKey, 0);
  await call(url, 'anvil_setBalance', [from, `0x${(10n ** 20n).toString(16)}`]);
  return Array.from(
    { length: 64 },
    (_, nonce) =>
      codec.sign(seed, {
        kind: 'account',
        from,
        key,
        nonce,
        to: from,
        value: 1n,
        gasLimit: 21_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 9n,
      }).raw,
  );
}
