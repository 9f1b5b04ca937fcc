import type { DataSource, EntityManager } from 'typeorm';
import type { ChainAdapter } from '../../domain/chains/chain';
import { auditHoldings } from './audit-chain';
import { auditInvoices, type LightningWitness } from './audit-lightning';
import { bookChecks } from './check-books';
import { lightningChecks } from './check-lightning';
import { recordChecks } from './check-records';
import { sendingChecks } from './check-sending';
import type { MarkEnded } from './ended-lightning';
import type { Violation } from './violation';

/** All run on one snapshot. */
const checks = [...bookChecks, ...lightningChecks, ...sendingChecks, ...recordChecks];

async function look(db: DataSource): Promise<Violation[]> {
  return db.transaction('REPEATABLE READ', async (tx: EntityManager) => {
    await tx.query('SET LOCAL statement_timeout = 60000');
    const violations: Violation[] = [];
    for (const { invariant, what, sql } of checks) {
      const rows = await tx.query<Array<Record<string, string>>>(`${sql} LIMIT 20`);
      if (rows.length) violations.push({ invariant, what, found: rows.map((row) => String(Object.values(row)[0])) });
    }
    return violations;
  });
}

/** Checks I1–I16 as far as they apply: the books on one snapshot, and, with adapters, the books against the chains at
 *  one final block, and against the word of the Lightning node. What looks wrong is looked at again after `settleMs`,
 *  and only what is wrong both times is reported. `mark`: keeps what the node has said of what ended, so that it is
 *  not asked again; without it nothing is written. */
export async function audit(
  db: DataSource,
  {
    adapters = [],
    lightning,
    mark,
    settleMs = 1500,
  }: { adapters?: readonly ChainAdapter[]; lightning?: LightningWitness; mark?: MarkEnded; settleMs?: number } = {},
): Promise<Violation[]> {
  // Kept at the end: both looks go through the same rows.
  let marks: Array<Parameters<MarkEnded>> = [];
  const note: MarkEnded = (...one) => Promise.resolve(void marks.push(one));
  const all = async (): Promise<Violation[]> => {
    marks = [];
    return [
      ...(await look(db)),
      ...(await auditHoldings(db, adapters)),
      ...(lightning ? await auditInvoices(db, lightning, note) : []),
    ];
  };
  const found = await inTwoLooks(all, settleMs);
  if (mark) for (const one of marks) await mark(...one);
  return found;
}

/** What is wrong in both of two looks. */
async function inTwoLooks(all: () => Promise<Violation[]>, settleMs: number): Promise<Violation[]> {
  const first = await all();
  if (!first.length) return [];
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const second = await all();
  const seen = new Map(
    first.map((violation) => [`${violation.invariant}/${violation.what}`, new Set(violation.found)]),
  );
  return second.flatMap((violation) => {
    const found = violation.found.filter((item) => seen.get(`${violation.invariant}/${violation.what}`)?.has(item));
    return found.length ? [{ ...violation, found }] : [];
  });
}

/** Names of everything that is checked, for reports. */
export const invariantsChecked: readonly string[] = [
  ...new Set([...checks.map((check) => check.invariant), 'I5', 'I15']),
];
