import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { createCodecs } from '../chains/codecs';
import { ListFileError, parseListFile } from '../activities/screening/list-file';
import { createDataSource } from '../db/data-source';
import { importListRows } from '../db/screening/screening-list';
import { parseConfig, type Config } from '../domain/config';

/** The screening list from a shell: docs/operations/screening.md. */

const usage = `Usage: screening import <file.csv>
  The file's header is network,address,category,score,source. It is the whole list of each source that it names.`;

/** Runs one command against the database of `config`; resolves to the exit code. */
export async function runScreening(config: Config, args: readonly string[]): Promise<number> {
  const [command, file, ...rest] = args;
  if (command !== 'import' || !file || rest.length) {
    console.error(usage);
    return 1;
  }
  const db = createDataSource(config.DATABASE_URL, { pool: 1, name: 'screening' });
  try {
    const rows = parseListFile(readFileSync(file, 'utf8'), createCodecs(config.chain));
    await db.initialize();
    const actor = {
      kind: 'operator',
      id: null,
      name: `${userInfo().username}@${hostname()}`,
      ip: 'shell',
      requestId: '',
    } as const;
    const { added, removed, sources } = await importListRows(db, rows, actor);
    console.log(`${rows.length} rows of ${sources.join(', ')}: ${added} new, ${removed} removed`);
    if (!config.amlProviders.includes('list'))
      console.log('Nobody asks the list yet: the payments worker needs AML_PROVIDER=list');
    return 0;
  } catch (error) {
    if (!(error instanceof ListFileError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    console.error((error as Error).message);
    return 1;
  } finally {
    if (db.isInitialized) await db.destroy();
  }
}

if (require.main === module) {
  const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'screening');
  runScreening(config, process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
}
