import type { EntityManager } from 'typeorm';
import { failPoint } from '../db/fail-point';
import { ensureMined, reverse, bookFeeChange, type Mined } from '../db/ledger/ledger';
import { depositsById } from '../db/payments/deposits';
import { disband, tellPayment } from '../db/sweeps/sweeps';
import {
  type IntentRow,
  lockIntent,
  attemptsOf,
  type AttemptRow,
  sharesOf,
  accountsOf,
  type ShareRow,
  dropShares,
} from '../db/txmanager/intents';
import { networkOf, assetOf } from '../domain/chains/assets';
import { feeJournal, gasJournal, feeGoneKey } from '../domain/ledger/ledger';
import { fromUnits } from '../domain/money';
import { shareOut, roomOf } from '../domain/sweeps/sweep-batch';
import { lockPurpose } from './kinds/purposes';
import { openIncident } from '../db/incidents';

/** Books an intent at its end: a top-up as J4, a reverted transaction's fee as cost, a sweep with its settlement, of which it
 *  tells the payment's workflow, what leaves with the end of its own row. Safe to repeat: journals have one key each. */

export async function bookIntent(tx: EntityManager, intentId: string): Promise<{ status: IntentRow['status'] }> {
  const purpose = await lockPurpose(tx, intentId);
  const intent = await lockIntent(tx, intentId);
  const mined = (await attemptsOf(tx, intentId)).find((attempt) => attempt.status === 'final');
  if (!mined) return { status: intent.status };
  const topped = intent.kind === 'gas' ? intent.outputs[0]!.address : intent.from_address;
  const home = (await isTreasury(tx, intent.network, topped)) ? 'A:treasury' : 'A:deposit';
  const native = networkOf(intent.currency).native;
  const chainFee = fromUnits(BigInt(mined.fee_units ?? '0'), assetOf(native).decimals);
  const paid = { txId: mined.tx_id, blockHash: mined.block_hash!, native, chainFee };
  if (!mined.success) {
    const from = intent.kind === 'gas' || isTokenBatch(intent) ? 'A:gas' : home;
    await ensureMined(tx, { ...paid, from }, (chainFee) => feeJournal({ txId: mined.tx_id, native, chainFee, from }));
    await disband(tx, intentId, 'its transaction was reverted');
    await openIncident(tx, {
      kind: 'transaction-reverted',
      subject: { kind: 'intent', id: intentId },
      distinction: mined.tx_id,
      details: { intentId, paymentId: intent.payment_id, txId: mined.tx_id },
    });
  } else if (intent.kind === 'gas') {
    const value = fromUnits(BigInt(mined.moved_units), assetOf(native).decimals);
    await ensureMined(tx, { ...paid, from: 'A:gas' }, (chainFee) =>
      gasJournal({ intentId, native, value, chainFee, to: home }),
    );
  } else if (intent.kind === 'sweep') {
    await reverse(tx, feeGoneKey(`sweep/${intentId}`));
    await bookFeeChange(tx, `sweep/${intentId}`, { ...paid, from: 'A:deposit' });
    const paymentIds = intent.payment_id ? [intent.payment_id] : await shareFee(tx, intent, mined, paid);
    await tx.query(
      `UPDATE payment SET sweep_state = 'confirmed', sweep_tx_id = $2 WHERE id = ANY($1) AND status = 'SWEEP_QUEUED'`,
      [paymentIds, mined.tx_id],
    );
    for (const paymentId of paymentIds) await tellPayment(tx, paymentId);
  }
  await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = $1', [intentId]);
  await purpose?.ended(mined);
  await failPoint('finish.beforeCommit');
  return { status: intent.status };
}
/** Does the gas wallet pay for it? */
const isTokenBatch = (intent: IntentRow): boolean =>
  intent.kind === 'sweep' && intent.payment_id === null && networkOf(intent.currency).kind === 'account';

async function isTreasury(tx: EntityManager, network: string, address: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = $1 AND address = $2 AND role = 'treasury'`,
    [network, address],
  );
  return rows.length > 0;
}
/** Each payment's part of what a batch's transaction cost, and out with those whose coins it did not spend. Returns whom it moved. */

async function shareFee(
  tx: EntityManager,
  intent: IntentRow,
  mined: AttemptRow,
  paid: Omit<Mined, 'from'>,
): Promise<string[]> {
  const shares = await sharesOf(tx, intent.id);
  const deposits = await depositsById(tx, intent.deposit_ids);
  const spent = new Set([
    ...deposits.filter((one) => mined.inputs.includes(`${one.tx_id}:${one.out_index}`)).map((one) => one.id),
    ...(await accountsOf(tx, mined.id)).flatMap((account) => account.deposit_ids),
  ]);
  const isIn = (share: ShareRow): boolean => share.deposit_ids.every((id) => spent.has(id));
  const members = shares.filter(isIn);
  const fee = BigInt(mined.fee_units ?? '0');
  const parts = shareOut(
    fee,
    members.map((share) => ({
      weight: BigInt(share.deposit_ids.length),
      // Tokens do not bear their gas in what they are: their settlement charges it.
      room: isTokenBatch(intent) ? fee : roomOfShare(share),
    })),
  );
  for (const [index, share] of members.entries())
    await tx.query('UPDATE sweep_share SET fee_units = $3 WHERE intent_id = $1 AND payment_id = $2', [
      intent.id,
      share.payment_id,
      parts[index]!.toString(),
    ]);
  const booked = await tx.query<Array<{ key: string }>>('SELECT key FROM journal WHERE key = ANY($1)', [
    members.map((share) => `sweep/${intent.id}/${share.payment_id}`),
  ]);
  for (const { key } of booked) await reverse(tx, feeGoneKey(key));
  const isBooked = (share: ShareRow): boolean => booked.some(({ key }) => key.endsWith(`/${share.payment_id}`));
  const again = parts.filter((_, index) => isBooked(members[index]!)).reduce((sum, part) => sum + part, 0n);
  await bookFeeChange(
    tx,
    booked.map(({ key }) => key),
    {
      ...paid,
      chainFee: fromUnits(again, assetOf(paid.native).decimals),
      from: isTokenBatch(intent) ? 'A:gas' : 'A:deposit',
    },
  );
  const left = shares.filter((share) => !isIn(share));
  await dropShares(tx, left, 'its deposits were not there when the batch was sent');
  for (const share of left) await tellPayment(tx, share.payment_id);
  return members.map((share) => share.payment_id);
}
const roomOfShare = (share: ShareRow): bigint =>
  roomOf({
    broughtUnits: BigInt(share.brought_units),
    netUnits: share.net_units === null ? null : BigInt(share.net_units),
  });
