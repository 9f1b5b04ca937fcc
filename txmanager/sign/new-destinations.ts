import type { EntityManager } from 'typeorm';
import { openIncidentAgain } from '../../db/incidents';
import { countNewDestinations, type AboveCap } from '../../db/txmanager/new-destinations';
import type { IntentRow } from '../../db/txmanager/intents';
import { assetOf, baseUnits } from '../../domain/chains/assets';
import { receiverOf, type Destination } from '../../domain/chains/tags';
import { fromUnits } from '../../domain/money';
import { dailyCapOf, usualRules } from '../../domain/txmanager/new-destinations';
import type { SignFacts } from './policy';
import type { Signed, Signer } from './signer';

/** Whatever the rows of the database say, only so much leaves in a day to addresses that the signer does not know. */

type Output = Destination & Readonly<{ units: bigint }>;
type Payment = Readonly<{
  intent: Pick<IntentRow, 'id' | 'network' | 'currency'>;
  outputs: readonly Output[];
}>;
/** Addresses of outputs that the seed derives. */
export type Own = Pick<SignFacts, 'own'>;

/** Which of these payments of one currency are above the cap; the others are counted. In the order in which they are to
 *  be signed. Last of all locks. */
export async function aboveCap(
  signer: Pick<Signer, 'newDestinations'>,
  tx: EntityManager,
  payments: readonly Payment[],
  own: Own['own'],
): Promise<ReadonlyMap<string, AboveCap>> {
  const orders = payments.flatMap(({ intent, outputs }) =>
    outputs
      .filter(({ address }) => !own.some((one) => one.address === address))
      .map(({ units, ...to }) => ({ intent: intent.id, address: receiverOf(to), units: units.toString() })),
  );
  const [first] = payments;
  if (!first || !orders.length) return new Map();
  const { network, currency } = first.intent;
  const rules = signer.newDestinations ?? usualRules;
  const above = await countNewDestinations(
    tx,
    { network, currency, orders },
    { capUnits: baseUnits(currency, dailyCapOf(rules, currency)), coolingOffHours: rules.coolingOffHours },
  );
  return new Map(above.map((one) => [one.intentId, one]));
}

/** What the signer answers where an intent is above the cap, of which operators are told; null: it may be signed. */
export async function waitForCap(
  signer: Pick<Signer, 'newDestinations'>,
  tx: EntityManager,
  intent: Pick<IntentRow, 'id' | 'kind' | 'ref' | 'network' | 'currency'>,
  outputs: readonly Output[],
  own: Own['own'],
): Promise<Signed | null> {
  const above = (await aboveCap(signer, tx, [{ intent, outputs }], own)).get(intent.id);
  if (!above) return null;
  const { currency } = intent;
  const { decimals } = assetOf(currency);
  const cap = dailyCapOf(signer.newDestinations ?? usualRules, currency);
  const reason = `it is above the cap of ${cap} ${currency} a day for new destinations`;
  await openIncidentAgain(tx, {
    kind: 'new-destinations',
    subject: { kind: 'asset', id: currency },
    details: {
      intentId: intent.id,
      kind: intent.kind,
      ref: intent.ref,
      currency,
      destinations: outputs.map(({ units, ...to }) => ({ ...to, amount: fromUnits(units, decimals) })),
      cap,
      usedInDay: fromUnits(BigInt(above.used), decimals),
      knownFrom: above.dueAt,
      reason,
      nextStep:
        'Find out whether the merchant asked for it. It is signed by itself when the day or its destinations have ' +
        'room. See docs/operations/new-destinations.md',
    },
  });
  return { state: 'waiting', reason, cause: 'checked' };
}
