import type { EntityManager } from 'typeorm';
import { assetOf } from '../../domain/chains/assets';
import type { KeyRole } from '../../domain/chains/chain';
import { isCarried } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { everyCurrency, holdFreezes } from '../../db/limits/egress';
import { depositsById } from '../../db/payments/deposits';
import { sharesOf, type IntentRow, type ShareRow } from '../../db/txmanager/intents';
import type { Purpose } from '../purpose';
import { codecOf, networkKind, type Signer } from './signer';
import { keyOf } from './wallet';

const roleOf = async (tx: EntityManager, network: string, address: string): Promise<KeyRole | null> =>
  (
    await tx.query<Array<{ role: KeyRole }>>('SELECT role FROM address WHERE network = $1 AND address = $2', [
      network,
      address,
    ])
  )[0]?.role ?? null;

/** What leaves is what its purpose says; what else is paid goes to the treasury, and all of it comes from there.
 *  Anything else was written by somebody else. */
async function checkPurpose(tx: EntityManager, intent: IntentRow, purpose: Purpose): Promise<void> {
  const mismatch = (what: string): DomainError =>
    new DomainError('INTENT_MISMATCH', `Intent ${intent.id} and ${intent.kind} ${intent.ref} differ: ${what}`);
  if (intent.currency !== purpose.currency || intent.network !== assetOf(purpose.currency).network)
    throw mismatch('currency');
  for (const [index, wanted] of purpose.outputs.entries()) {
    const output = intent.outputs[index];
    if (output?.address !== wanted.address || output.units !== wanted.units) throw mismatch('address or amount');
  }
  for (const extra of intent.outputs.slice(purpose.outputs.length))
    if (purpose.held || (await roleOf(tx, intent.network, extra.address)) !== 'treasury')
      throw mismatch('another output');
  const deposits = await depositsById(tx, intent.deposit_ids);
  const sources = [...new Set([intent.from_address, ...deposits.map((deposit) => deposit.address)])];
  if (purpose.held && (sources.length > 1 || !isSame(intent.deposit_ids, purpose.held.depositIds)))
    throw mismatch('deposits');
  const [row] = await tx.query<Array<{ own: number }>>(
    `SELECT count(*)::int AS own FROM address WHERE network = $1 AND address = ANY($2) AND role = $3
        AND ($4::text IS NULL OR merchant_id = $4)`,
    [intent.network, sources, purpose.held ? 'deposit' : 'treasury', purpose.held?.merchantId ?? null],
  );
  if (row?.own !== sources.length) throw mismatch('an address that it comes from does not hold this money');
}

/** Where an intent may send to: for a sweep, the settlement address stamped on its payment and our own treasury;
 *  for a gas top-up, an address of ours that money is sent from; for what leaves, see `checkPurpose`. */
export async function checkDestinations(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  purpose: Purpose | null,
): Promise<void> {
  if (!isCarried(assetOf(intent.currency)))
    throw new DomainError('INTENT_MISMATCH', `${intent.currency} is not sent without a destination tag`);
  for (const output of intent.outputs) {
    if (codecOf(signer, intent).normalise(output.address) !== output.address) {
      throw new DomainError('INTENT_MISMATCH', `${output.address} is not in the form that ${intent.network} stores`);
    }
    if (purpose) continue;
    const [row] = await tx.query<Array<{ allowed: boolean }>>(
      `SELECT CASE $1 WHEN 'sweep' THEN EXISTS (SELECT FROM payment WHERE id = $3 AND settlement_address = $4)
                                     OR EXISTS (SELECT FROM sweep_share s JOIN payment p ON p.id = s.payment_id
                                       WHERE s.intent_id = $5 AND p.settlement_address = $4)
                                     OR EXISTS (SELECT FROM address WHERE network = $2 AND address = $4
                                       AND role = 'treasury')
                      WHEN 'gas' THEN EXISTS (SELECT FROM address WHERE network = $2 AND address = $4 AND role
                        IN ('deposit', 'treasury'))
                      ELSE false END AS allowed`,
      [intent.kind, intent.network, intent.payment_id, output.address, intent.id],
    );
    if (!row?.allowed)
      throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id} may not send to ${output.address}`);
  }
  if (purpose) await checkPurpose(tx, intent, purpose);
}

/** A batch is what its shares say: payments of one merchant with one settlement address, and deposits of their own. */
async function checkBatch(tx: EntityManager, intent: IntentRow, shares: readonly ShareRow[]): Promise<void> {
  if (!shares.length) return;
  const mismatch = (what: string): DomainError =>
    new DomainError('INTENT_MISMATCH', `Batch intent ${intent.id} is not what its payments say: ${what}`);
  const [settlement, ours] = intent.outputs;
  if (intent.kind !== 'sweep' || intent.payment_id) throw mismatch('kind');
  const [row] = await tx.query<Array<{ payments: number; deposits: number }>>(
    `SELECT count(*)::int AS payments, coalesce(sum((SELECT count(*) FROM deposit d WHERE d.id = ANY(s.deposit_ids)
              AND coalesce(d.child_payment_id, d.payment_id) = p.id AND d.currency = p.currency)), 0)::int AS deposits
       FROM sweep_share s JOIN payment p ON p.id = s.payment_id
      WHERE s.intent_id = $1 AND s.dropped_at IS NULL AND p.merchant_id = $2 AND p.currency = $3
        AND p.settlement_address = $4
        AND (p.custody = 'external') = (s.net_units IS NOT NULL)`,
    [intent.id, intent.merchant_id, intent.currency, settlement?.address],
  );
  const ids = shares.flatMap((share) => share.deposit_ids);
  if (row?.payments !== shares.length) throw mismatch('payments');
  if (row.deposits !== ids.length || new Set(ids).size !== ids.length) throw mismatch('deposits');
  if (!ids.every((id) => intent.deposit_ids.includes(id))) throw mismatch('deposits');
  if (networkKind(intent.network) === 'account') {
    const from = await keyOf(tx, intent.network, intent.from_address);
    if (from.role !== 'gas' || shares.some((share) => share.net_units !== null)) throw mismatch('sender');
  }
  if (shares[0]!.net_units === null ? ours || settlement?.units !== null : ours?.units !== null)
    throw mismatch('outputs');
}

/** What of a batch can be moved now: payments whose deposits are all in the chain and credited. The intent as it
 *  stands where it is no batch. */
export async function movable(tx: EntityManager, intent: IntentRow): Promise<IntentRow> {
  const shares = await sharesOf(tx, intent.id);
  if (!shares.length) return intent;
  await checkBatch(tx, intent, shares);
  const frozen = await tx.query<Array<{ address: string }>>(
    'SELECT address FROM wallet_sequence WHERE network = $1 AND frozen_reason IS NOT NULL',
    [intent.network],
  );
  const isFrozen = (address: string): boolean => frozen.some((wallet) => wallet.address === address);
  const there = new Set(
    (await depositsById(tx, intent.deposit_ids))
      .filter((deposit) => deposit.status === 'confirmed' && deposit.home === 'unsettled')
      .filter((deposit) => !isFrozen(deposit.address))
      .map((deposit) => deposit.id),
  );
  const members = shares.filter((share) => share.deposit_ids.every((id) => there.has(id)));
  const net = members.reduce((sum, share) => sum + BigInt(share.net_units ?? '0'), 0n);
  return {
    ...intent,
    deposit_ids: members.flatMap((share) => share.deposit_ids),
    outputs: intent.outputs.map((output) => (output.units === null ? output : { ...output, units: net.toString() })),
  };
}

export async function blocked(tx: EntityManager, intent: IntentRow, purpose: Purpose | null): Promise<string | null> {
  if (!intent.deposit_ids.length && intent.kind === 'sweep') return 'none of its deposits is in the chain';
  const deposits = await depositsById(tx, intent.deposit_ids);
  const homes = !purpose ? ['unsettled'] : purpose.held ? ['refunded'] : ['own', 'capital'];
  const gone = deposits.find((deposit) => deposit.status !== 'confirmed' || !homes.includes(deposit.home ?? ''));
  if (gone) return `deposit ${gone.id} is ${gone.status}`;
  await holdFreezes(tx);
  const [frozen] = await tx.query<Array<{ reason: string }>>(
    `SELECT reason FROM egress_freeze WHERE currency IN ($1, $4) AND NOT EXISTS (
       SELECT FROM address WHERE network = $2 AND address = $3)`,
    [intent.currency, intent.network, intent.outputs[0]?.address, everyCurrency],
  );
  return frozen ? `egress frozen: ${frozen.reason}` : null;
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));
