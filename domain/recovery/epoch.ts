import type { SeedSpan } from './seeds';

/** How a recovery of the database is recognised. Each begins an epoch, whose number is the branch of the addresses that
 *  are made in it. A further seed begins one too (seeds.ts). The database says its epoch in a row, and the signer in a
 *  file that no restore of the database takes back. Runbook: docs/operations/backup-and-restore.md. */

/** What a side remembers. `lineage`: system identifier, timeline and ids of the database that it was written for.
 *  `beat`: grows while the signer runs, in the row first, so that a row behind the file is an older copy. `seeds`: of
 *  which branches each seed is, in the file alone; absent where there never was a second one. */
export type Epoch = Readonly<{ epoch: number; beat: number; lineage: string; seeds?: readonly SeedSpan[] }>;

export type EpochVerdict =
  | Readonly<{ act: 'begin' }>
  | Readonly<{ act: 'confirm' }>
  | Readonly<{ act: 'recover'; epoch: number; reason: string }>
  | Readonly<{ act: 'refuse'; reason: string }>;

/** What the signer does on a database of this lineage. `row`, `file`: null where there is none. */
export function epochOf(lineage: string, row: Epoch | null, file: Epoch | null): EpochVerdict {
  if (!row && !file) return { act: 'begin' };
  if (!file)
    return {
      act: 'refuse',
      reason:
        `The epoch file is missing, and the database is in epoch ${row!.epoch}: a recovery could not be told. Give` +
        ` the signer its file. If it is lost, write {"epoch":${row!.epoch + 1}} into it, or more where there have` +
        ' been recoveries that this database does not know.',
    };
  const next = Math.max(row?.epoch ?? 0, file.epoch) + 1;
  const recover = (reason: string): EpochVerdict => ({ act: 'recover', epoch: next, reason });
  if (!row) return recover('the database knows no epoch: it is new');
  if (row.epoch > file.epoch)
    return {
      act: 'refuse',
      reason:
        `The epoch file says ${file.epoch} and the database ${row.epoch}: the file is an old copy. A branch that it` +
        ` does not know could be given out again. Give the signer its newest file. If it is lost, write` +
        ` {"epoch":${row.epoch + 1}} into it.`,
    };
  if (row.epoch < file.epoch) return recover(`the database is in epoch ${row.epoch}, the signer in ${file.epoch}`);
  if (row.lineage !== lineage) return recover(`the database was ${row.lineage} and is ${lineage}`);
  if (file.lineage !== lineage) return recover(`the signer knows the database as ${file.lineage}; it is ${lineage}`);
  if (row.beat < file.beat) return recover(`the database is at beat ${row.beat}, the signer has seen ${file.beat}`);
  return { act: 'confirm' };
}
