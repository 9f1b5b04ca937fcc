import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who ended an incident by hand, and why. What the service ends has neither. */
export class IncidentResolution1799000151000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`
      ALTER TABLE incident ADD COLUMN resolved_by text, ADD COLUMN resolution text,
        ADD CONSTRAINT incident_resolution CHECK ((resolved_by IS NULL) = (resolution IS NULL)
          AND (resolution IS NULL OR resolved_at IS NOT NULL))`);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('ALTER TABLE incident DROP COLUMN resolved_by, DROP COLUMN resolution');
  }
}
