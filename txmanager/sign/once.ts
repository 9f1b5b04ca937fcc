import type { DataSource, EntityManager } from 'typeorm';
import { failPoint } from '../../db/fail-point';
import { disband } from '../../db/sweeps/sweeps';
import { endIntent, noteWait, type IntentRow } from '../../db/txmanager/intents';
import { DomainError } from '../../domain/errors';
import { notePassed } from '../../db/txmanager/turns';
import { isOfMany } from '../../domain/txmanager/kinds';
import { signAccount } from './account';
import { signExpiring } from './expiring';
import { lockAsked, verdictsOn } from './facts';
import { lookFor, looksOf, type Look } from './look';
import type { WaitCause } from '../../domain/txmanager/waits';
import type { SignVerdict } from './policy';
import { capped, priced } from './price';
import { networkKind, refusal, type Signed, type Signer } from './signer';
import { signTokens } from './tokens';
import { waitInTurn } from './turn';
import { signUtxo } from './utxo';
import { freezeForeign, useNonce } from './wallet';

/** How often a batch may be refused before its payments are swept one by one. */
const batchTries = 5;

/** The signed transaction of an intent, made once: a repeat finds the attempt stored. Throws WALLET_FROZEN,
 *  INTENT_MISMATCH. */
export async function signOnce(signer: Signer, db: DataSource, intentId: string): Promise<Signed> {
  const look = await lookFor(signer, db, intentId);
  const signed = await db
    .transaction((tx) => signIn(signer, tx, intentId, look))
    .catch(async (error: unknown) => {
      // Nothing of the transaction is left: the merchant is told apart from it.
      const cause = error instanceof DomainError ? causeOf[error.code] : undefined;
      if (cause) await noteWait(db, intentId, cause);
      if (look && cause && !isOfWallet(error)) await notePassed(db, intentId);
      throw error;
    });
  await failPoint('sign.afterCommit');
  return signed;
}

/** What the merchant is told where nothing may be signed for a while. */
const causeOf: Readonly<Partial<Record<string, WaitCause>>> = {
  WALLET_FROZEN: 'checked',
  INTENT_MISMATCH: 'checked',
  UPSTREAM_UNAVAILABLE: 'network',
};

const isOfWallet = (error: unknown): boolean => error instanceof DomainError && error.code === 'WALLET_FROZEN';

async function signIn(signer: Signer, tx: EntityManager, intentId: string, look: Look | null): Promise<Signed> {
  const asked = await lockAsked(tx, [intentId], 'first');
  const [answer] = await verdictsOn(signer, tx, asked, 'first', looksOf(intentId, look));
  const { planned, obligation, facts, verdict, intent, wallet, price: today } = answer!;
  if (verdict.state === 'refused') throw refusal(verdict);
  if (verdict.state === 'foreign') {
    await freezeForeign(tx, planned, verdict);
    return wait(tx, planned, verdict.reason, 'checked');
  }
  if (verdict.state === 'waiting') {
    const { reason, cause } = verdict;
    return { ...(await waitInTurn(tx, answer!, verdict)), ...(await refuse(tx, planned, reason, cause)) };
  }
  // At once: an address may be listed again before anybody looks.
  if (verdict.state === 'dropped' && verdict.unlisted) await obligation?.unlisted?.(verdict.unlisted);
  if (verdict.state !== 'sign') return answerOf(verdict);
  const { own } = facts;
  const isOutgoing = obligation !== null;
  const isExpiring = facts.expiry !== null;
  const nonce = isExpiring || networkKind(intent.network) === 'utxo' ? null : wallet!.next_nonce;
  const price = isExpiring ? null : capped(intent, priced(intent.network, today!));
  const signed =
    price === null
      ? await signExpiring(signer, tx, intent, { facts, n: 1, isOutgoing })
      : nonce === null
        ? await signUtxo(signer, tx, intent, { unitPrice: price.unitPrice, n: 1, own })
        : facts.batch !== null
          ? await signTokens(signer, tx, intent, { price, n: 1, nonce, own })
          : await signAccount(signer, tx, intent, { price, n: 1, nonce, isOutgoing, own });
  if (signed.state === 'waiting') return refuse(tx, planned, signed.reason ?? '', signed.cause ?? 'funds');
  if (signed.state === 'stored') await obligation?.stored();
  if (signed.state === 'stored' && nonce !== null) await useNonce(tx, intent.network, intent.from_address);
  await failPoint('sign.beforeCommit');
  return signed;
}

async function wait(tx: EntityManager, intent: IntentRow, reason: string, cause: WaitCause): Promise<Signed> {
  await noteWait(tx, intent.id, cause);
  return { state: 'waiting', reason };
}

/** Not now; or never again, where a batch has been refused so often that its payments go by themselves. */
async function refuse(tx: EntityManager, intent: IntentRow, reason: string, cause: WaitCause): Promise<Signed> {
  if (!isOfMany(intent)) return wait(tx, intent, reason, cause);
  if (intent.refusals + 1 < batchTries) {
    await tx.query('UPDATE intent SET refusals = refusals + 1 WHERE id = $1', [intent.id]);
    return { state: 'waiting', reason };
  }
  await endIntent(tx, intent.id, ['planned']);
  await disband(tx, intent.id, reason);
  return { state: 'dropped', reason };
}

const answerOf = (verdict: Extract<SignVerdict, { state: 'stored' | 'dropped' }>): Signed => ({
  state: verdict.state,
  ...('reason' in verdict && verdict.reason !== undefined ? { reason: verdict.reason } : {}),
});
