import { setTimeout as sleep } from 'node:timers/promises';
import { createCodecs } from '../activities/chain/codecs';
import { createApiKey } from '../db/api-keys';
import { createDataSource } from '../db/data-source';
import { createMerchant } from '../db/merchants';
import { addWallet } from '../db/wallets';
import { scopes } from '../domain/access';
import { assets } from '../domain/assets';
import { parseConfig } from '../domain/config';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { chainsOf } from './chain-tools';
import { mineEthereum } from './miner';
import { call } from './parts/json-rpc';
import { Payer } from './payer';
import type { DemoMerchant } from './sandbox-file';
import type { Stack } from './stack';

/** Wei that our gas wallet starts with: a thousand ether of play money. */
const gasFloat = '0x3635c9adc5dea00000';

/** A merchant with a wallet of platform custody in every asset and a key with every scope. */
export async function openShop(
  db: DataSource,
  stack: Stack,
  name: string,
  options: Partial<Parameters<typeof createMerchant>[1]> = {},
) {
  const config = parseConfig(stack.env);
  const codecs = createCodecs(config.chain);
  const { secretsKey } = stack.secrets;
  const merchant = await createMerchant(db, { secretsKey, name, ...options });
  for (const asset of assets)
    await addWallet(db, { merchantId: merchant.id, currency: asset.currency }, codecs[asset.network]);
  const { apiKey } = await createApiKey(db, merchant.id, { secretsKey, name: 'First key', scopes: [...scopes] });
  return { ...merchant, secretKey: apiKey };
}

/** Gives our gas wallet its float, from the chain's own rich account, and waits until the follower has booked it. */
export async function fundGas(db: DataSource, ethRpcUrl: string): Promise<void> {
  const [gas] = (await db.query(
    `SELECT address FROM address WHERE network = 'ethereum' AND role = 'gas' AND key_index = 0`,
  )) as Array<{ address: string }>;
  if (!gas) throw new Error('The signer has not registered its gas wallet');
  const held = BigInt(await call<string>(ethRpcUrl, 'eth_getBalance', [gas.address, 'latest']));
  if (held > BigInt(gasFloat) / 10n) return;
  const [from] = await call<string[]>(ethRpcUrl, 'eth_accounts', []);
  await call(ethRpcUrl, 'eth_sendTransaction', [{ from, to: gas.address, value: gasFloat }]);
  await mineEthereum(ethRpcUrl, 13);
}

/** Waits until there is a rate for every asset and a fee for every network: before that nothing can be quoted. */
export async function untilPriced(db: DataSource, patienceMs = 60_000): Promise<void> {
  const networkCount = new Set(assets.map((asset) => asset.network)).size;
  for (const began = Date.now(); ; await sleep(200)) {
    const [row] = (await db.query(
      `SELECT (SELECT count(*)::int FROM rate_latest WHERE fiat = 'USD') AS rates, (SELECT count(*)::int FROM network_fee) AS fees`,
    )) as Array<{ rates: number; fees: number }>;
    if (row && row.rates >= assets.length && row.fees >= networkCount) return;
    if (Date.now() - began > patienceMs)
      throw new Error(`No rates or fees after ${patienceMs / 1000} s: see the logs of payments-1 and chain-1`);
  }
}

/** The demo merchant of `npm start`: made on the first start, found again on the next. */
export async function seedSandbox(stack: Stack): Promise<DemoMerchant> {
  const file = join(stack.dataDir, 'merchant.json');
  const db = createDataSource(stack.postgres.url, { pool: 2, name: 'seed' });
  await db.initialize();
  try {
    await new Payer(chainsOf(stack), stack.tokens, stack.payerMnemonic).fund();
    await untilPriced(db); // by then the followers run: what comes before them is not theirs to book
    await fundGas(db, stack.anvil.url);
    if (existsSync(file)) {
      const known = JSON.parse(readFileSync(file, 'utf8')) as DemoMerchant;
      const [row] = (await db.query('SELECT 1 FROM merchant WHERE id = $1', [known.id])) as unknown[];
      if (row) return known;
    }
    const shop = await openShop(db, stack, 'Demo Shop');
    const merchant: DemoMerchant = {
      id: shop.id,
      email: 'demo@shop.example',
      password: null,
      totpSecret: null,
      secretKey: shop.secretKey,
      publishableKey: shop.publishableKey,
      ipnSecret: shop.ipnSecret,
    };
    writeFileSync(file, `${JSON.stringify(merchant, null, 2)}\n`, { mode: 0o600 });
    return merchant;
  } finally {
    await db.destroy();
  }
}
