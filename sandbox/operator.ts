import { runOperator } from '../api/operator';
import { parseConfig } from '../domain/config';
import { sandboxFolder } from './paths';
import { readSandboxFile } from './sandbox-file';
import { secretsOf } from './secrets';
import { databaseFor } from './services';

/** `npm run operator -- <command>`: an operator's act on the running sandbox. In production: `node dist/api/operator.js <command>`. */
async function main(): Promise<number> {
  const { databaseUrl } = readSandboxFile();
  const { secretsKey } = secretsOf(sandboxFolder);
  return runOperator(
    parseConfig({ DATABASE_URL: databaseFor(databaseUrl, 'operator'), SECRETS_KEY: secretsKey }),
    process.argv.slice(2),
  );
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`npm run operator: ${error.message}`);
    process.exit(1);
  },
);
