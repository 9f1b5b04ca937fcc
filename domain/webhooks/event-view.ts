/** An event as Postgres keeps it. `data` and `previous` are JSON text, as it was stored. */
export type EventRow = {
  id: string;
  type: string;
  merchant_id: string;
  /** bigint as text. */
  seq: string;
  data: string;
  previous: string;
  livemode: boolean;
  created_at: Date;
};

/** An event as JSON text: exactly what webhooks carry and `GET /api/v1/events` answers, `data` byte for byte as it was
 *  stored. Contract: G4. */
export function eventJson(event: EventRow): string {
  const head = {
    id: event.id,
    type: event.type,
    timestamp: event.created_at.toISOString(),
    apiVersion: 'v1',
    livemode: event.livemode,
    merchantId: event.merchant_id,
  };
  return `${JSON.stringify(head).slice(0, -1)},"seq":${event.seq},"data":${event.data},"previous":${event.previous}}`;
}
