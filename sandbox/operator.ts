import { runErase } from '../api/erase';
import { runOperator } from '../api/operator';
import { parseConfig } from '../domain/config';
import { deploymentAsked } from '../workers/deploy-sweeper';
import { runningConfig } from './running-config';
import { sandboxFolder } from './paths';
import { readSandboxFile } from './sandbox-file';
import { secretsOf } from './secrets';
import { databaseFor } from './services';

/** `npm run operator -- <command>`: an operator's act on the running sandbox. In production: `node dist/api/operator.js
 *  <command>`; for `erase`, which has a database role of its own, `node dist/api/erase.js`; and for `deploy-sweeper`,
 *  which asks a node, `node dist/workers/deploy-sweeper.js`. */
async function main(): Promise<number> {
  if (process.argv[2] === 'deploy-sweeper') {
    console.log(await deploymentAsked(runningConfig(), process.argv));
    return 0;
  }
  const { databaseUrl, settings } = readSandboxFile();
  if (process.argv[2] === 'erase')
    return runErase({ DATABASE_URL: databaseFor(databaseUrl, 'retention') }, process.argv.slice(3));
  const { secretsKey } = secretsOf(sandboxFolder);
  return runOperator(
    parseConfig({ ...settings, DATABASE_URL: databaseFor(databaseUrl, 'operator'), SECRETS_KEY: secretsKey }),
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
