import { readFileSync } from 'node:fs';
import { createAdapter } from '../activities/chain';
import { audit, invariantsChecked } from '../db/audit';
import { createDataSource } from '../db/data-source';
import { networks, type NetworkId } from '../domain/assets';
import { parseConfig, type Config } from '../domain/config';
import { join } from 'node:path';
import { sandboxFolder } from './paths';
import { readSandboxFile } from './sandbox-file';

/** `npm run audit`: checks the invariants of a running sandbox, or of what DATABASE_URL and the node variables name. Ends with 1 when
 *  one is violated. */
function configuration(): Config {
  if (process.env.DATABASE_URL) return parseConfig(process.env, (path) => readFileSync(path, 'utf8'));
  const { databaseUrl, ethRpcUrl, btcRpcUrl } = readSandboxFile();
  return parseConfig({
    DATABASE_URL: databaseUrl,
    ETH_RPC_URL: ethRpcUrl,
    ETH_CHAIN_ID: '31337',
    BTC_RPC_URL: btcRpcUrl,
    BTC_NETWORK: 'regtest',
    TOKEN_CONTRACTS: readFileSync(join(sandboxFolder, 'tokens.json'), 'utf8'),
  });
}

async function main(): Promise<number> {
  const config = configuration();
  const db = createDataSource(config.DATABASE_URL, { pool: 2, name: 'audit' });
  await db.initialize();
  try {
    const adapters = (Object.keys(networks) as NetworkId[]).map((network) => createAdapter(network, config));
    const violations = await audit(db, { adapters });
    for (const invariant of invariantsChecked) {
      const broken = violations.filter((violation) => violation.invariant === invariant);
      if (!broken.length) console.log(`${invariant.padEnd(4)} holds`);
      for (const { what, found } of broken)
        console.log(`${invariant.padEnd(4)} VIOLATED: ${what}: ${found.join('; ')}`);
    }
    return violations.length ? 1 : 0;
  } finally {
    await db.destroy();
  }
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`npm run audit: ${error.message}`);
    process.exit(1);
  },
);
