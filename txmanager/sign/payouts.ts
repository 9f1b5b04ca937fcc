import type { DataSource } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { payoutWindow } from '../../domain/payouts/payout';
import { exceeds } from '../../domain/txmanager/fee-limits';
import { useAdmission } from '../../commands/limits/admission';
import { refreshBatch } from '../../commands/payouts/refresh';
import { failPoint } from '../../db/fail-point';
import {
  lockBatch,
  payoutToSign,
  storeSigned,
  unsignedOf,
  type DueIntent,
  type DueLeg,
  type SignedTransfer,
  type ToSign,
} from '../../db/payouts/payouts';
import { limitsOf } from '../fee-caps';
import { unitsOf } from '../kinds/payout-line';
import { heldAt, transferOf } from './account';
import { signBump } from './bump';
import { signOnce } from './once';
import { capped, noPrice, priced } from './price';
import { codecOf, networkKind, type Signed, type Signer } from './signer';
import { walletFrozen } from './wallet';
import { openIncident } from '../../db/incidents';

/** Signs what is planned of a mass payout, each once. Tokens wait until their gas is in the chain. Safe to repeat. */
export async function signPayouts(
  signer: Signer,
  db: DataSource,
  batchId: string,
): Promise<Readonly<{ stored: number; reason?: string }>> {
  const planned = await unsignedOf(db, batchId);
  const transfers = new Map<string, string[]>();
  for (const { id, kind, network, currency, from_address } of planned)
    if (kind === 'leg' && networkKind(network) === 'account') {
      const from = `${network} ${currency} ${from_address}`;
      transfers.set(from, [...(transfers.get(from) ?? []), id]);
    }
  let stored = 0;
  for (const ids of transfers.values())
    for (let n = 0; n < ids.length; n += payoutWindow)
      stored += await signTogether(signer, db, batchId, ids.slice(n, n + payoutWindow)).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'WALLET_FROZEN') return 0;
        throw error;
      });
  // One by one what is left: gas, coins, and whatever is not as it should be.
  const left = (await db.query(
    `SELECT id FROM intent WHERE id = ANY($1::bigint[]) AND status = 'planned' ORDER BY id`,
    [planned.map((intent) => intent.id)],
  )) as Array<{ id: string }>;
  let reason: string | undefined;
  for (const { id } of left) {
    const signed = await apart(db, id, () => signOnce(signer, db, id));
    if (signed.state === 'stored') stored += 1;
    else reason ??= signed.reason;
  }
  if (left.length)
    await db.transaction(async (tx) => {
      const batch = await lockBatch(tx, batchId);
      if (batch) await refreshBatch(tx, batch);
    });
  return { stored, ...(reason === undefined ? {} : { reason }) };
}

/** One more attempt for each of these, as `signBump` makes it. */
export async function bumpPayouts(
  signer: Signer,
  db: DataSource,
  stuck: ReadonlyArray<Readonly<{ id: string; attempts: number }>>,
): Promise<number> {
  let stored = 0;
  for (const { id, attempts } of stuck)
    if ((await apart(db, id, () => db.transaction((tx) => signBump(signer, tx, id, attempts)))).state === 'stored')
      stored += 1;
  return stored;
}

/** One of many: what is wrong with it stops it alone. */
async function apart(db: DataSource, intentId: string, sign: () => Promise<Signed>): Promise<Signed> {
  try {
    return await sign();
  } catch (error) {
    if (!(error instanceof DomainError) || !['WALLET_FROZEN', 'INTENT_MISMATCH'].includes(error.code)) throw error;
    await openIncident(db, {
      kind: 'signature-refused',
      subject: { kind: 'intent', id: intentId },
      details: { intentId, code: error.code, reason: error.message },
    });
    return { state: 'waiting', reason: error.message };
  }
}

/** Transfers of one payout from one address, signed and stored together: one lock of the wallet, nonces without a
 *  gap. What is not as its rows say, or may not be signed now, is left to `signOnce`, which says why. Returns how
 *  many there were. */
async function signTogether(signer: Signer, db: DataSource, batchId: string, ids: readonly string[]): Promise<number> {
  const stored = await db.transaction(async (tx) => {
    let found = await payoutToSign(tx, batchId, ids);
    if (!found || found.isFrozen) return 0;
    if (!found.isAdmitted) {
      if (!payable(signer, found).length || (await useAdmission(tx, 'mass_payout', batchId))) return 0;
      found = (await payoutToSign(tx, batchId, ids))!;
    }
    const due = payable(signer, found);
    const [first] = due;
    const { key, nonce, price: today } = found;
    if (!first || key?.role !== 'treasury' || nonce === null) return 0;
    const { network, from_address } = first.intent;
    if (found.walletFrozen !== null) throw walletFrozen(from_address, found.walletFrozen);
    if (!today) throw noPrice(network);
    let left = await heldAt(tx, first.intent);
    const now = priced(network, today);
    const rows: SignedTransfer[] = [];
    for (const { intent, leg } of due) {
      const price = capped(intent, now);
      const units = unitsOf(leg);
      const output = { address: leg.address, units: units.toString() };
      const plan = transferOf(intent, output, units, { price, key, nonce: nonce + rows.length });
      const feeUnits = plan.gasLimit * plan.maxFeePerGas;
      if (exceeds(limitsOf(intent), price.unitPrice, feeUnits)) continue;
      left -= units + (plan.token ? 0n : feeUnits);
      if (left < 0n) break;
      const { txId, raw } = codecOf(signer, first.intent).sign(signer.seed, plan);
      rows.push({
        intent_id: intent.id,
        leg_id: leg.id,
        tx_id: txId,
        raw,
        nonce: plan.nonce,
        unit_price: price.unitPrice,
        max_fee_units: feeUnits.toString(),
        moved_units: units.toString(),
        outputs: [output],
      });
    }
    if (!rows.length) return 0;
    await storeSigned(tx, first.intent, rows);
    const batch = found.status === 'processing' ? null : await lockBatch(tx, batchId);
    if (batch) await refreshBatch(tx, batch);
    await failPoint('sign.beforeCommit');
    return rows.length;
  });
  await failPoint('sign.afterCommit');
  return stored;
}

/** Those that pay exactly what one pending payment says, to an address that is on the whitelist, from the address
 *  of the first. */
function payable(signer: Signer, { intents, legs, isListed }: ToSign): Array<{ intent: DueIntent; leg: DueLeg }> {
  const byIntent = new Map<string, DueLeg[]>();
  for (const leg of legs) byIntent.set(leg.intent_id!, [...(byIntent.get(leg.intent_id!) ?? []), leg]);
  const from = (intent: DueIntent): string => `${intent.network} ${intent.currency} ${intent.from_address}`;
  return intents.flatMap((intent) => {
    const [leg, more] = byIntent.get(intent.id) ?? [];
    const [output, another] = intent.outputs;
    const isSo =
      leg &&
      !more &&
      !another &&
      isListed(leg) &&
      from(intent) === from(intents[0]!) &&
      intent.currency === leg.currency &&
      intent.network === leg.network &&
      output?.address === leg.address &&
      output.units === unitsOf(leg).toString() &&
      codecOf(signer, intent).normalise(leg.address) === leg.address;
    return isSo ? [{ intent, leg }] : [];
  });
}
