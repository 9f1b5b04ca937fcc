import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { post } from '../../db/ledger/ledger';
import { createMerchant } from '../../db/access/merchants';
import { parseConfig } from '../../domain/config';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { adjustment } from '../../domain/ledger/entry';

export const seed = Buffer.alloc(64, 7);
export const config = parseConfig({ BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' });
export const codecs = createCodecs(config.chain);
/** Ethereum addresses of somebody else. */
export const strangers = codecs.ethereum.extendedKey(Buffer.alloc(64, 9), 'deposit');
const hot = codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'treasury'), 0);

export type RichShop = Readonly<{
  db: DataSource;
  /** Of its owner. */
  url: string;
  merchantId: string;
  hot: string;
  stop(): Promise<void>;
}>;

/** A database with one merchant and so much ether of theirs, which the hot wallet holds; fees and rates are known. */
export async function richShop(amount: string): Promise<RichShop> {
  const database = await freshDatabase();
  const db = connectionsTo(database.url);
  await db.initialize();
  await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'treasury', 0)`, [
    hot,
  ]);
  await db.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, taken_at)
       VALUES ('ethereum', 2000000000, 1000000000, now())`,
  );
  await db.query(
    `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ('ETH', 'USD', 3200, '[]', now())
       RETURNING *)
     INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at) SELECT currency, fiat, id, value, taken_at
       FROM r`,
  );
  const { id: merchantId } = await createMerchant(db, { secretsKey: 'ab'.repeat(32), name: 'Shop' });
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     VALUES ('ethereum', '0x01', -1, $1, 'treasury', 'ETH', $2, $2, false, 'confirmed', now(), 'own')`,
    [hot, amount],
  );
  await db.transaction((tx) =>
    post(tx, {
      key: 'test',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'ETH', amount }],
    }),
  );
  const stop = async (): Promise<void> => {
    await db.destroy();
    await database.drop();
  };
  return { db, url: database.url, merchantId, hot, stop };
}
