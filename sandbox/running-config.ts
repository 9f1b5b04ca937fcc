import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { utxoOf } from '../domain/chains/costs';
import { parseConfig, type Config } from '../domain/config';
import { sandboxFolder } from './paths';
import { readSandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** The configuration of a running sandbox, as the role that audits it, or what DATABASE_URL and the node variables
 *  name. */
export function runningConfig(): Config {
  if (process.env.DATABASE_URL) return parseConfig(process.env, (path) => readFileSync(path, 'utf8'));
  const { databaseUrl, ethRpcUrl, btcRpcUrl, coins } = readSandboxFile();
  const others = Object.entries(coins).map(([currency, { url }]) => ({ ...utxoOf(currency), url }));
  return parseConfig({
    DATABASE_URL: databaseFor(databaseUrl, 'audit'),
    ETH_RPC_URL: ethRpcUrl,
    ETH_CHAIN_ID: '31337',
    BTC_RPC_URL: btcRpcUrl,
    BTC_NETWORK: 'regtest',
    NETWORKS: ['bitcoin', 'ethereum', ...others.map(({ id }) => id)].join(','),
    ...Object.fromEntries(
      others.flatMap(({ settings: { prefix }, url }) => [
        [`${prefix}_RPC_URL`, url],
        [`${prefix}_NETWORK`, 'regtest'],
      ]),
    ),
    TOKEN_CONTRACTS: readFileSync(join(sandboxFolder, 'tokens.json'), 'utf8'),
  });
}
