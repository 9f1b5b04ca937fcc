import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { dirname } from 'node:path';
import { postgresFolder } from './parts/postgres';
import { sandboxFolder } from './paths';
import { endLeftovers, leftovers } from './process';
import { sendSignal } from './process-table';

/** `npm run reset`: ends the sandbox, if it runs, and empties it. */
async function main(): Promise<void> {
  const sandbox = leftovers(sandboxFolder).find(({ name }) => name === 'sandbox');
  if (sandbox) {
    console.log('Ending the sandbox that runs');
    sendSignal(sandbox.pid, 'SIGTERM');
    for (const until = Date.now() + 40_000; leftovers(sandboxFolder).length && Date.now() < until;) await sleep(100);
  }
  await endLeftovers(sandboxFolder);
  const postgres = postgresFolder(sandboxFolder);
  if (!postgres.startsWith(sandboxFolder)) rmSync(dirname(postgres), { recursive: true, force: true });
  rmSync(sandboxFolder, { recursive: true, force: true });
  console.log('The sandbox is empty: npm start makes a new one');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
