import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeDeployData, type Abi, type Hex } from 'viem';
import { sweeperAbi } from '../activities/chain/evm-codec';
import { sweeperCode } from '../activities/chain/sweeper-code';
import { call } from './parts/json-rpc';
import { root } from './paths';

type Compiled = Readonly<{ abi: Abi; bytecode: Hex }>;
type Output = {
  contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  errors?: Array<{ severity: string; formattedMessage: string }>;
};

let compiled: Map<string, Compiled> | undefined;

/** The sandbox's contracts, compiled from their source on first use. */
export function contracts(): ReadonlyMap<string, Compiled> {
  if (compiled) return compiled;
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- 30 MB that only a first start needs
  const solc = require('solc') as { compile(input: string): string };
  const content = readFileSync(join(root, 'sandbox/contracts/tokens.sol'), 'utf8');
  const settings = {
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify({ language: 'Solidity', sources: { 'tokens.sol': { content } }, settings })),
  ) as Output;
  const faults = (output.errors ?? []).filter((error) => error.severity === 'error');
  if (faults.length) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  compiled = new Map(
    Object.entries(output.contracts?.['tokens.sol'] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` },
    ]),
  );
  return compiled;
}

/** Deploys a contract of the sandbox; answers its address. */
export function deploy(ethRpcUrl: string, name: string, args: readonly unknown[] = []): Promise<Hex> {
  const contract = contracts().get(name);
  if (!contract) throw new Error(`sandbox/contracts has no ${name}`);
  const data = encodeDeployData({ abi: contract.abi, bytecode: contract.bytecode, args: [...args] });
  return deployCode(ethRpcUrl, name, data);
}

/** The contract that sweeps tokens of many addresses, obeying `operator`; as its source compiles, see activities/chain/sweeper-code.ts. */
export const deploySweeper = (ethRpcUrl: string, operator: string): Promise<Hex> =>
  deployCode(
    ethRpcUrl,
    'Sweeper',
    encodeDeployData({ abi: sweeperAbi, bytecode: sweeperCode, args: [operator as Hex] }),
  );

/** Sends creation code from the node's first account and mines it. */
async function deployCode(ethRpcUrl: string, name: string, data: Hex): Promise<Hex> {
  const [from] = await call<string[]>(ethRpcUrl, 'eth_accounts', []);
  const txId = await call<string>(ethRpcUrl, 'eth_sendTransaction', [{ from, data, gas: '0x2dc6c0' }]);
  await call(ethRpcUrl, 'evm_mine', []);
  const receipt = await call<{ status: string; contractAddress: Hex } | null>(ethRpcUrl, 'eth_getTransactionReceipt', [
    txId,
  ]);
  if (receipt?.status !== '0x1') throw new Error(`${name} could not be deployed`);
  return receipt.contractAddress;
}

const supply = 10n ** 9n * 10n ** 6n;

/** The local chain's tokens of the registry, by ticker. */
export const deployTokens = async (ethRpcUrl: string): Promise<Record<string, string>> => ({
  USDT_ERC20: await deploy(ethRpcUrl, 'SilentToken', ['Tether USD', 'USDT', supply]),
  USDC_ERC20: await deploy(ethRpcUrl, 'DollarToken', ['USD Coin', 'USDC', supply]),
});
