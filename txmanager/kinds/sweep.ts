import type { EntityManager } from 'typeorm';
import { disband } from '../../db/sweeps/sweeps';
import type { IntentRow } from '../../db/txmanager/intents';
import { sweptPayments } from '../../db/txmanager/sign-facts';
import type { InsideFacts } from '../obligation';
import { invoicesOf } from './invoices';
import { transferText, type OutgoingKind } from './kind';
import { bookSweep, isTokenBatch, unbookSweep } from './sweep-end';

/** Moves a confirmed payment's money, or that of many, to the settlement address. */
export const sweep: OutgoingKind = {
  kind: 'sweep',
  summary: async (tx, intent) => transferText('Sweep', intent) + (await invoicesOf(tx, intent)),
  owner: null,
  obligation: null,
  inside: sweepFacts,
  book: bookSweep,
  isGasPaid: isTokenBatch,
  taken: noteBroadcast,
  reverted: (tx, intent) => disband(tx, intent.id, 'its transaction was reverted'),
  unbook: unbookSweep,
  openRows: [
    {
      workflow: 'sweep',
      sql: `SELECT DISTINCT i.payment_id AS id, jsonb_build_object('MerchantId', i.merchant_id,
                     'PaymentId', i.payment_id) AS attributes
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

/** Its payments say that it is sent. */
function noteBroadcast(tx: EntityManager, intent: IntentRow, txId: string): Promise<unknown> {
  return tx.query(
    `UPDATE payment SET sweep_state = 'broadcast', sweep_tx_id = $2 WHERE sweep_state = 'queued' AND id = ANY(ARRAY(
       SELECT $1::char(24) UNION ALL SELECT payment_id FROM sweep_share WHERE intent_id = $3 AND dropped_at IS NULL))`,
    [intent.payment_id, txId, intent.id],
  );
}

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
