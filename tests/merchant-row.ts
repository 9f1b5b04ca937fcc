/** What runs statements: a data source, a transaction, or a client of pg. */
type Writer = Readonly<{ query(sql: string, values: unknown[]): Promise<unknown> }>;
/** `ipnSecret`: sealed. */
type Told = Readonly<{ name?: string; ipnSecret?: string | Buffer; openPayments?: number }>;

/** Inserts the row of a merchant with its counter, and nothing else of it. */
export async function insertMerchant(
  db: Writer,
  id: string,
  { name = 'Shop', ipnSecret = 'sealed', openPayments = 0 }: Told = {},
): Promise<void> {
  await db.query(
    `INSERT INTO merchant (id, name, ipn_secret_sealed, publishable_key)
     VALUES ($1::text, $2, $3, 'pk_' || $1::text)`,
    [id, name, ipnSecret],
  );
  await db.query('INSERT INTO merchant_counter (merchant_id, open_payments) VALUES ($1, $2)', [id, openPayments]);
}
