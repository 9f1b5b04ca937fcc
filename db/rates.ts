import type { EntityManager } from 'typeorm';

/** What one source said about a price, kept as evidence whether it counted or not. */
export type Evidence = Readonly<{ source: string; value: string; takenAt: string; refused?: string }>;
export type NewRate = Readonly<{
  currency: string;
  fiat: string;
  value: string;
  takenAt: Date;
  sources: readonly Evidence[];
}>;

/** Stores a rate with its evidence and makes it the one that quotes use. */
export async function storeRate(tx: EntityManager, rate: NewRate): Promise<void> {
  const [row] = await tx.query<Array<{ id: string }>>(
    'INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ($1, $2, $3, $4, $5) RETURNING id',
    [rate.currency, rate.fiat, rate.value, JSON.stringify(rate.sources), rate.takenAt],
  );
  await tx.query(
    `INSERT INTO rate_latest AS l (currency, fiat, rate_id, value, taken_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (currency, fiat) DO UPDATE SET rate_id = EXCLUDED.rate_id, value = EXCLUDED.value, taken_at = EXCLUDED.taken_at
      WHERE l.taken_at <= EXCLUDED.taken_at`,
    [rate.currency, rate.fiat, row!.id, rate.value, rate.takenAt],
  );
}

/** Rates older than `days` that no payment was quoted with; evidence that was used stays for ever. At most 5,000 a call. */
export async function pruneRates(db: Pick<EntityManager, 'query'>, days: number): Promise<void> {
  await db.query(
    `DELETE FROM rate WHERE id IN (
       SELECT r.id FROM rate r WHERE r.taken_at < now() - make_interval(days => $1)
         AND NOT EXISTS (SELECT FROM payment p WHERE p.rate_id = r.id) AND NOT EXISTS (SELECT FROM rate_latest l WHERE l.rate_id = r.id)
       ORDER BY r.id LIMIT 5000)`,
    [days],
  );
}
