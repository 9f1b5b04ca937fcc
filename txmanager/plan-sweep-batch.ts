import type { EntityManager } from 'typeorm';
import { faultOfSweeper } from '../chains/evm/sweeper';
import { baseUnits, isToken, networkOf } from '../domain/chains/assets';
import { batchLimitWork } from '../domain/chains/costs';
import { newId } from '../domain/ids';
import { add } from '../domain/money';
import type { PaymentRow } from '../domain/payments/payment';
import { splitPaid } from '../domain/pricing/quote';
import { feeLimits } from '../domain/txmanager/fee-limits';
import { tokenFee } from '../domain/sweeps/sweep';
import { batchLimit, chooseBatch, coinFee, type Candidate } from '../domain/sweeps/sweep-batch';
import { freshUnitPrice } from '../db/chains/fees';
import { intentsOf, planIntent } from '../db/txmanager/intents';
import { paymentColumns } from '../db/payments/payments';
import { heldUpWallets } from '../db/treasury/lanes';
import { ownAddress } from '../db/treasury/treasury';
import { type SweepTerms, type Ready, deadlinesOf, isPlanned, orphanedFor, readyDeposits } from './sweep-terms';

/** Sweeps of many payments in one transaction. */

/** Holds the row of a payment's group, where its sweep may be part of a batch, until the transaction ends: to be called
 *  before any payment is locked. */
export async function lockGroup(tx: EntityManager, paymentId: string, terms: SweepTerms): Promise<void> {
  const [group] = await tx.query<
    Array<Pick<PaymentRow, 'merchant_id' | 'currency' | 'settlement_address' | 'custody'>>
  >(`SELECT merchant_id, currency, settlement_address, custody FROM payment WHERE id = $1 AND status = 'CONFIRMED'`, [
    paymentId,
  ]);
  if (!group || !canBatch(group, terms)) return;
  const key = [group.merchant_id, group.currency, group.settlement_address];
  await tx.query('INSERT INTO sweep_group VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', key);
  await tx.query(
    'SELECT FROM sweep_group WHERE merchant_id = $1 AND currency = $2 AND settlement_address = $3 FOR UPDATE',
    key,
  );
}

/** Coins always; tokens where the sweeper is there, and each payment has an address of its own. Native coins of
 *  accounts go one by one. */
export function canBatch({ currency }: Pick<PaymentRow, 'currency'>, terms: SweepTerms): boolean {
  const { id, kind, destinationTags } = networkOf(currency!);
  if (kind === 'utxo') return true;
  return isToken(currency!) && !destinationTags && terms.sweepers[id] !== undefined;
}

/** The contract obeys the first gas wallet alone. While that is frozen or blocked, and where the contract is one of
 *  another release or wallet, tokens go by top-ups. */
async function isSweeperOut(tx: EntityManager, currency: string, terms: SweepTerms): Promise<boolean> {
  if (!isToken(currency)) return false;
  const { id } = networkOf(currency);
  const gasWallet = await ownAddress(tx, id, 'gas');
  if (faultOfSweeper(terms.sweepers[id]!, gasWallet) !== null) return true;
  return (await heldUpWallets(tx, id, 'gas')).includes(gasWallet);
}

/** Other payments that are ready for the same settlement address, locked: one that somebody else holds is left for its
 *  own turn. */
async function batchCandidatesOf(tx: EntityManager, payment: PaymentRow): Promise<Ready[]> {
  const rows = await tx.query<PaymentRow[]>(
    `SELECT ${paymentColumns} FROM payment p
      WHERE status = 'CONFIRMED' AND merchant_id = $1 AND currency = $2 AND settlement_address = $3 AND custody = $4
        AND id <> $5
      ORDER BY id LIMIT ${batchLimit - 1} FOR UPDATE SKIP LOCKED`,
    [payment.merchant_id, payment.currency, payment.settlement_address, payment.custody, payment.id],
  );
  const ready: Ready[] = [];
  for (const row of rows) {
    const deposits = await readyDeposits(tx, row.id);
    const one = { payment: row, deposits };
    if (!deposits.length || isPlanned(await intentsOf(tx, row.id), deposits)) continue;
    if (!(await orphanedFor(tx, one)).length) ready.push(one);
  }
  return ready;
}

function candidateOf({ payment, deposits }: Ready, isDue: boolean): Candidate {
  const currency = payment.currency!;
  const paid = add('0', ...deposits.map((deposit) => deposit.amount));
  const net =
    payment.custody === 'external' ? splitPaid(paid, currency, payment.fee_bps, payment.network_fee_amount!).net : null;
  return {
    paymentId: payment.id,
    inputs: deposits.length,
    nativeRate: payment.native_rate!,
    broughtUnits: baseUnits(currency, paid),
    netUnits: net === null ? null : baseUnits(currency, net),
    isDue,
  };
}

/** Plans one sweep of this payment and all that are ready to go with it. Returns those, itself first; null where it
 *  cannot pay for its own part, or is of coins and alone. A token goes this way alone too: a top-up would leave
 *  most of itself on an address that is used once. */
export async function planTogether(
  tx: EntityManager,
  own: Ready,
  terms: SweepTerms,
  now: Date,
): Promise<{ id: string; members: Ready[] } | null> {
  const currency = own.payment.currency!;
  if (!canBatch(own.payment, terms) || (await isSweeperOut(tx, currency, terms))) return null;
  const all = [own, ...(await batchCandidatesOf(tx, own.payment))];
  const network = networkOf(currency);
  const least = network.kind === 'account' ? 1 : 2;
  if (all.length < least) return null;
  const candidates = all.map((ready) => candidateOf(ready, now >= deadlinesOf(ready.payment, terms).price));
  const isTokens = network.kind === 'account';
  const price = await freshUnitPrice(tx, network.id);
  const chosen = chooseBatch(
    candidates,
    isTokens ? tokenFee(currency, price) : coinFee(currency, price),
    terms.maxCostPct,
  );
  if (chosen.length < least || chosen[0]?.paymentId !== own.payment.id) return null;
  const members = chosen.map((one) => all.find((ready) => ready.payment.id === one.paymentId)!);
  const id = newId();
  const isExternal = own.payment.custody === 'external';
  const net = chosen.reduce((sum, one) => sum + (one.netUnits ?? 0n), 0n);
  const count = chosen.reduce((sum, one) => sum + one.inputs, 0);
  const work = batchLimitWork({ currency, inputs: count, outputs: isExternal ? 2 : 1 });
  const limits = feeLimits(network.id, price, work);
  const intentId = await planIntent(tx, {
    kind: 'sweep',
    ref: `batch/${id}`,
    network: network.id,
    currency,
    from_address: isTokens ? await ownAddress(tx, network.id, 'gas') : members[0]!.deposits[0]!.address,
    outputs: isExternal
      ? [
          { address: own.payment.settlement_address!, units: net.toString() },
          { address: await ownAddress(tx, network.id, 'treasury'), units: null },
        ]
      : [{ address: own.payment.settlement_address!, units: null }],
    deposit_ids: members.flatMap((member) => member.deposits.map((deposit) => deposit.id)),
    max_unit_price: limits.maxUnitPrice,
    fee_budget: limits.feeBudget,
    payment_id: null,
    merchant_id: own.payment.merchant_id,
    owner_kind: 'sweep-batch',
    owner_id: id,
  });
  for (const [position, one] of chosen.entries())
    await tx.query(
      `INSERT INTO sweep_share (intent_id, payment_id, position, deposit_ids, brought_units, net_units)
         VALUES ($1, $2, $3, $4, $5, $6)`,
      [
        intentId,
        one.paymentId,
        position,
        members[position]!.deposits.map((deposit) => deposit.id),
        one.broughtUnits.toString(),
        one.netUnits?.toString() ?? null,
      ],
    );
  return { id, members };
}
