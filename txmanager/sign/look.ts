import type { DataSource } from 'typeorm';
import { noteAbsence, validitiesOf } from '../../db/txmanager/expiry';
import type { IntentRow } from '../../db/txmanager/intents';
import type { TermsAnswer } from '../../domain/chains/chain';
import { isToken } from '../../domain/chains/assets';
import { costUnits } from '../../domain/chains/costs';
import { tagIn } from '../../domain/chains/tags';
import { faultOfProof } from '../../domain/txmanager/expiry';
import { leftOn } from './account';
import { familyOf, type Signer } from './signer';

/** What the signer's own node says of an intent whose transactions expire, before any row is locked. */
export type Look = Readonly<{ terms: TermsAnswer }>;

export const looksOf = (intentId: string, look: Look | null): ReadonlyMap<string, Look> =>
  new Map(look ? [[intentId, look]] : []);

/** Asks the signer's own node: what became of all that the signer has signed for the intent, of which it notes what is
 *  proven void, and then on what another transaction would be signed. null: of its network nothing expires. Throws
 *  NODE_UNREACHABLE (retried). */
export async function lookFor(signer: Signer, db: DataSource, intentId: string): Promise<Look | null> {
  if (!signer.expiring) return null;
  const [intent] = (await db.query('SELECT * FROM intent WHERE id = $1', [intentId])) as IntentRow[];
  const family = intent && familyOf(signer, intent.network);
  if (!family) return null;
  for (const { txId, window, signedOn, absence } of await validitiesOf(db, [intentId])) {
    if (absence) continue;
    const fate = await family.node.fateOf({ txId, window, signedOn });
    if (fate.state === 'mined') return { terms: { state: 'unclear', reason: `${txId} is in block ${fate.height}` } };
    if (fate.state === 'open') return { terms: { state: 'unclear', reason: `${txId} is open: ${fate.reason}` } };
    const fault = faultOfProof({ txId, window }, fate.proof);
    if (fault !== null) return { terms: { state: 'unclear', reason: `nothing proves ${txId} void: ${fault}` } };
    await noteAbsence(db, intent.network, fate.proof);
  }
  const [output] = intent.outputs;
  if (!output) return { terms: { state: 'unclear', reason: 'it pays nobody' } };
  const { from_address: from, currency } = intent;
  // What is left is looked at again under the locks: of what the node was asked only the fee counts.
  const units = output.units === null ? await leftOn(db.manager, intent) : BigInt(output.units);
  const isAll = output.units === null && !isToken(currency);
  const most =
    intent.gas_limit === null ? {} : { mostUnits: costUnits(intent.max_unit_price, BigInt(intent.gas_limit)) };
  const asked = { from, currency, to: output.address, ...tagIn(output), units, isAll, ...most };
  return { terms: await family.node.termsOf(asked) };
}
