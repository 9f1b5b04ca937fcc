import { paymentsWithRows } from '../lightning/payments';
import type { Queryable } from '../query';
import type { Reading } from './reading';

/** Our Lightning node as it was last seen, and invoices that have not ended. Nothing where there is no node. */
export const readLightning = (db: Queryable): Promise<Reading[]> =>
  db.query<Reading[]>(
    `SELECT reading.name, reading.labels, reading.value FROM lightning_node n, LATERAL (VALUES
       ('payments_lightning_look_age_seconds', '{}'::jsonb,
        extract(epoch FROM clock_timestamp() - n.looked_at)::float8),
       ('payments_lightning_blocks_behind', '{}',
        (SELECT c.head_height - n.height FROM chain_cursor c WHERE c.network = 'bitcoin')::float8),
       ('payments_lightning_capacity_btc', '{"direction": "in"}', (n.receivable / 1e8)::float8),
       ('payments_lightning_capacity_btc', '{"direction": "out"}', (n.sendable / 1e8)::float8),
       ('payments_lightning_decided_age_seconds', '{}',
        (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(i.decided_at)), 0)
           FROM lightning_invoice i WHERE i.over_at IS NULL)::float8),
       ('payments_lightning_taking_age_seconds', '{}',
        (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(i.decided_at)), 0)
           FROM lightning_invoice i WHERE i.over_at IS NULL AND i.decision = 'take')::float8),
       ('payments_lightning_paying_age_seconds', '{}',
        (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(o.updated_at)), 0)
           FROM ${paymentsWithRows}
          WHERE l.outcome IS NULL AND o.status = 'processing')::float8)
     ) reading (name, labels, value) WHERE reading.value IS NOT NULL
     UNION ALL SELECT 'payments_lightning_invoices', jsonb_build_object('state', state), count(*)::float8
       FROM lightning_invoice WHERE over_at IS NULL GROUP BY state`,
  );
