import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the treasury holds of an asset, and what is owed of it: the sum of few rows. Every journal adds one, which waits for nobody;
 *  `mergeHeld` makes one of many. */
const statements = [
  `CREATE TABLE held_part (asset text NOT NULL, treasury numeric(60, 18) NOT NULL, owed numeric(60, 18) NOT NULL)`,
  'CREATE INDEX held_part_asset ON held_part (asset)',
  `CREATE FUNCTION note_held() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO held_part (asset, treasury, owed)
        SELECT asset, sum(treasury), sum(owed) FROM (
          SELECT asset, amount * ((debit = 'A:treasury')::int - (credit = 'A:treasury')::int) AS treasury,
                 amount * (starts_with(credit, 'L:')::int - starts_with(debit, 'L:')::int) AS owed FROM added) moved
         GROUP BY asset HAVING sum(treasury) <> 0 OR sum(owed) <> 0;
      RETURN NULL;
    END $$`,
  // Locks the table, so that nothing is posted before the rows below are there.
  `CREATE TRIGGER posting_held AFTER INSERT ON posting REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_held()`,
  `INSERT INTO held_part (asset, treasury, owed)
    SELECT asset, coalesce(sum(amount) FILTER (WHERE debit = 'A:treasury'), 0) - coalesce(sum(amount) FILTER (WHERE credit = 'A:treasury'), 0),
           coalesce(sum(amount) FILTER (WHERE starts_with(credit, 'L:')), 0) - coalesce(sum(amount) FILTER (WHERE starts_with(debit, 'L:')), 0)
      FROM posting GROUP BY asset`,
  // It served the sum of all balances of an asset, which is here now.
  'DROP INDEX balance_asset',
];

export class Held1797400000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('CREATE INDEX balance_asset ON balance (asset)');
    await q.query('DROP TRIGGER posting_held ON posting');
    await q.query('DROP FUNCTION note_held');
    await q.query('DROP TABLE held_part');
  }
}
