import type { EntityManager } from 'typeorm';
import type { IntentRow } from '../db/txmanager/intents';
import { networks, type NetworkId } from '../domain/chains/assets';
import type { GasAnswer } from '../domain/chains/chain';
import { takesMore } from '../domain/chains/costs';
import { kindOf } from './kinds';

/** A receiver's first transfer takes more, or makes his account. Of those to one address that are open at once one
 *  alone is the first, and the others wait until it is in a block: then a node says what they take.
 *  docs/decisions/0098-one-first-transfer.md */

export const waitsForFirst = 'the first transfer to its address is not in a block yet';

type Open = Pick<IntentRow, 'id' | 'currency' | 'status' | 'gas_limit' | 'merchant_id' | 'waits_for'>;
/** `isOnItsWay`: a block may have what is signed of it. */
type Other = Open & Readonly<{ isOnItsWay: boolean | null }>;
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
 *  as the first, then the lowest id. Nobody waits for money of another merchant that may wait for days itself, or for
 *  what a final block has and operators decide about. Those to one address ask one after the other. The caller has
 *  locked the intent. */
export async function isBehind(tx: EntityManager, intent: Intent): Promise<boolean> {
  const { network, currency, id, outputs } = intent;
  const { address } = outputs[0]!;
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`first of ${currency} to ${address}`]);
  const others = await tx.query<Other[]>(
    `SELECT i.id, i.currency, i.status, i.gas_limit, i.merchant_id, i.waits_for,
            EXISTS (SELECT FROM attempt a WHERE a.intent_id = i.id AND a.status IN ('stored', 'sent', 'mined'))
              AS "isOnItsWay"
       FROM intent i
      WHERE i.network = $1 AND i.status NOT IN ('final', 'failed', 'dead') AND i.currency = $2
        AND i.outputs->0->>'address' = $3 AND i.id <> $4 AND NOT EXISTS (
          SELECT FROM attempt a WHERE a.intent_id = i.id AND a.status = 'mined' AND a.differs_at IS NOT NULL)`,
    [network, currency, address, id],
  );
  return others.some((other) => isAhead(other, intent));
}

function isAhead(other: Other, intent: Open): boolean {
  if (other.isOnItsWay === true) return true;
  const isOwn = other.merchant_id === intent.merchant_id;
  // Of what is void nobody has written down whether it is held by now.
  if (other.status !== 'planned') return isOwn;
  const isSoon = other.waits_for === null || other.waits_for === 'network';
  if (!isOwn && !isSoon) return false;
  return isKeptAsFirst(other) || BigInt(other.id) < BigInt(intent.id);
}
