import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who has asked a payment's workflow for a decision: its payload names this row alone. */
export class PaymentDeciders1799000280000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(
      `CREATE TABLE payment_decider (
         id char(24) PRIMARY KEY,
         payment_id char(24) NOT NULL REFERENCES payment (id),
         actor_kind text NOT NULL,
         actor_id text,
         actor_name text NOT NULL,
         ip text NOT NULL,
         request_id text NOT NULL,
         created_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    await q.query('CREATE INDEX payment_decider_age ON payment_decider (created_at)');
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP TABLE payment_decider');
  }
}
