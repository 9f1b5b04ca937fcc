import { openIncidentAgain, type NewIncident } from '../db/incidents';
import type { IntentRow } from '../db/txmanager/intents';
import { ownAddress } from '../db/treasury/treasury';
import { isToken } from '../domain/chains/assets';
import type { GasAnswer } from '../domain/chains/chain';
import type { Destination } from '../domain/chains/tags';
import type { GasDeps } from './gas-node';

/** A token that refuses its sender: its issuer has blocked the wallet, or paused the token. */

/** The incident of a wallet that a token refuses. */
export const walletRefusalOf = ({ network, from_address, currency }: IntentRow) =>
  ({
    kind: 'wallet-refused',
    subject: { kind: 'wallet', id: `${network}/${from_address}` },
    distinction: currency,
  }) as const satisfies Omit<NewIncident, 'details'>;

/** A refusal is the recipient's only if an address of ours would get the same transfer; else it waits, and operators
 *  are told. `askFor`: asks the node of the same transfer to somebody else. */
export async function refusalByWhom(
  { db }: Pick<GasDeps, 'db'>,
  intent: IntentRow,
  answer: GasAnswer,
  askFor: (to: Destination) => Promise<GasAnswer>,
): Promise<GasAnswer> {
  const { network, currency, from_address: from, id: intentId } = intent;
  if (answer.state !== 'reverts' || !isToken(currency)) return answer;
  const [treasury, gas] = [
    await ownAddress(db.manager, network, 'treasury'),
    await ownAddress(db.manager, network, 'gas'),
  ];
  const ours = await askFor({ address: from === treasury ? gas : treasury });
  if (ours.state !== 'reverts') return answer;
  const details = { intentId, network, address: from, currency, reason: ours.reason };
  await openIncidentAgain(db, { ...walletRefusalOf(intent), details });
  return { state: 'unclear', reason: `${currency} refuses what wallet ${from} sends, to whomever it goes` };
}
