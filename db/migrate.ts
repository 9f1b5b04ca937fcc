import { createDataSource } from './data-source';

/** Brings the database at `url` to the newest schema. Safe to run twice and by two at once. */
export async function migrate(url: string): Promise<void> {
  const db = createDataSource(url, { pool: 1, name: 'migrate' });
  await db.initialize();
  try {
    await db.query("SELECT pg_advisory_lock(hashtext('crypto-payments migration'))");
    await db.runMigrations({ transaction: 'all' });
  } finally {
    await db.destroy();
  }
}

if (require.main === module) {
  const url = process.env.DATABASE_URL;
  if (!url) {
    console.error('DATABASE_URL is missing');
    process.exit(1);
  }
  migrate(url).then(
    () => console.log('Database is up to date'),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
