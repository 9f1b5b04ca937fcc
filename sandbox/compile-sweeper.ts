import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { root } from './paths';

type Output = {
  contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
  errors?: Array<{ severity: string; formattedMessage: string }>;
};

/** `chains/evm/sweeper-code.ts` as it follows from `contracts/sweeper.sol`: the same source and compiler, the same
 *  bytes. */
export function compileSweeper(): Record<'Delegate' | 'Sweeper', Hex> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- 30 MB that only a check of the bytes needs
  const solc = require('solc') as { compile(input: string): string };
  const content = readFileSync(join(root, 'contracts/sweeper.sol'), 'utf8');
  const settings = {
    evmVersion: 'prague',
    optimizer: { enabled: true, runs: 10_000 },
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources: { 'sweeper.sol': { content } }, settings })),
  ) as Output;
  const faults = (output.errors ?? []).filter((error) => error.severity === 'error');
  if (faults.length) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  const codeOf = (name: string): Hex => `0x${output.contracts!['sweeper.sol']![name]!.evm.bytecode.object}`;
  return { Delegate: codeOf('Delegate'), Sweeper: codeOf('Sweeper') };
}
