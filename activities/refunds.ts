import type { EntityManager } from 'typeorm';
import { assetOf, networkOf, type NetworkId } from '../domain/assets';
import { DomainError } from '../domain/errors';
import { egressJournal, heldRefundJournal } from '../domain/ledger';
import { compare, fit, fromUnits, subtract, toUnits } from '../domain/money';
import { chooseCoins, type FreeCoin, type RefundRow } from '../domain/refund';
import { gasFor, transferGas } from '../domain/sweep';
import { depositsById } from '../db/deposits';
import { intentsOwnedBy, lockCoinsFor, planIntent, spendableAt, type AttemptRow, type NewIntent } from '../db/intents';
import { ensure } from '../db/ledger';
import { announce, databaseNow, lockPayment, movePayment } from '../db/payments';
import { announceRefund, giveBack, holdOf, lockRefund, moveRefund, refundWorkflow } from '../db/refunds';
import type { PaymentDeps } from './payments';
import type { NextIntent } from './sweeps';

/** How long a refund that nothing can pay now waits before it looks again. */
const lookAgainInMs = 20_000;

/** Plans what sends a refund to its address. */
export const refundActivities = ({ db }: Pick<PaymentDeps, 'db'>) => ({
  /** The first intent of a refund whose end is not booked, planned where there is none yet; null when there is nothing left to do. */
  nextRefundIntent: (refundId: string): Promise<NextIntent> =>
    db.transaction(async (tx) => {
      const refund = await lockRefund(tx, refundId);
      if (!refund) throw new Error(`No refund ${refundId}`);
      const owner = refundWorkflow(refundId);
      const isOpen = (intent: { booked: boolean; status: string }): boolean =>
        !intent.booked && intent.status !== 'dead';
      let intents = await intentsOwnedBy(tx, owner);
      if (!intents.some(isOpen) && refund.status === 'pending') {
        const planned = await planRefund(tx, refund);
        if ('reason' in planned) return { lookAgainInMs, reason: planned.reason };
        for (const intent of planned.intents) await planIntent(tx, intent);
        intents = await intentsOwnedBy(tx, owner);
        if (networkOf(refund.currency).kind === 'utxo') for (const intent of intents) await lockCoinsFor(tx, intent);
      }
      const open = intents.find(isOpen);
      if (!open) return null;
      const to = open.outputs.map((output) => output.address).join(', ');
      return {
        id: open.id,
        network: open.network as NetworkId,
        kind: open.kind,
        summary: `${open.kind === 'gas' ? 'Gas top-up' : 'Refund'} of ${open.currency} to ${to}`,
      };
    }),
});

/** Books the end of a refund's transaction, with the refund's own: J6 and `completed`, or J7 and `failed`. The caller has locked
 *  the payment and the refund, in that order. */
export async function bookRefund(tx: EntityManager, refund: RefundRow, mined: AttemptRow): Promise<void> {
  const native = networkOf(refund.currency).native;
  const isDone = refund.status === 'completed' || refund.status === 'failed';
  if (!mined.success) {
    if (isDone) return;
    await giveBack(tx, refund);
    const failed = await moveRefund(tx, refund, 'failed', {
      tx_id: mined.tx_id,
      merchant_message: 'The transaction was mined and reverted: the address does not take it',
      completed_at: await databaseNow(tx),
    });
    await announceRefund(tx, failed, 'refund.failed', refund.status);
    return;
  }
  const chainFee = fromUnits(BigInt(mined.fee_units ?? '0'), assetOf(native).decimals);
  const end = { ...holdOf(refund), net: refund.net_amount, native, chainFee };
  await ensure(
    tx,
    refund.source === 'deposit' ? heldRefundJournal(end) : egressJournal({ ...end, gasFrom: 'A:treasury' }),
  );
  if (isDone) return;
  // Where the sender died before it could say so.
  const sent =
    refund.status === 'processing' ? await moveRefund(tx, refund, 'broadcast', { tx_id: mined.tx_id }) : refund;
  const done = await moveRefund(tx, sent, 'completed', { tx_id: mined.tx_id, completed_at: await databaseNow(tx) });
  const payment = await lockPayment(tx, refund.payment_id);
  const moved = await movePayment(tx, payment, {
    to: payment.status,
    cause: 'refunded',
    events: [],
    details: { refundId: refund.id, amount: refund.amount, txId: mined.tx_id },
  });
  if (sent !== refund) await announceRefund(tx, sent, 'refund.broadcast', refund.status);
  await announceRefund(tx, done, 'refund.completed', sent.status);
  await announce(tx, payment, moved, []);
}

type Plan = Readonly<{ intents: readonly NewIntent[] } | { reason: string }>;

async function planRefund(tx: EntityManager, refund: RefundRow): Promise<Plan> {
  const network = networkOf(refund.currency);
  const asset = assetOf(refund.currency);
  const [fee] = await tx.query<Array<{ unit_price: string }>>(
    `SELECT unit_price::text FROM network_fee WHERE network = $1 AND taken_at > now() - interval '10 minutes'`,
    [network.id],
  );
  if (!fee) throw new DomainError('UPSTREAM_UNAVAILABLE', `No fresh fee estimate for ${network.id}`);
  const price = fit(fee.unit_price, 0, 'up');
  const units = toUnits(fit(refund.net_amount, asset.decimals, 'down'), asset.decimals);
  const isHeld = refund.source === 'deposit';
  const addresses = isHeld ? await addressOf(tx, refund) : await lockTreasury(tx, refund);
  const intentFrom = (from: string): NewIntent => ({
    kind: 'refund',
    ref: refund.id,
    network: network.id,
    currency: refund.currency,
    from_address: from,
    outputs: [{ address: refund.address!, units: units.toString() }],
    deposit_ids: refund.deposit_ids,
    max_unit_price: null,
    payment_id: null,
    merchant_id: refund.merchant_id,
    owner_workflow: refundWorkflow(refund.id),
  });
  const nothing = {
    reason: `its addresses do not hold ${refund.net_amount} ${refund.currency} now`,
  };

  if (network.kind === 'utxo') {
    const [from] = addresses;
    // All that came goes: what its address does not get is the fee.
    if (from && isHeld) return { intents: [intentFrom(from)] };
    const chosen = chooseCoins(await freeCoins(tx, refund, addresses), units, BigInt(price));
    if (!from || !chosen) return nothing;
    const intent = intentFrom(from);
    const outputs = [...intent.outputs, { address: from, units: null }];
    return { intents: [{ ...intent, outputs, deposit_ids: chosen.map((coin) => coin.id) }] };
  }

  const isToken = asset.contract !== null;
  const feeUnits = isToken ? 0n : BigInt(price) * transferGas.native;
  // From a deposit address no more can be paid than was kept back for it.
  const maxFee = isHeld && !isToken ? toUnits(fit(refund.network_fee, asset.decimals, 'down'), asset.decimals) : null;
  const needed = units + (maxFee ?? feeUnits);
  const from = await holderOf(tx, refund, addresses, fromUnits(needed, asset.decimals));
  if (!from) return nothing;
  if (!isToken) {
    const cap = maxFee === null ? null : (maxFee / transferGas.native).toString();
    return { intents: [{ ...intentFrom(from), max_unit_price: cap }] };
  }
  const gas = gasFor(price, 1);
  return {
    intents: [
      {
        ...intentFrom(await gasAddress(tx, network.id)),
        kind: 'gas',
        ref: refundWorkflow(refund.id),
        currency: network.native,
        outputs: [{ address: from, units: gas.units }],
        deposit_ids: [],
      },
      { ...intentFrom(from), max_unit_price: gas.maxUnitPrice },
    ],
  };
}

/** Treasury addresses with the merchant's money in this currency, that of the refunded payment first; locked, so that two plans do
 *  not take the same coins. */
async function lockTreasury(tx: EntityManager, refund: RefundRow): Promise<string[]> {
  const rows = await tx.query<Array<{ address: string; is_first: boolean }>>(
    `SELECT a.address, a.address = p.settlement_address AS is_first FROM address a JOIN payment p ON p.id = $1
      WHERE a.network = $2 AND a.role = 'treasury' AND a.merchant_id = $3 AND a.currency = $4
      ORDER BY a.key_index DESC FOR NO KEY UPDATE OF a`,
    [refund.payment_id, refund.network, refund.merchant_id, refund.currency],
  );
  return [...rows.filter((row) => row.is_first), ...rows.filter((row) => !row.is_first)].map((row) => row.address);
}

/** Where the deposits of a refund are that were never credited. */
async function addressOf(tx: EntityManager, refund: RefundRow): Promise<string[]> {
  return [...new Set((await depositsById(tx, refund.deposit_ids)).map((deposit) => deposit.address))];
}

/** The first of these addresses that holds `amount`. */
async function holderOf(
  tx: EntityManager,
  refund: RefundRow,
  addresses: readonly string[],
  amount: string,
): Promise<string | null> {
  const { decimals } = assetOf(refund.currency);
  for (const address of addresses) {
    const at = {
      network: refund.network,
      address,
      currency: refund.currency,
      native: networkOf(refund.currency).native,
    };
    const { arrived, goneUnits } = await spendableAt(tx, at);
    if (compare(subtract(arrived, fromUnits(BigInt(goneUnits), decimals)), amount) >= 0) return address;
  }
  return null;
}

/** Confirmed coins on these addresses that no intent has locked. */
async function freeCoins(tx: EntityManager, refund: RefundRow, addresses: readonly string[]): Promise<FreeCoin[]> {
  const { decimals } = assetOf(refund.currency);
  const rows = await tx.query<Array<{ id: string; amount: string }>>(
    `SELECT d.id, d.amount::text FROM deposit d
      WHERE d.network = $1 AND d.address = ANY($2) AND d.status = 'confirmed' AND d.home IN ('own', 'capital') AND d.spent_by_tx IS NULL
        AND NOT EXISTS (SELECT FROM coin_lock l WHERE l.deposit_id = d.id)`,
    [refund.network, addresses],
  );
  return rows.map(({ id, amount }) => ({ id, units: toUnits(fit(amount, decimals, 'down'), decimals) }));
}

async function gasAddress(tx: EntityManager, network: string): Promise<string> {
  const [row] = await tx.query<Array<{ address: string }>>(
    `SELECT address FROM address WHERE network = $1 AND role = 'gas' AND key_index = 0`,
    [network],
  );
  if (!row)
    throw new DomainError(
      'UPSTREAM_UNAVAILABLE',
      `No gas address on ${network}: the signer has not registered its keys`,
    );
  return row.address;
}
