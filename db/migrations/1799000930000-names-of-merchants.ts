import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Operators look for merchants by the beginning of a name, and most names may begin alike. With too coarse a picture
 *  of them PostgreSQL expects many hits, and walks the whole table in the order of the list. */
export class NamesOfMerchants1799000930000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER INDEX merchant_name ALTER COLUMN 1 SET STATISTICS 1000');
    await q.query('ANALYZE merchant');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER INDEX merchant_name ALTER COLUMN 1 SET STATISTICS -1');
  }
}
