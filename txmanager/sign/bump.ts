import type { DataSource, EntityManager } from 'typeorm';
import { add, fit, subtract, times } from '../../domain/money';
import { bumpedPrice, nextPrice } from '../../domain/txmanager/fee-limits';
import { endIntent, type AttemptRow, type IntentRow } from '../../db/txmanager/intents';
import { noteCap } from '../fee-caps';
import type { Obligation } from '../obligation';
import { signAccount } from './account';
import { signExpiring } from './expiring';
import { lockAsked, verdictsOn } from './facts';
import { lookFor, looksOf, type Look } from './look';
import { priced } from './price';
import { signReplacement } from './replacement';
import { networkKind, refusal, type Signed, type Signer } from './signer';
import { signTokens } from './tokens';
import { waitInTurn } from './turn';
import { signUtxo } from './utxo';
import { freezeForeign } from './wallet';

/** One more attempt of a stuck intent: same nonce or inputs, a price at least an eighth higher, and the same
 *  recipient, or what the intent says where the attempts it has are void; of a replaced one its own wallet. Where
 *  transactions expire, a new one on a later block, once the signer's own node has proven the earlier void; or
 *  `dropped`, with what its row holds given back. `waiting` at the cap or budget, of which operators are told, while
 *  its wallet is frozen, or while an earlier nonce of it is in no block. `seenAttempts`: how many the caller has seen,
 *  so that a repeat of the same call adds none. */
export async function signBump(
  signer: Signer,
  db: DataSource,
  intentId: string,
  seenAttempts: number,
): Promise<Signed> {
  const look = await lookFor(signer, db, intentId);
  return db.transaction((tx) => bumpIn(signer, tx, { intentId, seenAttempts, look }));
}

async function bumpIn(
  signer: Signer,
  tx: EntityManager,
  { intentId, seenAttempts, look }: Readonly<{ intentId: string; seenAttempts: number; look: Look | null }>,
): Promise<Signed> {
  const asked = await lockAsked(tx, [intentId], 'next');
  const { planned, obligation, fault, attempts } = asked[0]!;
  const last = attempts.at(-1);
  if (fault !== null) throw refusal({ code: 'INTENT_MISMATCH', reason: fault });
  if (!last || attempts.length > seenAttempts || isMined(attempts)) return { state: 'stored' };
  // Given up since its caller looked.
  if (look && planned.status === 'dead') return { state: 'dropped' };
  const [answer] = await verdictsOn(signer, tx, asked, 'next', looksOf(intentId, look));
  const { facts, verdict, intent, price } = answer!;
  if (verdict.state === 'refused') throw refusal(verdict);
  if (verdict.state === 'foreign') await freezeForeign(tx, planned, verdict);
  if (verdict.state === 'waiting') return waitInTurn(tx, answer!, verdict);
  if (verdict.state === 'foreign') return { state: 'waiting', reason: verdict.reason };
  if (verdict.state === 'dropped' && verdict.isGivenUp) return giveUp(tx, planned, obligation!, verdict.reason);
  if (verdict.state !== 'sign') return { state: verdict.state };
  const isOutgoing = obligation !== null;
  if (facts.expiry !== null) return signExpiring(signer, tx, intent, { facts, n: last.n + 1, isOutgoing });
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
        isOutgoing,
        own,
      });
}

/** Under the locks of the verdict: either something is signed for a row, or what it holds goes back. */
async function giveUp(
  tx: EntityManager,
  { id }: IntentRow,
  obligation: Obligation,
  reason: string | undefined,
): Promise<Signed> {
  if (!(await endIntent(tx, id))) throw new Error(`Intent ${id} is in a block or over: nothing of it goes back`);
  await obligation.givenUp!();
  return { state: 'dropped', ...(reason === undefined ? {} : { reason }) };
}

const isMined = (attempts: readonly AttemptRow[]): boolean =>
  attempts.some((attempt) => attempt.status === 'mined' || attempt.status === 'final');
