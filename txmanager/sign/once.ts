import type { DataSource, EntityManager } from 'typeorm';
import { failPoint } from '../../db/fail-point';
import { disband } from '../../db/sweeps/sweeps';
import { attemptsOf, lockIntent, type IntentRow } from '../../db/txmanager/intents';
import { lockPurpose } from '../kinds/purposes';
import { signAccount } from './account';
import { blocked, checkDestinations, movable } from './facts';
import { capped, priceNow } from './price';
import { networkKind, type Signed, type Signer } from './signer';
import { signTokens } from './tokens';
import { signUtxo } from './utxo';
import { lockWallet } from './wallet';

/** How often a batch may be refused before its payments are swept one by one. */
const batchTries = 5;

/** The signed transaction of an intent, made once: a repeat finds the attempt stored. Throws WALLET_FROZEN,
 *  INTENT_MISMATCH. */
export async function signOnce(signer: Signer, db: DataSource, intentId: string): Promise<Signed> {
  const signed = await db.transaction(async (tx): Promise<Signed> => {
    const purpose = await lockPurpose(tx, intentId);
    const planned = await lockIntent(tx, intentId);
    if ((await attemptsOf(tx, intentId)).length) return { state: 'stored' };
    if (planned.status === 'dead') return { state: 'dropped' };
    const intent = await movable(tx, planned);
    const reason = await blocked(tx, intent, purpose);
    if (reason) return refuse(tx, planned, reason);
    await checkDestinations(signer, tx, intent, purpose);
    const verdict = await purpose?.mayBeSigned();
    if (verdict && verdict.state !== 'go') return verdict;
    const price = capped(intent, await priceNow(tx, intent.network));
    const isUtxo = networkKind(intent.network) === 'utxo';
    const next = await lockWallet(tx, intent);
    const nonce = isUtxo ? null : next;
    const signed =
      nonce === null
        ? await signUtxo(signer, tx, intent, price.unitPrice, 1)
        : intent !== planned
          ? await signTokens(signer, tx, intent, { price, n: 1, nonce })
          : await signAccount(signer, tx, intent, { price, n: 1, nonce, isOutgoing: purpose !== null });
    if (signed.state === 'waiting') return refuse(tx, planned, signed.reason ?? '');
    if (signed.state === 'stored') await purpose?.stored();
    if (signed.state === 'stored' && !isUtxo) {
      await tx.query('UPDATE wallet_sequence SET next_nonce = next_nonce + 1 WHERE network = $1 AND address = $2', [
        intent.network,
        intent.from_address,
      ]);
    }
    await failPoint('sign.beforeCommit');
    return signed;
  });
  await failPoint('sign.afterCommit');
  return signed;
}

/** Not now; or never again, where a batch has been refused so often that its payments go by themselves. */
async function refuse(tx: EntityManager, intent: IntentRow, reason: string): Promise<Signed> {
  if (intent.kind !== 'sweep' || intent.payment_id) return { state: 'waiting', reason };
  if (intent.refusals + 1 < batchTries) {
    await tx.query('UPDATE intent SET refusals = refusals + 1 WHERE id = $1', [intent.id]);
    return { state: 'waiting', reason };
  }
  await tx.query(`UPDATE intent SET status = 'dead', updated_at = now() WHERE id = $1`, [intent.id]);
  await disband(tx, intent.id, reason);
  return { state: 'dropped', reason };
}
