#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addCommands } from './commands.js';
import { Output } from './output.js';

/** `crypto-payments`: the process. Ends with 0, with 1 for a refusal or with 2 for a wrong command line. */

const output = new Output();
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());

const program = new Command('crypto-payments');
program
  .description('Command line of the crypto payment service')
  .option('--json', 'one JSON value per line')
  .showHelpAfterError('(--help shows what there is)')
  .exitOverride()
  .hook('preAction', () => {
    output.isJson = program.opts<{ json?: boolean }>().json === true;
  });
addCommands(program, output, ended.signal);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    output.fail(error);
    process.exitCode = 1;
  }
}
