import { setTimeout as sleep } from 'node:timers/promises';
import { byTwoOperators } from '../../operators';
import { readConversion } from '../../../db/conversions/conversions';
import { assetOf } from '../../../domain/chains/assets';
import { notNow, type ConversionRow } from '../../../domain/conversions/conversion';
import { DomainError } from '../../../domain/errors';
import { add, compare, negate, times } from '../../../domain/money';
import { swapMessages } from '../../../domain/conversions/swap';
import { providerFaults, type ProviderFault } from '../../../sandbox/parts/swap';
import { patienceMs, type Scenario, type Stage } from '../stage';
import { amountOf } from './amounts';

/** Pairs that a provider converts; the world is told so at its start. */
export const externalPairs = [
  ['BTC', 'ETH'],
  ['ETH', 'USDT_ERC20'],
] as const;
const internalPairs = [
  ['USDT_ERC20', 'ETH'],
  ['USDT_ERC20', 'BTC'],
  ['ETH', 'BTC'],
] as const;

type Order = Readonly<{
  fault: ProviderFault | null;
  fromAmount: string;
  toAmount: string;
  payinAddress: string;
  payoutAddress: string;
  received: string | null;
  payoutHashes: readonly string[];
  payload: Readonly<{ conversionId?: string }> | null;
}>;
type Ended = Readonly<{ status: string; credit: string }>;

/** What a conversion must come to, by what its order's provider did; docs/conversions.md. */
function endsOf(order: Order, to: string): readonly Ended[] {
  const failed = { status: 'failed', credit: '0' };
  const completed = { status: 'completed', credit: order.toAmount };
  switch (order.fault) {
    case 'expired':
    case 'refund':
    case 'failed':
    case 'failed-then-completed':
    case 'wrong-asset': // an operator has ended it
      return [failed];
    case 'short': {
      const decimals = Math.min(8, assetOf(to).decimals);
      return [{ status: 'completed', credit: times(order.toAmount, '0.9', decimals, 'down') }];
    }
    case 'completed-then-failed': // whichever of the two was heard first
      return [completed, failed];
    default:
      return [completed];
  }
}
const incidentAfter: Partial<Record<ProviderFault, string>> = {
  twice: 'swap-surplus',
  'failed-then-completed': 'swap-contradiction',
  'wrong-asset': 'swap-wrong-asset',
  'unknown-status': 'swap-unknown',
};
const nothingIsSent: readonly ProviderFault[] = ['expired'];

/** A conversion over HTTP, one key until its answer is known: our own, or a provider's with a fault that is drawn. */
export const scenario: Scenario = (random, name) => {
  const isExternal = random.next() < 0.75;
  const [from, to] = random.pick<readonly [(typeof externalPairs)[number][0] | 'USDT_ERC20', string]>(
    isExternal ? externalPairs : internalPairs,
  );
  const fault = random.pick([null, ...providerFaults]);
  // A provider takes nothing below twenty dollars.
  const amount = add(amountOf(random, from), { BTC: '0.0005', ETH: '0.01', USDT_ERC20: '30' }[from]);
  const holdMs = random.whole(0, 8000);
  return {
    what: `${name}: ${amount} ${from} to ${to}${isExternal ? `, ${fault ?? 'no fault'}` : ''}`,
    async live(stage) {
      if (isExternal && fault) {
        if (fault === 'refuse') stage.refusals += 1;
        await control(stage, 'fault', { kind: fault });
      }
      const id = await execute(stage, { fromCurrency: from, toCurrency: to, fromAmount: amount, idempotencyKey: name });
      const last = isExternal ? await seeThrough(stage, id, holdMs) : await ended(stage, id);
      const mayEnd = stage.pricesMove ? ['completed', 'cancelled'] : ['completed'];
      if (!isExternal && !mayEnd.includes(last.status)) stage.problems.push(`conversion ${id} ended ${last.status}`);
      if (last.status !== 'completed') return;
      stage.changes.push({ currency: from, amount: negate(last.from_amount) });
      stage.changes.push({ currency: to, amount: last.credit_amount ?? last.to_amount! });
    },
  };
};

/** A message to the provider's control, which may be down. */
async function control(stage: Stage, path: string, body: object): Promise<void> {
  const url = `${stage.world.stack.swap!.url}/sandbox/${path}`;
  for (;;) {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) }).catch(() => null);
    if (answer?.ok) return;
    await sleep(200);
  }
}

/** By its key, until its answer is known. */
export async function execute(stage: Stage, body: Readonly<Record<string, string>>): Promise<string> {
  const { world, shop } = stage;
  for (const end = Date.now() + patienceMs; ; await sleep(1000)) {
    const answer = await stage.insist(() => world.call(shop, 'POST', '/api/v1/conversions', body));
    if (answer.status === 201) return answer.body._id as string;
    const code = (answer.body?.error?.code ?? answer.body?.code) as string | undefined;
    // It has failed already, and an earlier answer was lost; or the price moved, which ends it.
    if (code === 'IDEMPOTENCY_KEY_CONSUMED' || (stage.pricesMove && answer.body?.error === 'RATE_DRIFT')) {
      const [row] = await stage.read<{ id: string }>(
        'SELECT id FROM conversion WHERE merchant_id = $1 AND idempotency_key = $2',
        [shop.id, body.idempotencyKey],
      );
      return row!.id;
    }
    // Its provider is down for a moment: the client asks again, as the answer says.
    const isLater = code === 'CONVERSION_IN_PROGRESS' || answer.body?.error?.message === notNow;
    if (!isLater || Date.now() > end) throw new Error(`No conversion: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

const read = (stage: Stage, id: string): Promise<ConversionRow | null> =>
  readConversion(stage.world.db, stage.shop.id, id).catch(() => null);
const ends = ['completed', 'failed', 'cancelled'];
const isOver = (row: ConversionRow | null): boolean => row !== null && ends.includes(row.status);
export const ended = (stage: Stage, id: string): Promise<ConversionRow> =>
  stage.ended(`conversion ${id}`, ends, () => read(stage, id));
/** The provider may be down: that is no answer. */
async function orders(stage: Stage): Promise<Order[]> {
  for (const end = Date.now() + patienceMs; ; await sleep(200))
    try {
      const answer = await fetch(`${stage.world.stack.swap!.url}/sandbox/orders`);
      return ((await answer.json()) as { orders: Order[] }).orders;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
}
async function orderOf(stage: Stage, id: string): Promise<Order | null> {
  const [ours] = await stage.read<{ payout_address: string }>(
    'SELECT payout_address FROM swap_order WHERE conversion_id = $1',
    [id],
  );
  const found = (await orders(stage)).filter((order) => order.payoutAddress === ours?.payout_address);
  if (found.length > 1) stage.problems.push(`conversion ${id} has ${found.length} orders`);
  return found[0] ?? null;
}
const incidents = async (stage: Stage, id: string): Promise<string[]> =>
  (await stage.read<{ kind: string }>(`SELECT kind FROM incident WHERE details->>'conversionId' = $1`, [id])).map(
    ({ kind }) => kind,
  );

/** Plays the provider's part to its end, and compares. */
async function seeThrough(stage: Stage, id: string, holdMs: number): Promise<ConversionRow> {
  const { world } = stage;
  let order: Order | null = null;
  await world.until(
    `conversion ${id} has an order or an end`,
    async () => {
      order = (await orderOf(stage, id)) ?? order;
      if (order && (order.received !== null || nothingIsSent.includes(order.fault!))) return true;
      return isOver(await read(stage, id));
    },
    patienceMs,
  );
  order ??= await orderOf(stage, id);
  if (!order) {
    const row = await ended(stage, id);
    if (stage.pricesMove && row.status === 'failed' && row.merchant_message === swapMessages.worse) return row;
    stage.refusals -= 1;
    if (row.status !== 'failed' || row.merchant_message !== swapMessages.refused || stage.refusals < 0)
      stage.problems.push(`conversion ${id} ended ${row.status} without an order: ${row.merchant_message}`);
    return row;
  }
  const { fault, payoutAddress } = order;
  const isReleasedAfter = fault === 'twice' || fault === 'failed-then-completed';
  if (isReleasedAfter) await ended(stage, id);
  await sleep(holdMs);
  if (fault === 'unknown-status' || fault === 'wrong-asset') await told(stage, id, incidentAfter[fault]!);
  await control(stage, 'release', { payoutAddress });
  if (fault === 'wrong-asset')
    await world.until(`an operator ends conversion ${id}`, () => giveUp(stage, id), patienceMs);
  const row = await ended(stage, id);
  if (fault && incidentAfter[fault]) await told(stage, id, incidentAfter[fault]);
  const credit = row.credit_amount ?? '0';
  const wanted = endsOf(order, row.to_currency);
  if (
    !wanted.some((one) => one.status === row.status && (row.status === 'failed' || compare(one.credit, credit) === 0))
  )
    stage.problems.push(
      `conversion ${id} (${fault}) ended ${row.status} with ${credit}, not ` +
        wanted.map((one) => `${one.status} with ${one.credit}`).join(' or '),
    );
  // Our deposit is there once, to the last digit, or not at all.
  const expected = nothingIsSent.includes(fault!) ? '0' : order.fromAmount;
  stage.recipients.push({
    what: `deposit of conversion ${id}`,
    currency: row.from_currency,
    address: order.payinAddress,
    expected,
  });
  return row;
}

const told = (stage: Stage, id: string, kind: string): Promise<void> =>
  stage.world.until(
    `people are told of ${kind}, conversion ${id}`,
    async () => (await incidents(stage, id)).includes(kind),
    patienceMs,
  );

async function giveUp(stage: Stage, id: string): Promise<boolean> {
  if (isOver(await read(stage, id))) return true;
  try {
    await byTwoOperators(stage.world.db, 'end-conversion', { conversionId: id });
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === 'ACT_REFUSED') await sleep(500);
    return false;
  }
}
