import { parseConfig } from '../domain/config';
import { runScreening } from '../workers/screening';
import { readSandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** `npm run screening -- import <file.csv>`: on the running sandbox. In production: `node dist/workers/screening.js
 *  import <file.csv>`. */
async function main(): Promise<number> {
  const { databaseUrl } = readSandboxFile();
  const env = {
    DATABASE_URL: databaseFor(databaseUrl, 'operator'),
    BTC_NETWORK: 'regtest',
    ETH_CHAIN_ID: '31337',
    AML_PROVIDER: 'list',
  };
  return runScreening(parseConfig(env), process.argv.slice(2));
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`npm run screening: ${error.message}`);
    process.exit(1);
  },
);
