import type { EntityManager } from 'typeorm';
import { requestSignal } from '../../db/temporal/temporal-requests';
import type { PaymentRow } from '../../domain/payments/payment';
import type { DepositRow } from '../../db/payments/deposits';
import { disband } from '../../db/sweeps/sweeps';
import { intentsOf, type IntentRow } from '../../db/txmanager/intents';
import { sweptPayments } from '../../db/txmanager/sign-facts';
import type { InsideFacts } from '../purpose';
import { planAlone, planRest } from '../plan-sweep-alone';
import { isPlanned, readyDeposits } from '../sweep-terms';
import { ownerWorkflow, type IntentOwner } from '../../domain/workflow-ids';
import { invoicesOf } from './invoices';
import { transferText, type OutgoingKind } from './kind';
import { bookSweep, isTokenBatch, unbookSweep } from './sweep-end';

/** Moves a confirmed payment's money, or that of many, to the settlement address. */
export const sweep: OutgoingKind = {
  kind: 'sweep',
  summary: async (tx, intent) => transferText('Sweep', intent) + (await invoicesOf(tx, intent)),
  owner: null,
  purpose: null,
  inside: sweepFacts,
  book: bookSweep,
  isGasPaid: isTokenBatch,
  reverted: (tx, intent) => disband(tx, intent.id, 'its transaction was reverted'),
  unbook: unbookSweep,
  openRows: [
    {
      workflow: 'sweep',
      sql: `SELECT DISTINCT i.payment_id AS id, jsonb_build_object('MerchantId', i.merchant_id) AS attributes
              FROM intent i WHERE NOT i.booked AND i.status <> 'dead' AND i.payment_id IS NOT NULL
               AND i.created_at < now() - interval '60 seconds'`,
    },
    {
      workflow: 'sweepBatch',
      sql: `SELECT i.owner_id AS id,
                   jsonb_build_object('MerchantId', i.merchant_id) AS attributes
              FROM intent i WHERE i.owner_kind = 'sweep-batch' AND NOT i.booked AND i.status <> 'dead'
               AND i.created_at < now() - interval '60 seconds'`,
    },
  ],
  shortfallEnds: null,
};

/** A sweep goes to the merchant's own address where its payments settle there, or to our treasury. */
async function sweepFacts(tx: EntityManager, intents: readonly IntentRow[]): Promise<ReadonlyMap<string, InsideFacts>> {
  const payments = await sweptPayments(
    tx,
    intents.map((intent) => intent.id),
  );
  return new Map(
    intents.map(({ id }) => {
      const swept = payments.filter((one) => one.intent_id === id);
      return [
        id,
        {
          merchantIds: [...new Set(swept.map((one) => one.merchant_id))],
          roles: ['treasury'],
          addresses: swept.flatMap(({ address, custody }) => (custody === 'external' && address ? [address] : [])),
          movesDeposits: true,
          isForOthers: false,
        },
      ];
    }),
  );
}

export const startSweep = (tx: EntityManager, payment: PaymentRow, owner: IntentOwner): Promise<unknown> =>
  requestSignal(tx, {
    ...ownerWorkflow(owner),
    args: [owner.id],
    signal: 'updated',
    attributes: { MerchantId: payment.merchant_id, Currency: payment.currency!, Network: payment.network! },
  });

/** A queued payment that its batch has let go is swept by itself. */
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
