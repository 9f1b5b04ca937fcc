import type { EntityManager } from 'typeorm';
import { add, fit, subtract, times } from '../../domain/money';
import { bumpedPrice, nextPrice } from '../../domain/txmanager/fee-limits';
import type { AttemptRow } from '../../db/txmanager/intents';
import { noteCap } from '../fee-caps';
import { signAccount } from './account';
import { lockAsked, verdictsOn } from './facts';
import { priced } from './price';
import { signReplacement } from './replacement';
import { networkKind, refusal, type Signed, type Signer } from './signer';
import { signTokens } from './tokens';
import { signUtxo } from './utxo';

/** One more attempt of a stuck intent: same nonce or inputs, a price at least an eighth higher, and the same
 *  recipient, or what the intent says where the attempts it has are void; of a replaced one its own wallet. `waiting`
 *  at the cap or budget, of
 *  which operators are told, while its wallet is frozen, or while an earlier nonce of it is in no block.
 *  `seenAttempts`: how many the caller has seen, so that a repeat of the same call adds none. */
export async function signBump(
  signer: Signer,
  tx: EntityManager,
  intentId: string,
  seenAttempts: number,
): Promise<Signed> {
  const asked = await lockAsked(tx, [intentId], 'next');
  const { planned, obligation, fault, attempts } = asked[0]!;
  const last = attempts.at(-1);
  if (fault !== null) throw refusal({ code: 'INTENT_MISMATCH', reason: fault });
  if (!last || attempts.length > seenAttempts || isMined(attempts)) return { state: 'stored' };
  const [answer] = await verdictsOn(signer, tx, asked, 'next');
  const { facts, verdict, intent, price } = answer!;
  if (verdict.state === 'refused') throw refusal(verdict);
  if (verdict.state === 'waiting') return { state: 'waiting', reason: verdict.reason };
  if (verdict.state !== 'sign') return { state: verdict.state };
  const today = priced(intent.network, price!);
  const { dataPart } = today;
  // What is offered must rise by an eighth, whatever the data cost now and then.
  const offered = nextPrice(
    subtract(last.unit_price, last.data_part),
    subtract(today.unitPrice, dataPart),
    subtract(intent.max_unit_price, dataPart),
  );
  if (offered === null)
    return noteCap(tx, intent, last, `the price is at its cap of ${fit(intent.max_unit_price, 3, 'down')}`);
  const unitPrice = add(offered, dataPart);
  const bumped = { unitPrice, tipPrice: bumpedPrice(times(offered, '0.5', 0, 'down'), today.tipPrice), dataPart };
  if (planned.replaced_at !== null) return signReplacement(signer, tx, planned, { last, price: bumped });
  const { own } = facts;
  if (networkKind(intent.network) === 'utxo') return signUtxo(signer, tx, intent, { unitPrice, n: last.n + 1, own });
  return intent !== planned
    ? signTokens(signer, tx, intent, { price: bumped, n: last.n + 1, nonce: last.nonce!, own })
    : signAccount(signer, tx, intent, {
        price: bumped,
        n: last.n + 1,
        nonce: last.nonce!,
        isOutgoing: obligation !== null,
        own,
      });
}

const isMined = (attempts: readonly AttemptRow[]): boolean =>
  attempts.some((attempt) => attempt.status === 'mined' || attempt.status === 'final');
