import type { EntityManager } from 'typeorm';
import { networkOf } from '../../domain/chains/assets';
import { captureJournal, feeJournal, holdKey } from '../../domain/ledger/ledger';
import { fit } from '../../domain/money';
import type { PayoutLineRow } from '../../domain/payouts/payout';
import { bookedFees, bookFeeChange, captureOrReleaseAll, ensureMined, minedOf } from '../../db/ledger/ledger';
import { emitLineEvents, byCurrency, holdOfLine, moveLines, releaseLines } from '../../db/payouts/payouts';
import { dropIntents, type AttemptRow } from '../../db/txmanager/intents';
import { chargeRevert } from '../charge-revert';
import { expired, failureOf } from './failure';

/** Plans that pay one of these go; what they would have paid besides is planned anew. */
async function dropSome(tx: EntityManager, lines: readonly PayoutLineRow[]): Promise<void> {
  await dropIntents(
    tx,
    { kind: 'payout-batch', id: lines[0]!.batch_id },
    lines.flatMap((line) => line.intent_id ?? []),
  );
}

/** Lines that cannot be paid fail before anything is signed; their plans go. The caller refreshes the batch. */
export async function refuseLines(tx: EntityManager, lines: readonly PayoutLineRow[], message: string): Promise<void> {
  await dropSome(tx, lines);
  await failLines(tx, lines, message);
}

/** Addresses that are no longer on the whitelist are not paid. */
export const failUnlisted = (tx: EntityManager, lines: readonly PayoutLineRow[]): Promise<void> =>
  refuseLines(tx, lines, 'The address is no longer on the withdrawal whitelist');

/** J7: nothing of them has left. The caller refreshes the batch. */
export async function failLines(
  tx: EntityManager,
  lines: readonly PayoutLineRow[],
  message: string,
  patch: { intent_id?: null; tx_id?: string } = { intent_id: null },
): Promise<void> {
  await releaseLines(tx, lines);
  const failed = await moveLines(tx, lines, 'failed', { ...patch, merchant_message: message });
  await emitLineEvents(tx, failed, 'mass_payout.leg_failed');
}

/** All that was signed of them has expired. The caller refreshes the batch. */
export const expireLines = (tx: EntityManager, lines: readonly PayoutLineRow[]): Promise<void> =>
  failLines(tx, lines.filter(isOpen), expired, {});

/** J6 and `completed`, or J7 and `failed`. */
export async function bookLines(tx: EntityManager, lines: readonly PayoutLineRow[], mined: AttemptRow): Promise<void> {
  if (mined.success) return completeLines(tx, [{ lines, mined }]);
  const open = lines.filter(isOpen);
  if (!open.length) return;
  await failLines(tx, open, failureOf(mined), { tx_id: mined.tx_id });
  // Account chains alone revert, where a transaction pays one line.
  const [line] = open;
  await chargeRevert(tx, holdOfLine(line!), mined, line!.network_fee);
}

/** One transaction pays many. */
const isShared = (currency: string): boolean => networkOf(currency).kind === 'utxo';
export const isOpen = (line: PayoutLineRow): boolean => line.status === 'processing' || line.status === 'broadcast';

/** J6 and `completed` of lines whose transactions are final and successful, in one go. A transaction that pays many
 *  has its fee booked apart. What was returned before and is spent stays failed: what has arrived besides is for
 *  operators. */
export async function completeLines(
  tx: EntityManager,
  ends: ReadonlyArray<
    Readonly<{ lines: readonly PayoutLineRow[]; mined: Pick<AttemptRow, 'tx_id' | 'fee_units' | 'block_hash'> }>
  >,
): Promise<void> {
  for (const { lines, mined } of ends) {
    const { currency } = lines[0]!;
    if (!isShared(currency)) continue;
    const paid = minedOf(currency, 'A:treasury', mined);
    await ensureMined(tx, paid, (chainFee) => feeJournal({ ...paid, chainFee }));
  }
  const minedBy = new Map(
    ends.flatMap(({ lines, mined }) => lines.filter(isOpen).map((line) => [line, mined] as const)),
  );
  const arrived = byCurrency([...minedBy.keys()]).map((line) => {
    const paid = minedOf(line.currency, 'A:treasury', minedBy.get(line)!);
    return {
      line,
      key: `${holdKey(holdOfLine(line))}/end`,
      paid: isShared(line.currency) ? { ...paid, chainFee: '0' } : paid,
    };
  });
  // Mined again after a reorganisation: it may have cost something else.
  const known = await bookedFees(
    tx,
    arrived.map(({ key }) => key),
  );
  await captureOrReleaseAll(
    tx,
    arrived.map(({ line, key, paid }) =>
      captureJournal({
        ...holdOfLine(line),
        net: fit(line.net_amount, 18, 'down'),
        native: paid.native,
        chainFee: known.get(key) ?? paid.chainFee,
        gasFrom: paid.from,
        txId: paid.txId,
      }),
    ),
  );
  for (const { key, paid } of arrived) if (known.has(key)) await bookFeeChange(tx, key, paid);
  const open = arrived.map(({ line, paid }) => ({ line, txId: paid.txId }));
  const isSaid = ({ line, txId }: (typeof open)[number]): boolean => line.tx_id === txId;
  const completed = await moveLines(
    tx,
    open.filter(isSaid).map(({ line }) => line),
    'completed',
  );
  // Those whose transaction is another than the one that was sent first, or whose sender died before it could say so.
  for (const { line, txId } of open.filter((one) => !isSaid(one)))
    completed.push(...(await moveLines(tx, [line], 'completed', { tx_id: txId })));
  await emitLineEvents(tx, completed, 'mass_payout.leg_completed');
}
