import type { EntityManager } from 'typeorm';
import type { SwapIncident } from '../domain/conversions/swap';
import type { Queryable } from './query';

/** Conditions that an operator must look at. Every incident is opened and resolved here. Its subject is in columns of
 *  its own; its key only makes a repeat safe, and nothing reads it. */

/** What each kind of incident is about. The table's CHECK lists the same subjects. */
type Subjects = {
  'deep-reorg': 'payment';
  'sweep-overdue': 'payment';
  'sweep-batch-failed': 'intent';
  'sweep-failed': 'payment';
  'transaction-reverted': 'intent';
  'transaction-refused': 'intent';
  'transfer-refused': 'intent';
  'transfer-differs': 'intent';
  'attempt-unverified': 'intent';
  'signed-off-chain': 'intent';
  'gas-low': 'intent';
  'signature-refused': 'intent';
  'fee-cap': 'intent';
  'wallet-frozen': 'wallet';
  'wallet-refused': 'wallet';
  'foreign-spend': 'deposit';
  'deposit-unverified': 'deposit';
  'deposit-displaced': 'deposit';
  'hold-gone': 'refund' | 'withdrawal' | 'payout-line';
  'treasury-low': 'refund' | 'withdrawal' | 'payout-batch' | 'conversion';
  'gas-float-low': 'network';
  'node-stale': 'network';
  'nodes-disagree': 'network';
  'fee-estimate-missing': 'network';
  'traces-off': 'network';
  'untraced-block': 'network';
  'database-recovered': 'network';
  'unclaimed-deposit': 'deposit';
  'held-lost': 'payment';
  'held-foreign': 'payment';
  'held-overdue': 'payment';
  'lightning-unknown': 'asset';
  'lightning-overdue': 'refund' | 'withdrawal' | 'payout-line';
  unreconciled: 'asset';
  'new-destinations': 'asset';
} & Record<SwapIncident, 'conversion'>;

/** Who may lack funds of the treasury. */
export type ShortfallSubject = Subjects['treasury-low'];

export type IncidentKind = keyof Subjects;
export type NewIncident = {
  [Kind in IncidentKind]: Readonly<{
    kind: Kind;
    /** `id` of a wallet is `<network>/<address>`, of an asset its currency. */
    subject: Readonly<{ kind: Subjects[Kind]; id: string }>;
    /** What tells two incidents of one kind and subject apart, where there may be several. */
    distinction?: string;
    details: object;
  }>;
}[IncidentKind];

type Named = Pick<NewIncident, 'kind' | 'subject' | 'distinction'>;
const keyOf = ({ kind, subject, distinction }: Named): string =>
  [kind, subject.kind, subject.id, ...(distinction === undefined ? [] : [distinction])].join('/');

const values = (incident: NewIncident): unknown[] => [
  incident.kind,
  keyOf(incident),
  incident.subject.kind,
  incident.subject.id,
  JSON.stringify(incident.details),
];

/** Opens an incident, once for ever: a repeat changes nothing, not even after it was resolved. */
export const openIncident = (db: Queryable, incident: NewIncident): Promise<unknown> =>
  db.query(
    `INSERT INTO incident (kind, key, subject_kind, subject_id, details) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (key) DO NOTHING`,
    values(incident),
  );

/** Opens an incident that may come back: a repeat changes nothing while it is open, and opens it again afterwards. */
export const openIncidentAgain = (db: Queryable, incident: NewIncident): Promise<unknown> =>
  db.query(
    `INSERT INTO incident AS i (kind, key, subject_kind, subject_id, details) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (key) DO UPDATE SET details = EXCLUDED.details, created_at = now(), resolved_at = NULL,
         resolved_by = NULL, resolution = NULL WHERE i.resolved_at IS NOT NULL`,
    values(incident),
  );

/** The condition is over. */
export const resolveIncident = (db: Queryable, incident: Named): Promise<unknown> => resolveIncidents(db, [incident]);

/** The conditions are over. */
export const resolveIncidents = (db: Queryable, incidents: readonly Named[]): Promise<unknown> =>
  db.query('UPDATE incident SET resolved_at = now() WHERE key = ANY($1) AND resolved_at IS NULL', [
    incidents.map(keyOf),
  ]);

/** Resolves the incident of deposits that could not be verified in a block: the block is gone. */
export const resolveUnverified = (tx: EntityManager, depositIds: readonly string[]): Promise<unknown> =>
  tx.query(
    `UPDATE incident SET resolved_at = now()
      WHERE kind = 'deposit-unverified' AND resolved_at IS NULL
        AND key = ANY(SELECT 'deposit-unverified/deposit/' || id FROM unnest($1::text[]) AS id)`,
    [depositIds],
  );

/** Resolves refusals of a node once another attempt was taken, or the intent has ended. */
export const resolveRefusals = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now() FROM intent t
      WHERE i.kind IN ('transaction-refused', 'transfer-refused') AND i.resolved_at IS NULL
        AND t.id = i.subject_id::bigint
        AND (t.status IN ('final', 'failed', 'dead') OR EXISTS (
          SELECT FROM attempt a WHERE a.intent_id = t.id AND (a.sent_at > i.created_at OR a.status = 'mined')))`,
  );

/** Resolves what a node did not know of a transaction of ours once that is final, or in no block any more. */
export const resolveUnseen = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now()
      WHERE i.kind = 'attempt-unverified' AND i.resolved_at IS NULL AND NOT EXISTS (
        SELECT FROM attempt a WHERE a.intent_id = i.subject_id::bigint AND a.status = 'mined')`,
  );

/** Resolves a price at its cap once the intent has ended, is in a block, or has another attempt since: its limits were
 *  raised. */
export const resolveCaps = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now() FROM intent t
      WHERE i.kind = 'fee-cap' AND i.resolved_at IS NULL AND t.id = i.subject_id::bigint
        AND (t.status IN ('final', 'failed', 'dead') OR EXISTS (
          SELECT FROM attempt a WHERE a.intent_id = t.id AND (a.created_at > i.created_at OR a.status = 'mined')))`,
  );

/** Resolves the incident of payments to new destinations once the one that it names is signed, or has ended; one by
 *  Lightning, below zero, once its node was called, or its row waits no more. Where others wait, the signer opens it
 *  again. */
export const resolveNewDestinations = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now()
      WHERE i.kind = 'new-destinations' AND i.resolved_at IS NULL
        AND (EXISTS (SELECT FROM intent t WHERE t.id = (i.details->>'intentId')::bigint
                        AND (t.status IN ('final', 'failed', 'dead') OR EXISTS (
                          SELECT FROM attempt a WHERE a.intent_id = t.id AND a.created_at > i.created_at)))
          OR EXISTS (SELECT FROM lightning_payment l
                       LEFT JOIN withdrawal w ON w.id = l.withdrawal_id LEFT JOIN refund r ON r.id = l.refund_id
                       LEFT JOIN payout_leg p ON p.id = l.leg_id
                      WHERE l.id = -(i.details->>'intentId')::bigint
                        AND coalesce(w.status, r.status, p.status) <> 'pending'))`,
  );

/** Resolves what our Lightning node had not ended in time, once it has. */
export const resolveOverdue = (tx: EntityManager): Promise<unknown> =>
  tx.query(
    `UPDATE incident i SET resolved_at = now()
      WHERE i.kind IN ('held-overdue', 'lightning-overdue') AND i.resolved_at IS NULL
        AND (EXISTS (SELECT FROM withdrawal w WHERE i.subject_kind = 'withdrawal' AND w.id = i.subject_id::bpchar
                        AND w.status <> 'processing')
          OR EXISTS (SELECT FROM refund r WHERE i.subject_kind = 'refund' AND r.id = i.subject_id::bpchar
                        AND r.status <> 'processing')
          OR EXISTS (SELECT FROM payout_leg p WHERE i.subject_kind = 'payout-line' AND p.id = i.subject_id::bpchar
                        AND p.status <> 'processing')
          OR EXISTS (SELECT FROM lightning_invoice l WHERE l.id = (i.details->>'invoiceId')::bpchar
                        AND l.over_at IS NOT NULL))`,
  );

/** Resolves the incident of a frozen wallet: operators have let it sign again. A later freeze opens another one. */
export const resolveWalletFreezes = (tx: Queryable, network: string, address: string): Promise<unknown> =>
  tx.query(
    `UPDATE incident SET resolved_at = now() WHERE kind = 'wallet-frozen' AND subject_kind = 'wallet'
        AND subject_id = $1 AND resolved_at IS NULL`,
    [`${network}/${address}`],
  );
