import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What our own addresses must hold and cannot send, by the node. docs/decisions/0072-plans-without-gas.md */
export class AddressReserves1799001011000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      CREATE TABLE address_reserve (
        network text NOT NULL,
        address text NOT NULL,
        -- Base units of the native coin.
        units numeric(60, 0) NOT NULL CHECK (units >= 0),
        taken_at timestamptz NOT NULL,
        PRIMARY KEY (network, address)
      )`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE address_reserve');
  }
}
