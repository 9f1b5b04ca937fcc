import { assetOf } from '../../domain/chains/assets';
import { add, compare, fit, subtract, toUnits } from '../../domain/money';
import { cleared, unreconciled } from '../reconciled';
import { lightningCurrency } from '../../domain/lightning/currency';
import { holdings } from './holdings';
import { reckonLightning } from './reckoning-lightning';
import type { Stage } from './stage';

/** When all has ended: the books against the chain, against the payers' and the recipients' own view of it, and every
 *  event against what the receiver got. */
export async function reckon(stage: Stage, before: Readonly<Record<string, string>>): Promise<string[]> {
  const problems: string[] = [];
  const check = async (act: (stage: Stage) => Promise<string[]>): Promise<void> =>
    void problems.push(
      ...(await act(stage).catch((error: Error) => [`${act.name} could not be looked at: ${error.message}`])),
    );
  for (const act of [outbox, deliveries, workflows, holds, deposits, recipients]) await check(act);
  if (stage.lightning) await check(reckonLightning);
  await check((all) => balances(all, before));
  await check(async ({ world }) =>
    (await world.audit()).map(({ invariant, what, found }) => `${invariant}: ${what}: ${found.join('; ')}`),
  );
  await check(reconciliation);
  return problems;
}

const outbox = ({ world }: Stage): Promise<string[]> =>
  cleared(
    async () =>
      ((await world.db.query('SELECT workflow_id FROM temporal_request')) as Array<{ workflow_id: string }>).map(
        ({ workflow_id }) => `the outbox still has ${workflow_id}`,
      ),
    60_000,
  );

async function deliveries({ world, shop }: Stage): Promise<string[]> {
  const open = await cleared(
    async () =>
      (
        (await world.db.query(
          `SELECT status, count(*)::int AS n FROM delivery WHERE status <> 'succeeded' GROUP BY status`,
        )) as Array<{ status: string; n: number }>
      ).map(({ status, n }) => `${n} deliveries are ${status}`),
    180_000,
  );
  const got = new Set(world.received.map((event) => event.id));
  const events = (await world.db.query(
    'SELECT id, type, seq::int AS seq FROM event WHERE merchant_id = $1 ORDER BY seq',
    [shop.id],
  )) as Array<{ id: string; type: string; seq: number }>;
  return [
    ...open,
    ...events.flatMap(({ id, type, seq }, index) => [
      ...(seq === index + 1 ? [] : [`event ${id} has seq ${seq} and not ${index + 1}`]),
      // IPN carries what happens to payments; other events go to endpoints, and this shop has none.
      ...(type.startsWith('payment.') && !got.has(id) ? [`event ${id} never reached the receiver`] : []),
    ]),
  ];
}

/** Of what takes money out, nothing runs once it has ended. */
const workflows = ({ world }: Stage): Promise<string[]> =>
  cleared(async () => {
    const found: string[] = [];
    for await (const { workflowId } of world.temporal.workflow.list({ query: `ExecutionStatus = 'Running'` }))
      if (/^(withdrawal|payout-batch|refund|sweep)\//.test(workflowId)) found.push(`${workflowId} still runs`);
    return found;
  }, 120_000);

const holds = ({ world, shop }: Stage): Promise<string[]> =>
  cleared(
    async () =>
      (
        (await world.db.query(
          `SELECT account, asset, amount::text FROM balance WHERE account = ANY($1) AND amount <> 0`,
          [['reserved', 'transit', 'unsettled'].map((kind) => `L:${kind}:${shop.id}`)],
        )) as Array<{ account: string; asset: string; amount: string }>
      ).map(({ account, asset, amount }) => `${account} still has ${amount} ${asset}`),
    30_000,
  );

async function deposits({ world, paid, shop, currencies }: Stage): Promise<string[]> {
  const problems: string[] = [];
  for (const currency of currencies) {
    const sent = add('0', ...paid.filter((one) => one.currency === currency).map((one) => one.amount));
    const [row] = (await world.db.query(
      `SELECT coalesce(sum(d.amount), 0)::text AS booked FROM deposit d JOIN payment p ON p.id = d.payment_id
        WHERE d.currency = $1 AND d.allocation IN ('settled', 'unsettled', 'unallocated') AND p.merchant_id = $2`,
      [currency, shop.id],
    )) as Array<{ booked: string }>;
    if (compare(sent, row!.booked) !== 0)
      problems.push(`${currency}: the payers sent ${sent}, the books have ${row!.booked}`);
  }
  return problems;
}

/** Every recipient has exactly what was said, by the chain's own word. */
async function recipients({ world, recipients: all }: Stage): Promise<string[]> {
  const problems: string[] = [];
  const heldBy = holdings(world);
  for (const { what, expected, ...receiver } of all) {
    const { currency, address } = receiver;
    const { decimals } = assetOf(currency);
    const held = await heldBy(receiver);
    const units = toUnits(fit(expected, decimals, 'down'), decimals);
    if (held !== units)
      problems.push(`${what}: ${address} got ${held} base units of ${currency}, not ${units} (${expected})`);
  }
  return problems;
}

async function balances(
  { world, shop, changes, currencies, lightning }: Stage,
  before: Readonly<Record<string, string>>,
): Promise<string[]> {
  const problems: string[] = [];
  for (const currency of [...currencies, ...(lightning ? [lightningCurrency] : [])]) {
    const expected = add(
      before[currency]!,
      ...changes.filter((one) => one.currency === currency).map((one) => one.amount),
    );
    const { balance } = await world.balance(shop, currency);
    if (compare(balance, expected) !== 0)
      problems.push(
        `the balance is ${balance} ${currency}, by what happened ${expected}: ${subtract(balance, expected)}`,
      );
  }
  return problems;
}

const reconciliation = ({ world }: Stage): Promise<string[]> => unreconciled(world);
