import type { DataSource } from 'typeorm';
import { bookIntent } from '../txmanager/book';

/** Books an intent at its end, as the activity that follows it does once it is final. */
export const bookEnd = (db: DataSource, intentId: string): ReturnType<typeof bookIntent> =>
  db.transaction((tx) => bookIntent(tx, intentId));
