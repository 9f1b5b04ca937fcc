import type { DataSource, EntityManager } from 'typeorm';
import { resolveIncidents } from '../db/incidents';
import type { Queryable } from '../db/query';
import type { IntentRow } from '../db/txmanager/intents';
import { baseUnits, isToken } from '../domain/chains/assets';
import { takesMore, workOfTransfer } from '../domain/chains/costs';
import { limitsFor, limitsWith, type FeeLimits } from '../domain/txmanager/fee-limits';
import { kinds } from '../domain/txmanager/kinds';
import { lockObligations } from './kinds/obligations';
import { walletRefusalOf } from './wallet-refusal';

/** What planned intents take, by the nodes, beside them. */

/** `gas`: what its transaction is to be signed with, the margin included. `borne`: the network fee that its receiver
 *  bears, more than the quote: what was kept back for it is more too. */
export type Estimate = Readonly<{ intent: IntentRow; gas: bigint; borne: string | null }>;

/** The incident of a transfer that its recipient, or a balance, does not allow. */
export const refusalOf = ({ id }: Pick<IntentRow, 'id'>) =>
  ({ kind: 'transfer-refused', subject: { kind: 'intent', id } }) as const;

/** Keeps estimates, with the fee limits that follow from them. The caller has locked the intents. */
export async function keepEstimates(tx: EntityManager, estimates: readonly Estimate[]): Promise<void> {
  const kept = estimates.map((one) => {
    const { maxUnitPrice, feeBudget } = limitsOf(one);
    return { id: one.intent.id, gas_limit: one.gas.toString(), max_unit_price: maxUnitPrice, fee_budget: feeBudget };
  });
  await tx.query(
    `UPDATE intent i SET gas_limit = k.gas_limit, gas_estimated_at = now(), max_unit_price = k.max_unit_price,
            fee_budget = k.fee_budget
       FROM jsonb_to_recordset($1) AS k (id bigint, gas_limit bigint, max_unit_price numeric, fee_budget numeric)
      WHERE i.id = k.id`,
    [JSON.stringify(kept)],
  );
  await resolveIncidents(
    tx,
    estimates.flatMap(({ intent }) => [refusalOf(intent), walletRefusalOf(intent)]),
  );
}

function limitsOf({ intent, gas, borne }: Estimate): FeeLimits {
  const before = intent.gas_limit === null ? workOfTransfer(intent.currency) : BigInt(intent.gas_limit);
  const isKept = isFeeKept(intent);
  if (isKept && borne !== null && gas > before)
    return limitsFor((baseUnits(intent.currency, borne) / gas).toString(), gas);
  return limitsWith(intent.max_unit_price, gas, before, isKept);
}

/** Keeps the estimates of those that take no more than usual, all in one transaction: nobody is charged for them, and
 *  nothing was kept back that they could be paid with.
 *  Answers the ids that were kept. Not among them is what changed meanwhile, and what nothing wants. */
export async function keepUsual(db: DataSource, estimates: readonly Estimate[]): Promise<ReadonlySet<string>> {
  const usual = new Map(
    estimates
      .filter(({ intent, gas }) => !takesMore(intent.currency, gas) && !isFeeKept(intent))
      .map((one) => [one.intent.id, one]),
  );
  if (!usual.size) return new Set();
  return db.transaction(async (tx) => {
    // In the order of the locks: what they are for, then the intents.
    const served = await lockObligations(tx, [...usual.keys()]);
    const asked = [...usual.values()]
      .filter(({ intent }) => served.get(intent.id)!.fault === null)
      .map(({ intent: { id, outputs } }) => ({ id, outputs }));
    const intents = await tx.query<IntentRow[]>(
      `SELECT i.* FROM intent i JOIN jsonb_to_recordset($1) AS a (id bigint, outputs jsonb)
              ON a.id = i.id AND a.outputs = i.outputs
        WHERE i.status = 'planned' ORDER BY i.id FOR UPDATE OF i`,
      [JSON.stringify(asked)],
    );
    await keepEstimates(
      tx,
      intents.map((intent) => ({ ...usual.get(intent.id)!, intent })),
    );
    return new Set(intents.map(({ id }) => id));
  });
}

/** Has nodes asked anew about these before anything is signed. Not where the estimate has changed what their fee may be
 *  on their address. */
export async function forgetEstimates(tx: Queryable, intents: readonly IntentRow[]): Promise<void> {
  const ids = intents.filter((one) => one.gas_limit !== null && !isFeeKept(one)).map(({ id }) => id);
  if (ids.length)
    await tx.query(
      `UPDATE intent SET gas_limit = NULL, gas_estimated_at = NULL, updated_at = now()
        WHERE id = ANY($1::bigint[]) AND status = 'planned'`,
      [ids],
    );
}

/** Was the most that its fee may be left on its address when it was planned? */
const isFeeKept = ({ kind, currency, deposit_ids }: IntentRow): boolean => {
  const { leaves, spends } = kinds[kind];
  const isMove = !leaves && spends === 'treasury';
  return !isToken(currency) && (isMove || (leaves && deposit_ids.length > 0));
};
