/** A merchant's webhook endpoint as Postgres keeps it, without its secrets. */
export type EndpointRow = {
  id: string;
  merchant_id: string;
  url: string;
  enabled_events: string[];
  description: string | null;
  is_active: boolean;
  /** Why we switched it off: it answered 410, or nothing worked for days. Null where nobody did, or the merchant. */
  disabled_reason: 'gone' | 'failing' | null;
  created_at: Date;
  /** Grows with each event about the endpoint. */
  version: number;
};

/** So many a merchant can have: each costs something at every event. */
export const endpointLimit = 20;
/** Switched off once attempts have failed for so long without a success between. Contract: G4. */
export const failingLimitMs = 5 * 24 * 60 * 60_000;
/** How long the secret before the one in force signs too. */
export const oldSecretHours = 24;

/** As routes answer it and `webhook_endpoint.disabled` carries it. Contract: G4. */
export const viewEndpoint = (row: EndpointRow) => ({
  id: row.id,
  url: row.url,
  enabledEvents: row.enabled_events,
  description: row.description,
  isActive: row.is_active,
  createdAt: row.created_at.toISOString(),
  disabledReason: row.disabled_reason,
});

/** Whether `pattern` (everything, an area, or one type) means any of `types`. */
export const isEventPattern = (pattern: string, types: readonly string[]): boolean =>
  pattern === '*' || types.includes(pattern) || types.some((type) => `${type.split('.')[0]}.*` === pattern);
