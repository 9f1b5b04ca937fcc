import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns = [
  'awaiting_currency',
  'waiting',
  'confirming',
  'confirmed',
  'sweep_queued',
  'expired',
  'cancelled',
  'failed',
] as const;

/** How many payments of a day are in each status, so that the tabs of the list of payments read days and not payments.
 *  `settled`, `partially_paid` and `cross_chain_pending` are there already. */
export class StatusCounts1799000210000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // Processes of the version before write payments until this step has ended: what they write is counted once.
    await q.query('LOCK TABLE payment IN SHARE ROW EXCLUSIVE MODE');
    const added = columns.map((name) => `ADD COLUMN ${name} bigint NOT NULL DEFAULT 0`);
    await q.query(`ALTER TABLE payment_day ${added.join(', ')}`);
    const counted = columns.map((name) => `count(*) FILTER (WHERE status = '${name.toUpperCase()}') AS ${name}`);
    await q.query(`
      UPDATE payment_day d SET ${columns.map((name) => `${name} = p.${name}`).join(', ')}
        FROM (SELECT merchant_id, (created_at AT TIME ZONE 'UTC')::date AS day, fiat_currency, ${counted.join(', ')}
                FROM payment GROUP BY 1, 2, 3) p
       WHERE (d.merchant_id, d.day, d.fiat_currency) = (p.merchant_id, p.day, p.fiat_currency)`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`ALTER TABLE payment_day ${columns.map((name) => `DROP COLUMN ${name}`).join(', ')}`);
  }
}
