import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The signer reads the facts of many intents without a function of its own.
 *  docs/decisions/0036-one-loader-of-signing-facts.md */
export class OneLoader1799000310000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `DROP FUNCTION IF EXISTS payout_to_sign(text, bigint[]);
       DELETE FROM applied_function WHERE file = 'payout_to_sign'`,
    );
  }

  async down(): Promise<void> {
    // The migration step of the version before applies the file of its function.
  }
}
