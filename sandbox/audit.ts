import { createAdapter } from '../chains/adapters';
import { lightningReader } from '../chains/lightning/node';
import { audit, invariantsChecked } from '../db/audit/audit';
import { invariantWords } from '../db/audit/invariants';
import { createDataSource } from '../db/data-source';
import { runningConfig } from './running-config';

const wordsWide = Math.max(...Object.values(invariantWords).map((words) => words.length));

/** `npm run audit`: checks the invariants of a running sandbox, or of what DATABASE_URL and the node variables name.
 *  Ends with 1 when one is violated. */
async function main(): Promise<number> {
  const config = runningConfig();
  const db = createDataSource(config.DATABASE_URL, { pool: 2, name: 'audit' });
  await db.initialize();
  try {
    const adapters = config.networks.map((network) => createAdapter(network, config));
    const lightning = lightningReader(config);
    const violations = await audit(db, { adapters, ...(lightning ? { lightning } : {}) });
    for (const invariant of invariantsChecked) {
      const broken = violations.filter((violation) => violation.invariant === invariant);
      const name = `${invariant.padEnd(4)} ${(invariantWords[invariant] ?? '').padEnd(wordsWide)}`;
      if (!broken.length) console.log(`${name}  holds`);
      for (const { what, found } of broken) console.log(`${name}  VIOLATED: ${what}: ${found.join('; ')}`);
    }
    if (violations.length) console.log('What each violation means, and what to do: docs/operations/audit.md');
    return violations.length ? 1 : 0;
  } finally {
    await db.destroy();
  }
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`npm run audit: ${error.message}`);
    process.exit(1);
  },
);
