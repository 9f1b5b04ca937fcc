import { add, compare, divide, subtract, times } from '../../domain/money';
import { cleared } from '../reconciled';
import type { Stage } from './stage';
import type { PriceMove } from './weather';

/** How long a quote may be older than the money that it prices: its life, and the age of the rate it was made with. */
const quoteWindowMs = 900_000;
/** Rounding of quotes, at most. */
const roundingShare = '0.998';

type Deposit = { payment_id: string; currency: string; amount: string; first_seen_at: Date };
type Settled = { id: string; fiat_amount: string; tolerance_pct: string };

/** After markets and fees have moved: nobody settled below the price, no fee above its budget, nothing blocked. */
export async function reckonWeather(stage: Stage, moves: readonly PriceMove[]): Promise<string[]> {
  return [...(await belowPrice(stage, moves)), ...(await aboveBudget(stage)), ...(await blocked(stage))];
}

/** Each settled payment against the prices that this run itself has set: the best one that a quote could have had. */
async function belowPrice({ world }: Stage, moves: readonly PriceMove[]): Promise<string[]> {
  const settled = (await world.db.query(
    `SELECT id, fiat_amount::text, tolerance_pct::text FROM payment
      WHERE status = 'SETTLED' AND parent_payment_id IS NULL AND accepted_share IS NULL AND fiat_currency = 'USD'`,
  )) as Settled[];
  const deposits = (await world.db.query(
    `SELECT d.payment_id, d.currency, p.amount::text, p.first_seen_at
       FROM deposit d CROSS JOIN LATERAL (
         SELECT i.amount, i.first_seen_at FROM deposit_part i WHERE i.deposit_id = d.id
         UNION ALL
         SELECT d.amount - coalesce(sum(i.amount), 0), d.first_seen_at FROM deposit_part i WHERE i.deposit_id = d.id) p
      WHERE d.allocation = 'settled' AND d.payment_id = ANY($1) AND d.child_payment_id IS NULL
     UNION ALL
     SELECT payment_id, 'BTC', (taken_msat / 100000000000::numeric)::text, decided_at FROM lightning_invoice
      WHERE state = 'taken' AND payment_id = ANY($1)`,
    [settled.map(({ id }) => id)],
  )) as Deposit[];
  return settled.flatMap(({ id, fiat_amount, tolerance_pct }) => {
    const own = deposits.filter((deposit) => deposit.payment_id === id);
    const worth = add('0', ...own.map((deposit) => times(deposit.amount, bestPrice(moves, deposit), 8, 'up')));
    const share = divide(subtract('100', tolerance_pct), '100', 8, 'up');
    const least = times(times(fiat_amount, share, 8, 'down'), roundingShare, 8, 'down');
    return compare(worth, least) >= 0 ? [] : [`payment ${id} of ${fiat_amount} USD settled with ${worth} USD`];
  });
}

function bestPrice(moves: readonly PriceMove[], { currency, first_seen_at }: Deposit): string {
  if (currency !== 'BTC' && currency !== 'ETH') return moves[0]!.others[currency]!;
  const [from, to] = [first_seen_at.getTime() - quoteWindowMs, first_seen_at.getTime()];
  const inForce = moves.filter(({ at }, n) => at.getTime() <= to && (moves[n + 1]?.at.getTime() ?? Infinity) >= from);
  return inForce.map((move) => move[currency]).reduce((best, one) => (compare(one, best) > 0 ? one : best));
}

async function aboveBudget({ world }: Stage): Promise<string[]> {
  const spent = (await world.db.query(
    `SELECT i.kind, i.ref, i.fee_budget::text AS budget, sum(a.fee_units)::text AS spent
       FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final'
      GROUP BY i.id HAVING sum(a.fee_units) > i.fee_budget`,
  )) as Array<{ kind: string; ref: string; budget: string; spent: string }>;
  return spent.map((one) => `${one.kind} ${one.ref} cost ${one.spent}, its budget is ${one.budget}`);
}

const blocked = ({ world }: Stage): Promise<string[]> =>
  cleared(async () => {
    const rows = (await world.db.query(
      `SELECT format('wallet %s is frozen: %s', address, frozen_reason) AS what FROM wallet_sequence
        WHERE frozen_reason IS NOT NULL
       UNION ALL SELECT format('%s is frozen: %s', currency, reason) FROM egress_freeze
       UNION ALL SELECT format('%s %s is still %s', kind, ref, status) FROM intent
        WHERE status NOT IN ('final', 'failed', 'dead')`,
    )) as Array<{ what: string }>;
    return rows.map(({ what }) => what);
  }, 120_000);
