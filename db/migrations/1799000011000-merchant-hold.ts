import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The signer holds the outgoing money of a merchant that was suspended, until two operators lift or cancel it. */
export class MerchantHold1799000011000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE merchant ADD held_because text, ADD held_at timestamptz');
    await q.query(`UPDATE merchant SET held_because = 'suspended', held_at = now() WHERE status = 'suspended'`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE merchant DROP held_because, DROP held_at');
  }
}
