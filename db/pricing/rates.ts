import type { EntityManager } from 'typeorm';
import { type Queryable, changedCount } from '../query';
import type { RowOf } from '../entity';
import type { rateLatestEntity } from './entities';

/** What one source said about a price, kept as evidence whether it counted or not. */
export type Evidence = Readonly<{ source: string; value: string; takenAt: string; refused?: string }>;
export type NewRate = Readonly<{
  currency: string;
  fiat: string;
  value: string;
  takenAt: Date;
  sources: readonly Evidence[];
}>;

/** Stores what a look at the sources found, with its evidence, and makes it what quotes use. `startedAt`: when the look
 *  began. */
export async function storeLook(tx: EntityManager, startedAt: Date, rates: readonly NewRate[]): Promise<void> {
  await tx.query(
    `WITH stored AS (
       INSERT INTO rate (currency, fiat, value, sources, taken_at)
         SELECT r.currency, r.fiat, r.value, r.sources, r."takenAt"
           FROM jsonb_to_recordset($1) AS r (currency text, fiat text, value numeric, sources jsonb,
             "takenAt" timestamptz)
         RETURNING id, currency, fiat, value, taken_at)
     INSERT INTO rate_latest AS l (currency, fiat, rate_id, value, taken_at) SELECT currency, fiat, id, value, taken_at
       FROM stored
       ON CONFLICT (currency, fiat) DO UPDATE SET rate_id = EXCLUDED.rate_id, value = EXCLUDED.value,
         taken_at = EXCLUDED.taken_at
        WHERE l.taken_at <= EXCLUDED.taken_at`,
    [JSON.stringify(rates)],
  );
  await tx.query(
    `INSERT INTO rate_look AS l (started_at, currencies) VALUES ($1, $2)
     ON CONFLICT (only_one) DO UPDATE SET started_at = EXCLUDED.started_at, currencies = EXCLUDED.currencies
       WHERE l.started_at <= EXCLUDED.started_at`,
    [startedAt, rates.filter(({ fiat }) => fiat === 'USD').map(({ currency }) => currency)],
  );
}

/** Dollars for one of a currency, however old; null: nobody has ever said. */
export async function lastUsdRate(db: Queryable, currency: string): Promise<string | null> {
  const [row] = await db.query<Array<{ value: string }>>(
    `SELECT value::text AS value FROM rate_latest WHERE currency = $1 AND fiat = 'USD'`,
    [currency],
  );
  return row?.value ?? null;
}

/** Where whoever keeps the rates listens. */
export const lookChannel = 'rate_look_wanted';

/** Asks for a look that begins after this moment, by the database's clock, which is the answer. */
export async function askForLook(db: Queryable): Promise<Date> {
  const [row] = await db.query<Array<{ now: Date; pg_notify: string }>>(
    `SELECT clock_timestamp() AS now, pg_notify($1, '')`,
    [lookChannel],
  );
  return row!.now;
}

/** Currencies that a look which began after `asked` found a price for; null while there is none. */
export async function lookSince(db: Queryable, asked: Date): Promise<readonly string[] | null> {
  const [row] = await db.query<Array<{ currencies: string[] }>>(
    'SELECT currencies FROM rate_look WHERE started_at >= $1',
    [asked],
  );
  return row?.currencies ?? null;
}

const pruneBatch = 5000;
/** Removes rates older than `days` that nothing was quoted with and no deposit counts at; evidence that was used stays
 *  for ever. */
export async function pruneRates(db: Queryable, days: number): Promise<void> {
  for (;;) {
    const removed = await changedCount(
      db,
      `DELETE FROM rate WHERE id IN (
         SELECT r.id FROM rate r WHERE r.taken_at < now() - make_interval(days => $1)
           AND NOT EXISTS (SELECT FROM payment p WHERE p.rate_id = r.id)
           AND NOT EXISTS (SELECT FROM deposit d WHERE d.rate_id = r.id)
           AND NOT EXISTS (SELECT FROM deposit_part i WHERE i.rate_id = r.id)
           AND NOT EXISTS (SELECT FROM payment_quote q WHERE q.rate_id = r.id)
           AND NOT EXISTS (SELECT FROM rate_latest l WHERE l.rate_id = r.id)
           AND NOT EXISTS (SELECT FROM conversion c WHERE r.id IN (c.from_rate_id, c.to_rate_id))
         ORDER BY r.id LIMIT $2)`,
      [days, pruneBatch],
    );
    if (removed < pruneBatch) return;
  }
}

/** What one of a currency is worth, and from when that is; decimal string. */
export type FreshRate = Readonly<Pick<RowOf<typeof rateLatestEntity>, 'currency' | 'value' | 'taken_at'>>;

/** The rate of every currency that has a fresh one in `fiat`. */
export async function ratesIn(
  db: Queryable,
  fiat: string,
  maxAgeSeconds: number,
): Promise<ReadonlyMap<string, FreshRate>> {
  const rows = await db.query<FreshRate[]>(
    `SELECT currency, trim_scale(value)::text AS value, taken_at FROM rate_latest
      WHERE fiat = $1 AND taken_at >= clock_timestamp() - make_interval(secs => $2)`,
    [fiat, maxAgeSeconds],
  );
  return new Map(rows.map((row) => [row.currency, row]));
}
