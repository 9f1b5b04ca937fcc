import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operators page through acts, screenings and orders at swap providers without naming a merchant. */
export class PlatformLists1799000152000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('CREATE INDEX audit_log_actor ON audit_log (actor_id, id DESC) WHERE actor_id IS NOT NULL');
    await q.query('CREATE INDEX audit_log_actor_name ON audit_log (actor_name, id DESC)');
    await q.query('CREATE INDEX audit_log_action ON audit_log (action, id DESC)');
    await q.query('CREATE INDEX aml_screen_status ON aml_screen (status, id DESC)');
    await q.query('CREATE INDEX swap_order_state ON swap_order (state, conversion_id DESC)');
  }

  async down(q: QueryRunner): Promise<void> {
    for (const name of [
      'audit_log_actor',
      'audit_log_actor_name',
      'audit_log_action',
      'aml_screen_status',
      'swap_order_state',
    ])
      await q.query(`DROP INDEX ${name}`);
  }
}
