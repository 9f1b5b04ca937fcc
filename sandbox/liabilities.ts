import { createDataSource } from '../db/data-source';
import { writeTree } from '../db/ledger/liabilities';
import { readSandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** `npm run liabilities`: stores a tree of what the running sandbox, or the service at DATABASE_URL, owes to each
 *  merchant, and prints what is to be published. docs/liabilities.md. */
async function main(): Promise<void> {
  const db = createDataSource(process.env.DATABASE_URL ?? databaseFor(readSandboxFile().databaseUrl, 'audit'), {
    pool: 1,
    name: 'liabilities',
  });
  await db.initialize();
  try {
    const { root, assets, createdAt } = await writeTree(db);
    console.log(`root   ${root}`);
    console.log(`at     ${createdAt.toISOString()}`);
    for (const { currency, total } of assets) console.log(`owed   ${currency.padEnd(12)} ${total}`);
  } finally {
    await db.destroy();
  }
}

main().catch((error: Error) => {
  console.error(`npm run liabilities: ${error.message}`);
  process.exit(1);
});
