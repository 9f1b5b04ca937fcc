import type { EntityManager } from 'typeorm';
import type { IntentRow } from '../db/txmanager/intents';
import { networks, type NetworkId } from '../domain/chains/assets';
import type { GasAnswer } from '../domain/chains/chain';
import { takesMore } from '../domain/chains/costs';
import { delayCauses } from '../domain/txmanager/waits';
import { kindOf } from './kinds';

/** A receiver's first transfer takes more, or makes his account. Of those to one address that are open at once one
 *  alone is the first, and the others wait until it is in a block: then a node says what they take.
 *  docs/decisions/0098-one-first-transfer.md */

export const waitsForFirst = 'the first transfer to its address is not in a block yet';

type Open = Pick<IntentRow, 'id' | 'currency' | 'status' | 'gas_limit' | 'merchant_id' | 'waits_for'>;
type Intent = Open & Pick<IntentRow, 'kind' | 'network' | 'outputs'>;

/** Whoever bears its fee bears already what a new receiver takes. */
const isKeptAsFirst = ({ status, currency, gas_limit }: Open): boolean =>
  status === 'planned' && gas_limit !== null && takesMore(currency, BigInt(gas_limit));

/** Who gets it, where the first transfer to him makes the others usual ones, and this one may have to wait for that;
 *  null: it waits for nobody. On EVM chains the code of a receiver runs each time. */
export const newReceiverOf = (intent: Intent): string | null =>
  networks[intent.network as NetworkId].expiring === undefined || !kindOf(intent).asked || isKeptAsFirst(intent)
    ? null
    : `${intent.currency} ${intent.outputs[0]!.address}`;

/** Whether a node says of it what it says of a first transfer. */
export const isFirstBy = (answer: GasAnswer, intent: Intent): boolean =>
  newReceiverOf(intent) !== null &&
  (answer.state === 'done'
    ? takesMore(intent.currency, answer.gas)
    : answer.state === 'reverts' && answer.isNew === true);

/** Whether another is the first to its address, or may be yet. One that is signed comes first, then one that was kept
 *  as the first, then the lowest id. Nobody waits for the money of another merchant that is held. Those to one address
 *  ask one after the other. The caller has locked the intent. */
export async function isBehind(tx: EntityManager, intent: Intent): Promise<boolean> {
  const { network, currency, id, outputs } = intent;
  const { address } = outputs[0]!;
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`first of ${currency} to ${address}`]);
  const others = await tx.query<Open[]>(
    `SELECT id, currency, status, gas_limit, merchant_id, waits_for FROM intent
      WHERE network = $1 AND status NOT IN ('final', 'failed', 'dead') AND currency = $2
        AND outputs->0->>'address' = $3 AND id <> $4`,
    [network, currency, address, id],
  );
  return others.some((other) => isAhead(other, intent));
}

function isAhead(other: Open, intent: Open): boolean {
  if (other.status !== 'planned') return true;
  const isHeld = delayCauses.some((cause) => cause === other.waits_for);
  if (isHeld && other.merchant_id !== intent.merchant_id) return false;
  return isKeptAsFirst(other) || BigInt(other.id) < BigInt(intent.id);
}
