import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { fit, times } from '../../domain/money';
import { bumpedPrice, nextPrice } from '../../domain/txmanager/fee-limits';
import { attemptsOf, lockIntent, lowestOpenNonces, type AttemptRow } from '../../db/txmanager/intents';
import { noteCap } from '../fee-caps';
import { lockPurpose } from '../kinds/purposes';
import { signAccount } from './account';
import { blocked, checkDestinations, movable } from './facts';
import { priceNow } from './price';
import { networkKind, type Signed, type Signer } from './signer';
import { signTokens } from './tokens';
import { signUtxo } from './utxo';

/** One more attempt of a stuck intent: same nonce or inputs, a price at least an eighth higher, and the same
 *  recipient, or what the intent says where the attempts it has are void. `waiting` at the cap or budget, of
 *  which operators are told, while its wallet is frozen, or while an earlier nonce of it is in no block.
 *  `seenAttempts`: how many the caller has seen, so that a repeat of the same call adds none. */
export async function signBump(
  signer: Signer,
  tx: EntityManager,
  intentId: string,
  seenAttempts: number,
): Promise<Signed> {
  const purpose = await lockPurpose(tx, intentId);
  const planned = await lockIntent(tx, intentId);
  const attempts = await attemptsOf(tx, intentId);
  const last = attempts.at(-1);
  if (!last || attempts.length > seenAttempts || isMined(attempts)) return { state: 'stored' };
  const intent = await movable(tx, planned);
  const isForOthers = last.n <= planned.void_through;
  const reason = isForOthers ? await blocked(tx, intent, purpose) : null;
  if (reason) return { state: 'waiting', reason };
  if (intent !== planned && !intent.deposit_ids.length)
    return { state: 'waiting', reason: 'none of its deposits is in the chain' };
  await checkDestinations(signer, tx, intent, purpose);
  if (purpose && !purpose.isUnderWay)
    throw new DomainError('INTENT_MISMATCH', `${intent.kind} ${intent.ref} is not under way`);
  const wait = await mayNotBump(tx, last);
  if (wait) return { state: 'waiting', reason: wait };
  const today = await priceNow(tx, intent.network);
  const unitPrice = nextPrice(last.unit_price, today.unitPrice, intent.max_unit_price);
  if (unitPrice === null)
    return noteCap(tx, intent, last, `the price is at its cap of ${fit(intent.max_unit_price, 3, 'down')}`);
  const bumped = { unitPrice, tipPrice: bumpedPrice(times(unitPrice, '0.5', 0, 'down'), today.tipPrice) };
  if (networkKind(intent.network) === 'utxo') return signUtxo(signer, tx, intent, unitPrice, last.n + 1);
  return intent !== planned
    ? signTokens(signer, tx, intent, { price: bumped, n: last.n + 1, nonce: last.nonce! })
    : signAccount(signer, tx, intent, {
        price: bumped,
        n: last.n + 1,
        nonce: last.nonce!,
        isOutgoing: purpose !== null,
      });
}

/** Why no better price may be signed now: nothing is signed for a frozen wallet, and what is behind another nonce
 *  cannot be mined whatever it pays. Locks the wallet. */
async function mayNotBump(tx: EntityManager, last: AttemptRow): Promise<string | null> {
  const { network, from_address, nonce } = last;
  const [wallet] = await tx.query<Array<{ frozen_reason: string | null }>>(
    'SELECT frozen_reason FROM wallet_sequence WHERE network = $1 AND address = $2 FOR UPDATE',
    [network, from_address],
  );
  if (wallet && wallet.frozen_reason !== null) return `wallet ${from_address} is frozen: ${wallet.frozen_reason}`;
  const lowest = nonce === null ? undefined : (await lowestOpenNonces(tx, network, [from_address])).get(from_address);
  return lowest !== undefined && lowest < nonce! ? `nonce ${lowest} of its wallet is in no block yet` : null;
}

const isMined = (attempts: readonly AttemptRow[]): boolean =>
  attempts.some((attempt) => attempt.status === 'mined' || attempt.status === 'final');
