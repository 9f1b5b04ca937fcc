import type { EntityManager } from 'typeorm';
import type { SeedSpan } from '../../domain/recovery/seeds';
import { registeredKeys } from '../chains/extended-keys';
import { EpochRefused, lineageOf, type EpochFile } from './epoch';

/** A seed begins the next branch: everything that is made from now on is derived from it. Nothing is forgotten, so that
 *  neither a workflow ends nor anything is looked for again, as after a recovery. `register`: registers the keys of
 *  these seeds. The file is written before the row is committed: a crash between them is taken for a recovery, which
 *  skips a branch. Throws EpochRefused where the database is not the one that the signer has confirmed. */
export async function beginSeed(
  tx: EntityManager,
  file: EpochFile,
  seed: Readonly<{ before: readonly SeedSpan[]; newest: string }>,
  register: (tx: EntityManager, spans: readonly SeedSpan[]) => Promise<void>,
): Promise<readonly SeedSpan[]> {
  await tx.query("SELECT pg_advisory_xact_lock(hashtext('key epoch'))");
  const [row] = await tx.query<Array<{ epoch: number; beat: string; incarnation: string }>>(
    'SELECT epoch, beat, incarnation FROM key_epoch WHERE incarnation = database_incarnation() FOR UPDATE',
  );
  if (!row) throw new EpochRefused('The database is not the one that the signer has confirmed: start it again');
  const from = row.epoch + 1;
  const spans = [...seed.before, { seed: seed.newest, from }];
  file.write({ epoch: from, beat: parseInt(row.beat, 10), lineage: lineageOf(row.incarnation), seeds: spans });
  await tx.query('UPDATE key_epoch SET epoch = $1', [from]);
  await register(tx, spans);
  for (const { sequence, role } of await registeredKeys(tx))
    await tx.query('SELECT restart_key_index($1, $2)', [sequence, role]);
  return spans;
}
