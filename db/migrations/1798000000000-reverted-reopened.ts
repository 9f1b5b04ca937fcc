import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What ended with a transaction, completed or reverted, and lost it to a reorganisation may be on its way again; with `reopened`. */
const backFrom = (...ends: readonly string[]): string =>
  ends.map((end) => ` AND NOT (OLD.status = '${end}' AND NEW.status = 'broadcast' AND OLD.tx_id IS NOT NULL)`).join('');

const guardLeg = (
  reopened: boolean,
): string => `CREATE OR REPLACE FUNCTION guard_payout_leg() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (NEW.batch_id, NEW.currency, NEW.address, NEW.destination_tag, NEW.amount, NEW.network_fee, NEW.net_amount)
          IS DISTINCT FROM (OLD.batch_id, OLD.currency, OLD.address, OLD.destination_tag, OLD.amount, OLD.network_fee, OLD.net_amount) THEN
        RAISE EXCEPTION 'what payout leg % pays may not change', OLD.id USING ERRCODE = 'CP012';
      END IF;
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'refunded')${reopened ? backFrom('completed', 'failed') : ''}
        OR OLD.status = 'pending' AND NEW.status NOT IN ('processing', 'failed', 'refunded')
        OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'payout leg % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END $$`;

const guard = (
  table: 'withdrawal' | 'refund',
  reopened: boolean,
): string => `CREATE OR REPLACE FUNCTION guard_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.status = OLD.status THEN RETURN NEW; END IF;
      IF OLD.status IN ('completed', 'failed', 'cancelled') AND NOT (OLD.status = 'completed' AND NEW.status = 'broadcast')${reopened ? backFrom('failed') : ''}
        OR OLD.status IN ('processing', 'broadcast') AND NEW.status NOT IN ('broadcast', 'completed', 'failed')
        OR NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION '${table} % may not go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'CP012';
      END IF;
      RETURN NEW;
    END $$`;

const guards = (reopened: boolean): string[] => [
  guardLeg(reopened),
  guard('withdrawal', reopened),
  guard('refund', reopened),
];

export class RevertedReopened1798000000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of guards(true)) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    for (const statement of guards(false)) await q.query(statement);
  }
}
