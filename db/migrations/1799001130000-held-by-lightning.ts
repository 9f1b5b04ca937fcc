import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the Lightning node holds is summed like what the treasury holds, by functions/note_held.sql from this step on.
 *  docs/decisions/0096-lightning-money-beside-the-rows.md */
export class HeldByLightning1799001130000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    // Until the end of the step nothing is posted, so nothing is left out.
    await q.query('LOCK TABLE posting IN SHARE ROW EXCLUSIVE MODE');
    await q.query(`
      INSERT INTO held_part (asset, treasury, owed)
        SELECT asset, sum(CASE WHEN debit = 'A:lightning' THEN amount ELSE -amount END), 0 FROM posting
         WHERE debit = 'A:lightning' OR credit = 'A:lightning' GROUP BY asset`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(`
      INSERT INTO held_part (asset, treasury, owed)
        SELECT asset, sum(CASE WHEN debit = 'A:lightning' THEN -amount ELSE amount END), 0 FROM posting
         WHERE debit = 'A:lightning' OR credit = 'A:lightning' GROUP BY asset`);
  }
}
