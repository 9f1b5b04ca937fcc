import { trim } from '../../domain/money';
import type { PaymentStatus } from '../../domain/payments/payment';
import type { ReceivedOther } from '../../domain/payments/received-other';
import type { Queryable } from '../query';
import type { Evidence } from '../pricing/rates';

/** A rate, and what each source said when it was taken. `value`: fiat per whole unit. */
type RateEvidence = Readonly<{
  currency: string;
  fiat: string;
  value: string;
  takenAt: string;
  sources: readonly Evidence[];
}>;

/** One change of a payment, as everybody who may see the payment may read it. */
type Change = Readonly<{
  kind: 'change';
  at: string;
  from: PaymentStatus | null;
  to: PaymentStatus;
  cause: string;
  /** What whoever asked for it gave as the reason. */
  reason: string | null;
  /** Who of the merchant decided it; null: nobody did, or it was long ago. */
  by: string | null;
  stateVersion: number;
  /** What caused it: deposits, or our own transactions. */
  txIds: readonly string[];
  /** What had come in other coins by then. */
  receivedOther: readonly ReceivedOther[];
  /** Of the youngest counted deposit, then; null where the change had no event. */
  confirmations: number | null;
  /** The rate that it locked; null where it locked none, or a rate that was given up is no longer kept. */
  rate: RateEvidence | null;
}>;
/** One attempt to notify the merchant of a change. */
type DeliveryEntry = Readonly<{
  kind: 'delivery';
  at: string;
  deliveryId: string;
  type: string;
  stateVersion: number;
  /** `ipn`, or the id of the webhook endpoint. */
  endpointId: string;
  attempt: number;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
}>;
export type TimelineEntry = Change | DeliveryEntry;

type ChangeRow = {
  at: Date;
  from_status: PaymentStatus | null;
  to_status: PaymentStatus;
  cause: string;
  state_version: number;
  reason: string | null;
  by: string | null;
  /** Of the transactions, or of the deposits, that the change names. */
  tx_ids: string[] | null;
  /** The resource as the event of this version shows it. */
  data: string | null;
  currency: string | null;
  fiat: string;
  value: string;
  taken_at: Date;
  sources: Evidence[];
};
type AttemptRow = {
  at: Date;
  id: string;
  type: string;
  state_version: number;
  endpoint: string;
  n: number;
  status_code: number | null;
  error: string | null;
  duration_ms: number;
};

/** Attempts that are shown, the latest. */
const mostAttempts = 1000;

/** Everything that happened to a payment, oldest first. */
export async function timelineOf(db: Queryable, paymentId: string): Promise<TimelineEntry[]> {
  const [changes, attempts] = await Promise.all([
    db.query<ChangeRow[]>(
      `SELECT c.at, c.from_status, c.to_status, c.cause, c.state_version, c.details->>'reason' AS reason,
         c.details->>'by' AS by, x.tx_ids, e.data,
              r.currency, r.fiat, r.value, r.taken_at, r.sources
         FROM payment_event c
         LEFT JOIN rate r ON r.id = (c.details->>'rateId')::bigint
         LEFT JOIN LATERAL (SELECT e.data::text AS data FROM event e
            WHERE e.entity_id = c.payment_id AND e.state_version = c.state_version ORDER BY e.seq LIMIT 1) e ON true
         LEFT JOIN LATERAL (SELECT array_agg(named.id) AS tx_ids FROM (
            SELECT jsonb_array_elements_text(c.details->'txIds') AS id
            UNION SELECT d.tx_id FROM deposit d WHERE d.found_by = 'transfer' AND d.id IN (
              SELECT jsonb_array_elements_text(c.details->'depositIds')::bigint
              UNION SELECT (c.details->>'depositId')::bigint)) named) x ON true
        WHERE c.payment_id = $1 ORDER BY c.id`,
      [paymentId],
    ),
    db.query<AttemptRow[]>(
      `SELECT a.at, d.id, e.type, e.state_version, d.endpoint, a.n, a.status_code, a.error, a.duration_ms
         FROM event e JOIN delivery d ON d.event_id = e.id JOIN delivery_attempt a ON a.delivery_id = d.id
        WHERE e.entity_id = $1 ORDER BY a.at DESC, a.n DESC LIMIT ${mostAttempts}`,
      [paymentId],
    ),
  ]);
  const entries = [...changes.map(changeOf), ...attempts.reverse().map(attemptOf)];
  return entries.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

/** What an event says of the payment. */
type Emitted = { txIds: string[]; confirmations: number; receivedOther: ReceivedOther[] };

function changeOf(row: ChangeRow): Change {
  const then = row.data === null ? null : (JSON.parse(row.data) as Emitted);
  return {
    kind: 'change',
    at: row.at.toISOString(),
    from: row.from_status,
    to: row.to_status,
    cause: row.cause,
    reason: row.reason,
    by: row.by,
    stateVersion: row.state_version,
    txIds: row.tx_ids ?? then?.txIds ?? [],
    receivedOther: then?.receivedOther ?? [],
    confirmations: then?.confirmations ?? null,
    rate:
      row.currency === null
        ? null
        : {
            currency: row.currency,
            fiat: row.fiat,
            value: trim(row.value),
            takenAt: row.taken_at.toISOString(),
            sources: row.sources,
          },
  };
}

const attemptOf = (row: AttemptRow): DeliveryEntry => ({
  kind: 'delivery',
  at: row.at.toISOString(),
  deliveryId: row.id,
  type: row.type,
  stateVersion: row.state_version,
  endpointId: row.endpoint,
  attempt: row.n,
  statusCode: row.status_code,
  error: row.error,
  durationMs: row.duration_ms,
});
