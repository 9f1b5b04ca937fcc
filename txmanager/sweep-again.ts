import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../domain/payments/payment';
import type { DepositRow } from '../db/payments/deposits';
import { startSweep } from '../db/chains/notify';
import { intentsOf } from '../db/txmanager/intents';
import { planAlone, planRest } from './plan-sweep-alone';
import { isPlanned, readyDeposits } from './sweep-terms';

/** A queued payment that its batch has dropped is swept by itself. */
export async function sweepAgain(tx: EntityManager, payment: PaymentRow): Promise<void> {
  const [dropped] = await tx.query<unknown[]>(
    'SELECT 1 FROM sweep_share WHERE payment_id = $1 AND dropped_at IS NOT NULL LIMIT 1',
    [payment.id],
  );
  if (!dropped) return;
  const own = { payment, deposits: await readyDeposits(tx, payment.id) };
  if (!own.deposits.length || isPlanned(await intentsOf(tx, payment.id), own.deposits)) return;
  if (await planAlone(tx, own)) await startSweep(tx, payment, { kind: 'sweep', id: payment.id });
}

/** Sweeps what a transaction for other deposits has left of a payment's own; true where there is something. */
export async function sweepRest(
  tx: EntityManager,
  payment: PaymentRow,
  deposits: readonly DepositRow[],
  done: Parameters<typeof planRest>[3],
): Promise<boolean> {
  if (!(await planRest(tx, payment, deposits, done))) return false;
  await startSweep(tx, payment, { kind: 'sweep', id: payment.id });
  return true;
}
