import { setTimeout as sleep } from 'node:timers/promises';
import { createCodecs } from '../chains/codecs';
import { createApiKey } from '../db/access/api-keys';
import { createDataSource } from '../db/data-source';
import { createMerchant } from '../db/access/merchants';
import { randomBase62 } from '../db/sealing';
import { knownNode } from '../db/lightning/node';
import { addLightningWallet, addWallet } from '../db/wallets/wallets';
import { scopes } from '../domain/access/access';
import { assetOf, assets, assetsOn, isToken, networks, payableOn, type NetworkId } from '../domain/chains/assets';
import { isByLightning } from '../domain/lightning/currency';
import { capitalTag, tagIn } from '../domain/chains/tags';
import { parseConfig, type Config } from '../domain/config';
import { divide, subtract } from '../domain/money';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { chainsOf } from './chain-tools';
import { mineEthereum } from './miner';
import { sendFromNode } from './node-account';
import { call } from './parts/json-rpc';
import { Payer } from './payer';
import { playMoney } from './play-money';
import type { DemoMerchant } from './sandbox-file';
import type { Stack } from './stack';
import { Visitor } from './visitor';

/** Wei that each of our gas wallets starts with: a thousand ether of play money. */
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
  for (const asset of assetsOn(config.networks))
    await addWallet(db, { merchantId: merchant.id, currency: asset.currency }, codecs[asset.network]);
  const { apiKey } = await createApiKey(db, merchant.id, {
    secretsKey,
    name: 'First key',
    createdBy: null,
    scopes: [...scopes],
  });
  return { ...merchant, secretKey: apiKey };
}

/** Gives each of our gas wallets its float, from the chain's own rich account, deep enough to be booked. */
async function fundGas(db: DataSource, ethRpcUrl: string, network: NetworkId = 'ethereum'): Promise<void> {
  const wallets = (await db.query(
    `SELECT address FROM address WHERE network = $1 AND role = 'gas' AND lane = 'used' ORDER BY key_index`,
    [network],
  )) as Array<{ address: string }>;
  if (!wallets.length) throw new Error(`The signer has not registered its gas wallets of ${network}`);
  let isAnyPoor = false;
  for (const { address } of wallets) {
    const held = BigInt(await call<string>(ethRpcUrl, 'eth_getBalance', [address, 'latest']));
    if (held > BigInt(gasFloat) / 10n) continue;
    await sendFromNode(ethRpcUrl, { to: address, value: gasFloat });
    isAnyPoor = true;
  }
  if (isAnyPoor) await mineEthereum(ethRpcUrl, networks[network].confirmations + 1);
}

/** On a simulated chain with tokens: the same, by a payment of its payer. */
async function fundSimulatedGas(db: DataSource, network: NetworkId, payer: Payer): Promise<void> {
  const { native, confirmations } = networks[network];
  if (!assetsOn([network]).some(({ currency }) => isToken(currency))) return;
  const wallets = (await db.query(
    `SELECT address FROM address AS one WHERE network = $1 AND role = 'gas' AND lane = 'used'
        AND NOT EXISTS (SELECT FROM deposit WHERE deposit.network = $1 AND deposit.address = one.address)`,
    [network],
  )) as Array<{ address: string }>;
  for (const { address } of wallets) await payer.pay(native, address, '20000');
  if (wallets.length) await payer.mine(native, 2 * confirmations);
}

/** The same on every account chain that the stack has. */
export async function fundAllGas(
  db: DataSource,
  stack: Pick<Stack, 'anvil' | 'evmNodes' | 'simulators'>,
  payer: Payer,
): Promise<void> {
  await fundGas(db, stack.anvil.url);
  for (const [network, { url }] of stack.evmNodes) await fundGas(db, url, network);
  for (const network of stack.simulators.keys()) await fundSimulatedGas(db, network, payer);
}

/** Gives our treasury its float, once, each hot wallet its share. The followers book it as capital when it is final. */
export async function fundTreasury(db: DataSource, payer: Payer): Promise<void> {
  const known = (await db.query(
    `SELECT DISTINCT currency FROM deposit WHERE role = 'treasury' AND status <> 'orphaned'`,
  )) as Array<{ currency: string | null }>;
  for (const asset of assets) {
    const { currency } = asset;
    if (!known.some((one) => one.currency === currency)) await payIn(db, payer, currency, playMoney(asset).float);
  }
}

/** Pays money of the platform's own into the treasury, each hot wallet its share; where payments share its account,
 *  with the tag that says so. Returns the transactions: none on a network that is off. */
export async function payIn(db: DataSource, payer: Payer, currency: string, amount: string): Promise<string[]> {
  const { network, payDecimals } = assetOf(currency);
  const lanes = (await db.query(
    `SELECT address FROM address WHERE network = $1 AND role = 'treasury' AND lane = 'used' ORDER BY key_index`,
    [network],
  )) as Array<{ address: string }>;
  const txIds: string[] = [];
  let left = amount;
  for (const [n, { address }] of lanes.entries()) {
    const share = divide(left, String(lanes.length - n), payDecimals, 'down');
    left = subtract(left, share);
    txIds.push((await payer.pay(currency, address, share, tagIn({ tag: capitalTag(network) ?? undefined }))).txId);
  }
  return txIds;
}

/** Waits until there is a rate for every asset and a fee for every network: before that nothing can be quoted. */
export async function untilPriced(
  db: DataSource,
  { networks }: Pick<Config, 'networks'>,
  patienceMs = 60_000,
): Promise<void> {
  const own = assetsOn(networks).map(({ currency }) => currency);
  for (const began = Date.now(); ; await sleep(200)) {
    const [row] = (await db.query(
      `SELECT (SELECT count(*)::int FROM rate_latest WHERE fiat = 'USD' AND currency = ANY($1)) AS rates,
              (SELECT count(*)::int FROM network_fee WHERE network = ANY($2)) AS fees`,
      [own, networks],
    )) as Array<{ rates: number; fees: number }>;
    if (row && row.rates >= own.length && row.fees >= networks.length) return;
    if (Date.now() - began > patienceMs)
      throw new Error(`No rates or fees after ${patienceMs / 1000} s: see the logs of payments-1 and chain-1`);
  }
}

/** The demo merchant of `npm start`: made on the first start, found again on the next. */
export async function seedSandbox(stack: Stack): Promise<DemoMerchant> {
  const file = join(stack.dataDir, 'merchant.json');
  const config = parseConfig(stack.env);
  const db = createDataSource(stack.postgres.url, { pool: 2, name: 'seed' });
  await db.initialize();
  try {
    const payer = new Payer(chainsOf(stack), stack.tokens, stack.payerMnemonic);
    await payer.fund();
    await untilPriced(db, config); // by then the followers run: what comes before them is not theirs to book
    await fundAllGas(db, stack, payer);
    await fundTreasury(db, payer);
    if (existsSync(file)) {
      const known = JSON.parse(readFileSync(file, 'utf8')) as DemoMerchant;
      const [row] = (await db.query('SELECT 1 FROM merchant WHERE id = $1', [known.id])) as unknown[];
      if (row && 'widgets' in known) {
        await addMissingWallets(db, known.id, config);
        return known;
      }
    }
    const merchant = await registerDemo(db, stack);
    await addMissingWallets(db, merchant.id, config);
    writeFileSync(file, `${JSON.stringify(merchant, null, 2)}\n`, { mode: 0o600 });
    return merchant;
  } finally {
    await db.destroy();
  }
}

/** Wallets of networks that were not on when the demo merchant was made. */
async function addMissingWallets(
  db: DataSource,
  merchantId: string,
  { chain, networks, LIGHTNING_PAYMENTS: byLightning }: Pick<Config, 'chain' | 'networks' | 'LIGHTNING_PAYMENTS'>,
): Promise<void> {
  const codecs = createCodecs(chain);
  const wallets = (await db.query('SELECT currency FROM merchant_wallet WHERE merchant_id = $1', [
    merchantId,
  ])) as Array<{ currency: string }>;
  for (const { currency, network } of payableOn(networks, byLightning)) {
    if (wallets.some((wallet) => wallet.currency === currency)) continue;
    if (isByLightning(currency)) {
      await untilNodeIsFollowed(db);
      await addLightningWallet(db.manager, { merchantId, currency });
    } else await addWallet(db, { merchantId, currency }, codecs[network]);
  }
}

async function untilNodeIsFollowed(db: DataSource, patienceMs = 60_000): Promise<void> {
  for (const began = Date.now(); !(await knownNode(db)); await sleep(200))
    if (Date.now() - began > patienceMs)
      throw new Error(`The Lightning node was not followed within ${patienceMs / 1000} s: see the log of chain-1`);
}

/** The demo merchant, made as a merchant makes themselves: over HTTP and mail. */
export async function registerDemo(db: DataSource, stack: Stack): Promise<DemoMerchant> {
  const { DASHBOARD_URL, networks } = parseConfig(stack.env);
  const places = { apiUrl: stack.apiUrl, dashboardUrl: DASHBOARD_URL, mailUrl: stack.mail.url };
  const demo = new Visitor(places, await freeAddress(db), `Demo-${randomBase62(16)}-1a`);
  await demo.register('Demo Shop');
  const user = await demo.enrol();
  // Mailed codes where they suffice: an authenticator's serve one each in half a minute.
  for (const [at, { currency }] of assetsOn(networks).entries()) {
    const factor =
      at < 3
        ? { emailCode: await demo.emailCode('/api/v1/merchant-wallets/send-email-code') }
        : { totpCode: await demo.totpCode() };
    await demo.post('/api/v1/merchant-wallets', { currency, ...factor });
  }
  const { apiKey } = (
    await demo.post('/api/v1/api-keys', { name: 'First key', scopes: [...scopes], totpCode: await demo.totpCode() })
  ).body.data;
  const emailCode = await demo.emailCode('/api/v1/auth/mfa/send-email-code', { action: 'ipn_secret' });
  const { secret } = (await demo.post('/api/v1/settings/ipn-secret/rotate', { emailCode })).body.data;
  const { publishableKey } = (await demo.call('GET', '/api/v1/api-keys/publishable')).body;
  return {
    id: user.merchantId,
    email: demo.email,
    password: demo.password,
    totpSecret: demo.totpSecret,
    secretKey: apiKey,
    publishableKey,
    ipnSecret: secret,
    widgets: await demoWidgets(demo),
  };
}

/** One widget of each kind, for pages of this machine. */
async function demoWidgets(demo: Visitor): Promise<DemoMerchant['widgets']> {
  const everywhere = { allowedOrigins: ['127.0.0.1', 'localhost'] };
  const kinds = [
    { title: 'Pay 25 at the checkout', type: 'payment', amountMode: 'fixed', fixedAmount: '25' },
    { title: 'Pay 40 on this page', type: 'payment', amountMode: 'fixed', fixedAmount: '40', displayMode: 'inline' },
    {
      title: 'Donate what you like',
      type: 'donation',
      amountMode: 'variable',
      suggestedAmounts: ['5', '10', '25'],
      minAmount: '2',
      maxAmount: '1000',
      donorFields: ['name', 'email', 'comment'],
      displayMode: 'inline',
      thankYouText: 'Thank you for your gift!',
      branding: { layout: 'heart', accentColor: '#b3123f' },
    },
  ];
  const made: Array<{ id: string; title: string }> = [];
  for (const { title, ...settings } of kinds) {
    const { id } = (await demo.post('/api/v1/widgets', { name: title, ...everywhere, ...settings })).body.data;
    made.push({ id, title });
  }
  return made;
}

/** An address that no earlier start, half finished, has used up. */
async function freeAddress(db: DataSource): Promise<string> {
  for (let n = 1; ; n += 1) {
    const email = `demo${n === 1 ? '' : n}@shop.example`;
    const taken = (await db.query('SELECT 1 FROM dashboard_user WHERE email = $1', [email])) as unknown[];
    if (!taken.length) return email;
  }
}
