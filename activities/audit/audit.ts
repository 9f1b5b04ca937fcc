import type { DataSource } from 'typeorm';
import type { ChainAdapter } from '../../domain/chains/chain';
import { audit } from '../../db/audit/audit';
import { markEnded } from '../../db/audit/mark-lightning';
import type { LightningWitness } from '../../db/audit/audit-lightning';
import { answered } from '../../db/audit/answered';
import { lookForUnknown, type UnknownWitness } from '../../db/audit/unknown-lightning';

export type AuditDeps = Readonly<{
  db: DataSource;
  adapters: readonly ChainAdapter[];
  /** Our Lightning node; none: nothing is asked of one. */
  lightning?: LightningWitness & UnknownWitness;
  log: { error(fields: object, text: string): void };
}>;

export const auditActivities = ({ db, adapters, lightning, log }: AuditDeps) => ({
  /** Checks the invariants, keeps the result, and shouts when one is broken. Returns how many are. */
  async runAudit(): Promise<number> {
    const startedAt = Date.now();
    // A node that is away is asked again by the next audit. Nothing that it says keeps the books from being checked.
    if (lightning)
      await answered(lookForUnknown(db, lightning)).catch((error: unknown) =>
        log.error({ err: error }, 'What the Lightning node took or paid was not looked through'),
      );
    const violations = await audit(db, { adapters, mark: markEnded(db), ...(lightning ? { lightning } : {}) });
    await db.query('INSERT INTO audit_run (violations, duration_ms) VALUES ($1, $2)', [
      JSON.stringify(violations),
      Date.now() - startedAt,
    ]);
    await db.query(`DELETE FROM audit_run WHERE at < now() - interval '30 days'`);
    for (const violation of violations) log.error({ ...violation }, 'Invariant violated');
    return violations.length;
  },
});
