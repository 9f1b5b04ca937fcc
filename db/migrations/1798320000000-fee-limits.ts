import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Gas, or about the vbytes, of what an intent signs. */
const work = `CASE WHEN i.network = 'bitcoin' THEN 11 + 68 * cardinality(i.deposit_ids) + 31 * jsonb_array_length(i.outputs)
    WHEN i.currency = 'ETH' THEN 21000
    WHEN i.kind = 'sweep' AND i.payment_id IS NULL THEN 250000 + 90000 * cardinality(i.deposit_ids)
    ELSE 65000 END`;

const statements = [
  // Most that a transaction of it may pay in all, native base units. domain/txmanager/fee-limits.ts says how both limits are chosen.
  'ALTER TABLE intent ADD COLUMN fee_budget numeric(78, 0)',
  // What was planned without a cap gets the one that it would get now, and never less than what is signed of it.
  `UPDATE intent i SET max_unit_price = greatest(
          ceil(coalesce((SELECT f.unit_price FROM network_fee f WHERE f.network = i.network), 0) * 4),
          CASE i.network WHEN 'bitcoin' THEN 50 ELSE 50000000000 END)
    WHERE i.max_unit_price IS NULL`,
  `UPDATE intent i SET max_unit_price = a.unit_price
     FROM (SELECT intent_id, max(unit_price) AS unit_price FROM attempt GROUP BY 1) a
    WHERE a.intent_id = i.id AND i.max_unit_price < a.unit_price`,
  `UPDATE intent i SET fee_budget = greatest(ceil(i.max_unit_price * ${work} * 1.25),
          (SELECT max(a.max_fee_units) FROM attempt a WHERE a.intent_id = i.id))`,
  'ALTER TABLE intent ALTER COLUMN max_unit_price SET NOT NULL, ALTER COLUMN fee_budget SET NOT NULL',
  // The lowest nonce of a wallet that is in no block is looked up before each bump.
  `CREATE INDEX attempt_open_nonce ON attempt (network, from_address, nonce)
    WHERE nonce IS NOT NULL AND status IN ('stored', 'sent')`,
];

export class FeeLimits1798320000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP INDEX attempt_open_nonce');
    await q.query('ALTER TABLE intent ALTER COLUMN max_unit_price DROP NOT NULL, DROP COLUMN fee_budget');
  }
}
