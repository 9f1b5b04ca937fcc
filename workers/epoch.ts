import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { restUntil } from '../activities/rest';
import { ConfigError } from '../domain/config';
import type { ChainCodec } from '../domain/chains/chain';
import type { Epoch } from '../domain/recovery/epoch';
import type { SeedSpan } from '../domain/recovery/seeds';
import { beat, EpochRefused, isConfirmed, settleEpoch, type EpochFile, type Records } from '../db/recovery/epoch';
import { watchSome } from '../db/recovery/watch';

/** The signer monitors the epoch of the database: docs/operations/backup-and-restore.md. */

const lookMs = 1000;
/** How many looks make a beat. */
const looksPerBeat = 5;
/** Addresses derived at once. */
const derivedAtOnce = 1000;

/** The epoch file at `path`. What is written is on disk, whole or not at all, when `write` returns. */
export function epochFile(path: string): EpochFile {
  if (!path)
    throw new ConfigError(
      'SIGNER_EPOCH_FILE is missing: the signer counts recoveries of the database in it, and no restore takes it back',
    );
  const read = (): Epoch | null => {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return null;
      throw error;
    }
    return parsed(path, text);
  };
  return {
    read,
    write(given): void {
      const seeds = given.seeds ?? read()?.seeds;
      const epoch = seeds ? { ...given, seeds } : given;
      const draft = `${path}.${randomUUID()}`;
      const file = openSync(draft, 'w', 0o600);
      writeSync(file, `${JSON.stringify(epoch)}\n`);
      fsyncSync(file);
      closeSync(file);
      renameSync(draft, path);
      const folder = openSync(dirname(path), 'r');
      fsyncSync(folder);
      closeSync(folder);
    },
  };
}

function parsed(path: string, text: string): Epoch {
  let value: Partial<Epoch>;
  try {
    value = JSON.parse(text) as Partial<Epoch>;
  } catch {
    value = {};
  }
  const { epoch = -1, beat = 0, lineage = '', seeds } = value;
  const isEpoch = Number.isSafeInteger(epoch) && epoch >= 0 && Number.isSafeInteger(beat);
  if (!isEpoch || typeof lineage !== 'string' || !areSpans(seeds))
    throw new ConfigError(`SIGNER_EPOCH_FILE: ${path} holds no epoch`);
  return { epoch, beat, lineage, ...(seeds ? { seeds } : {}) };
}

/** One after another, the first from the first branch on; or none at all. */
function areSpans(seeds: unknown): seeds is readonly SeedSpan[] | undefined {
  if (seeds === undefined) return true;
  if (!Array.isArray(seeds)) return false;
  const spans = seeds as ReadonlyArray<Partial<SeedSpan> | null>;
  return spans.every(
    (one, n) =>
      typeof one?.seed === 'string' &&
      Number.isSafeInteger(one.from) &&
      (n === 0 ? one.from === 0 : one.from! > (spans[n - 1]?.from ?? Infinity)),
  );
}

/** Confirms each incarnation of the database, begins an epoch after a recovery, and derives what it makes us watch.
 *  `begun`: the first is confirmed; rejects with EpochRefused. A refusal later on ends the process: nobody draws an
 *  address until the file is put right. */
export function monitorEpoch(deps: {
  db: DataSource;
  log: Pick<Logger, 'info' | 'warn' | 'fatal'>;
  codecs: Readonly<Record<string, Pick<ChainCodec, 'derive'>>>;
  file: EpochFile;
  records: Records;
  watchCount: number;
  /** What is done once the database is confirmed, before anything else. */
  first?: () => Promise<void>;
  /** Ends the process. */
  end?: () => void;
}): Readonly<{ begun: Promise<void>; stop(): Promise<void> }> {
  const { db, log, codecs, file, records, watchCount, first, end = () => process.exit(1) } = deps;
  const stopped = new AbortController();

  const settle = async (): Promise<void> => {
    const { epoch, begun } = await db.transaction((tx) => settleEpoch(tx, file, watchCount, records));
    if (begun) log.warn({ epoch: epoch.epoch, reason: begun }, 'The database was recovered: a new epoch begins');
    else log.info({ epoch: epoch.epoch }, 'The database is the one that the signer knows');
  };
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted && (await db.transaction((tx) => watchSome(tx, codecs, derivedAtOnce))));
  };
  const look = async (n: number): Promise<void> => {
    const counted = n % looksPerBeat === 0 ? await beat(db) : null;
    if (counted) file.write(counted);
    else if (!(await isConfirmed(db))) await settle();
    await watch();
  };
  const begun = settle().then(first);
  const loop = async (): Promise<void> => {
    await begun;
    for (let n = 0; !stopped.signal.aborted; n += 1) {
      try {
        await look(n);
      } catch (error) {
        if (error instanceof EpochRefused) {
          log.fatal({ error: error.message }, 'The signer ends');
          return end();
        }
        log.warn({ error: (error as Error).message }, 'The epoch of the database could not be looked at');
      }
      await restUntil(lookMs, stopped.signal);
    }
  };
  const done = loop().catch(() => undefined); // whoever waits for `begun` hears of it
  return {
    begun,
    async stop() {
      stopped.abort();
      await done;
    },
  };
}
