import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeDeployData, type Abi, type Hex } from 'viem';
import { deploySweeper as deployOnChain } from '../chains/evm/deploy-sweeper';
import type { Rpc } from '../chains/json-rpc';
import { assetsOn, type NetworkId } from '../domain/chains/assets';
import { call } from './parts/json-rpc';
import { sendFromNode } from './node-account';
import { root } from './paths';

type Compiled = Readonly<{ abi: Abi; bytecode: Hex }>;
type Output = {
  contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  errors?: Array<{ severity: string; formattedMessage: string }>;
};

const files = ['tokens.sol', 'gas-price-oracle.sol'];
let compiled: ReadonlyMap<string, Compiled> | undefined;

/** The sandbox's contracts. Compiled on first use and kept on disk: the compiler takes seconds, and each stack of the
 *  tests needs the same bytes. */
function contracts(): ReadonlyMap<string, Compiled> {
  if (compiled) return compiled;
  const sources = Object.fromEntries(
    files.map((name) => [name, { content: readFileSync(join(root, 'sandbox/contracts', name), 'utf8') }]),
  );
  const settings = {
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  };
  const input = JSON.stringify({ language: 'Solidity', sources, settings });
  const { version } = JSON.parse(readFileSync(require.resolve('solc/package.json'), 'utf8')) as { version: string };
  const key = createHash('sha256').update(`${version}\n${input}`).digest('hex').slice(0, 16);
  const kept = join(root, 'node_modules', '.cache', 'contracts', `${key}.json`);
  if (!existsSync(kept)) {
    mkdirSync(dirname(kept), { recursive: true });
    const draft = `${kept}.${process.pid}`; // renamed when complete: several stacks may start at once
    writeFileSync(draft, JSON.stringify(compile(input)));
    renameSync(draft, kept);
  }
  compiled = new Map(Object.entries(JSON.parse(readFileSync(kept, 'utf8')) as Record<string, Compiled>));
  return compiled;
}

function compile(input: string): Record<string, Compiled> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- 30 MB that only a first start needs
  const solc = require('solc') as { compile(input: string): string };
  const output = JSON.parse(solc.compile(input)) as Output;
  const faults = (output.errors ?? []).filter((error) => error.severity === 'error');
  if (faults.length) throw new Error(faults.map((fault) => fault.formattedMessage).join('\n'));
  return Object.fromEntries(
    Object.values(output.contracts ?? {}).flatMap((file) =>
      Object.entries(file).map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }]),
    ),
  );
}

/** Deploys a contract of the sandbox; answers its address. */
export function deploy(ethRpcUrl: string, name: string, args: readonly unknown[] = []): Promise<Hex> {
  const contract = contracts().get(name);
  if (!contract) throw new Error(`sandbox/contracts has no ${name}`);
  const data = encodeDeployData({ abi: contract.abi, bytecode: contract.bytecode, args: [...args] });
  return deployCode(ethRpcUrl, name, data);
}

/** The contract that sweeps tokens of many addresses, obeying `operator`, as a deployment makes it. */
export async function deploySweeper(ethRpcUrl: string, operator: string): Promise<Hex> {
  const rpc: Rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const answer = await call<T>(ethRpcUrl, method, [...params]);
    // The local chain has a block when it is told to.
    if (method === 'eth_sendTransaction') await call(ethRpcUrl, 'evm_mine', []);
    return answer;
  };
  const chainId = Number(await rpc<string>('eth_chainId'));
  return (await deployOnChain(rpc, { gasWallet: operator, chainId })).address;
}

/** The contract that tells the price of data, where a network of the OP stack has it; left alone where one is. */
export async function placeOracle(ethRpcUrl: string, oracle: string): Promise<void> {
  if ((await call<string>(ethRpcUrl, 'eth_getCode', [oracle, 'latest'])) !== '0x') return;
  const elsewhere = await deploy(ethRpcUrl, 'GasPriceOracle');
  const code = await call<string>(ethRpcUrl, 'eth_getCode', [elsewhere, 'latest']);
  await call(ethRpcUrl, 'anvil_setCode', [oracle, code]);
}

/** Sends creation code from the node's first account and mines it. */
async function deployCode(ethRpcUrl: string, name: string, data: Hex): Promise<Hex> {
  const txId = await sendFromNode(ethRpcUrl, { data, gas: '0x2dc6c0' });
  await call(ethRpcUrl, 'evm_mine', []);
  const receipt = await call<{ status: string; contractAddress: Hex } | null>(ethRpcUrl, 'eth_getTransactionReceipt', [
    txId,
  ]);
  if (receipt?.status !== '0x1') throw new Error(`${name} could not be deployed`);
  return receipt.contractAddress;
}

const supply = 10n ** 9n * 10n ** 6n;

/** Tokens of the registry on the local chain of a network, by ticker. Tether's answers nothing, as the real one. */
export async function deployTokens(
  ethRpcUrl: string,
  network: NetworkId = 'ethereum',
): Promise<Record<string, string>> {
  const deployed: Record<string, string> = {};
  for (const { currency, asset } of assetsOn([network]).filter(({ contract }) => contract !== null))
    deployed[currency] =
      asset === 'USDT'
        ? await deploy(ethRpcUrl, 'SilentToken', ['Tether USD', 'USDT', supply])
        : await deploy(ethRpcUrl, 'DollarToken', ['USD Coin', 'USDC', supply]);
  return deployed;
}
