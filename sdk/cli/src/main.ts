#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addCommands } from './commands.js';
import { Output } from './output.js';
import { Refusal } from './refusal.js';

/** `crypto-payments`: the process. Ends with 0; with 2 where the command line is wrong by itself (`USAGE`: an unknown
 *  command, option, event or place, a missing or malformed argument); with 1 for everything else. */

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const output = new Output();
const program = new Command('crypto-payments');
program
  .description('Command line of the crypto payment service')
  .version(version)
  .option('--json', 'anywhere: one JSON value per line')
  .showHelpAfterError('(--help shows what there is)')
  .configureOutput({ writeErr: (text) => output.complain(text) })
  .exitOverride();
addCommands(program, output);

const given = process.argv.slice(2);
const options = given.includes('--') ? given.slice(0, given.indexOf('--')) : given;
output.isJson = options.includes('--json');
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0); // `| head` has seen enough
});

/** What is wrong with the command line, for programs; people have been told. */
const wrong = ({ code, message }: CommanderError): Refusal =>
  new Refusal(code === 'commander.help' ? 'A command is missing: --help shows them' : message);

try {
  const rest = given.slice(options.length);
  await program.parseAsync([...options.filter((one) => one !== '--json'), ...rest], { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
    if (output.isJson && error.exitCode !== 0) output.fail(wrong(error));
  } else {
    output.fail(error);
    process.exitCode = error instanceof Refusal && error.code === 'USAGE' ? 2 : 1;
  }
}
