import type { EntityManager } from 'typeorm';
import { failPoint } from '../db/fail-point';
import { ensure, ensureMined, type Mined } from '../db/ledger/ledger';
import { accountAt } from '../db/treasury/treasury';
import { correctionsFor } from '../db/txmanager/differing';
import { accountsOf, attemptsOf, lockIntent, type AttemptRow, type IntentRow } from '../db/txmanager/intents';
import { networkOf, assetOf } from '../domain/chains/assets';
import { differingJournal } from '../domain/ledger/differing';
import { feeJournal } from '../domain/ledger/ledger';
import { fromUnits } from '../domain/money';
import { kindOf } from './kinds';
import { lockObligation } from './kinds/obligations';
import { openIncident } from '../db/incidents';

/** Books an intent at its end, as its kind says: the fee of a reverted or a replacing transaction as cost, a success by
 *  the kind, and then the row that had it sent. Safe to repeat: journals have one key each. */
export async function bookIntent(tx: EntityManager, intentId: string): Promise<{ status: IntentRow['status'] }> {
  const obligation = await lockObligation(tx, intentId);
  const intent = await lockIntent(tx, intentId);
  const mined = (await attemptsOf(tx, intentId)).find((attempt) => attempt.status === 'final');
  if (!mined) return { status: intent.status };
  const { native } = networkOf(intent.currency);
  const chainFee = fromUnits(BigInt(mined.fee_units ?? '0'), assetOf(native).decimals);
  const paid = { txId: mined.tx_id, blockHash: mined.block_hash!, native, chainFee };
  if (mined.success) await kindOf(intent).book?.(tx, { intent, mined, paid });
  else await bookReverted(tx, intent, mined, paid);
  await bookDifference(tx, intent, mined);
  await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = $1', [intentId]);
  await obligation?.ended(mined);
  await failPoint('finish.beforeCommit');
  return { status: intent.status };
}

/** What a transfer moved beside what its usual journals say, once two operators have decided what it has paid. */
async function bookDifference(tx: EntityManager, intent: IntentRow, mined: AttemptRow): Promise<void> {
  const { decision, moves, outputs, from_address: from, tx_id: txId, block_hash: blockHash } = mined;
  if (decision === null || moves === null) return;
  const { network, currency } = intent;
  const accounts = await accountsOf(tx, mined.id);
  const corrections = await correctionsFor(tx, { network, from, outputs, accounts, moves }, decision);
  if (!corrections.size) return;
  await ensure(tx, differingJournal({ txId, blockHash: blockHash!, decision, currency, corrections }));
}

async function bookReverted(
  tx: EntityManager,
  intent: IntentRow,
  { tx_id: txId, is_replacement, decision }: AttemptRow,
  paid: Omit<Mined, 'from'>,
): Promise<void> {
  const { isGasPaid, reverted } = kindOf(intent);
  const from = isGasPaid?.(intent) ? 'A:gas' : await accountAt(tx, intent.network, intent.from_address);
  await ensureMined(tx, { ...paid, from }, (chainFee) => feeJournal({ txId, native: paid.native, chainFee, from }));
  await reverted?.(tx, intent);
  if (is_replacement || decision !== null) return;
  await openIncident(tx, {
    kind: 'transaction-reverted',
    subject: { kind: 'intent', id: intent.id },
    distinction: txId,
    details: { intentId: intent.id, paymentId: intent.payment_id, txId },
  });
}
