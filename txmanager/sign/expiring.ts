import type { EntityManager } from 'typeorm';
import { isToken } from '../../domain/chains/assets';
import type { ExpiringPlan } from '../../domain/chains/chain';
import { tagIn } from '../../domain/chains/tags';
import { divide } from '../../domain/money';
import { attemptsOf, type IntentRow } from '../../db/txmanager/intents';
import { endTurn, notePassed } from '../../db/txmanager/turns';
import { limitsOf, noteCap } from '../fee-caps';
import { heldAt, leftOn } from './account';
import { waitForCap } from './new-destinations';
import { mayCost } from './fee-policy';
import type { SignFacts } from './policy';
import type { Signed, Signer } from './signer';
import { store } from './store';
import { keyOf } from './wallet';

/** One transfer that ends with a block or a moment, on what the signer's own node has said. What it burns at the most
 *  is its fee, and by the work that it was planned with its price: of the attempts of an intent one is mined at the
 *  most, so its budget is that of one. Where all that is left moves, what it burns less stays on the address. Signed
 *  or not, it has had its turn at the wallet. */
export async function signExpiring(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  round: Round,
): Promise<Signed> {
  const signed = await signNow(signer, tx, intent, round);
  await (signed.state === 'stored' ? endTurn(tx, intent) : notePassed(tx, intent.id));
  return signed;
}

type Round = Readonly<{ facts: SignFacts; n: number; isOutgoing: boolean }>;

async function signNow(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  { facts: { expiry, own }, n, isOutgoing }: Round,
): Promise<Signed> {
  if (expiry === null || expiry === 'unread' || expiry.terms.state !== 'done')
    throw new Error(`Intent ${intent.id} may be signed, and nobody has asked on what`);
  const { mostUnits, ...terms } = expiry.terms.terms;
  // What is free on TRON costs a unit here: no price is nothing.
  const feeUnits = mostUnits > 0n ? mostUnits : 1n;
  const [output] = intent.outputs;
  const burnt = isToken(intent.currency) ? 0n : mostUnits;
  const units = output!.units === null ? (await leftOn(tx, intent)) - burnt : BigInt(output!.units!);
  if (units <= 0n) return { state: 'waiting', reason: `a fee of ${burnt} leaves nothing to move` };
  const price = { unitPrice: divide(feeUnits.toString(), intent.gas_limit!, 0, 'up'), dataPart: '0' };
  const cost = mayCost({
    limits: limitsOf(intent),
    price,
    feeUnits,
    from: intent.from_address,
    neededUnits: units + (isToken(intent.currency) ? 0n : feeUnits),
    heldUnits: isOutgoing ? await heldAt(tx, intent) : null,
  });
  if (cost.state === 'capped') return noteCap(tx, intent, (await attemptsOf(tx, intent.id)).at(-1), cost.reason);
  if (cost.state === 'short') return { state: 'waiting', reason: cost.reason };
  const to = { address: output!.address, ...tagIn(output!) };
  const isNew = await waitForCap(signer, tx, intent, [{ ...to, units }], own);
  if (isNew) return isNew;
  const plan: ExpiringPlan = {
    kind: 'expiring',
    from: intent.from_address,
    key: await keyOf(tx, intent.network, intent.from_address),
    currency: intent.currency,
    to: to.address,
    ...tagIn(to),
    units,
    ...terms,
  };
  await store(signer, tx, intent, {
    n,
    plan,
    price,
    outputs: [{ ...to, units: units.toString() }],
    maxFeeUnits: feeUnits,
  });
  return { state: 'stored' };
}
