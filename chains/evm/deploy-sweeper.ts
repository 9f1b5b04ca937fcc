import { hexToNumber, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Rpc } from '../json-rpc';
import { factory, sweeperOf } from './sweeper';

/** Deploys the contract that sweeps tokens of many addresses: once for each chain and gas wallet, by anybody. Its
 *  address follows from its code and the gas wallet, so that code at this address is the right code. */

/** It cannot be deployed; the message says why, and what to do. */
export class DeploymentError extends Error {}

export type Deployment = Readonly<{
  address: Hex;
  /** `unsent`: nobody's key is here; `data` is to be sent to the factory from any wallet. */
  state: 'there' | 'deployed' | 'unsent';
  data: Hex;
}>;

/** How long a block is waited for. */
const patience = { looks: 150, pauseMs: 2000 };

/** Deploys the sweeper, or finds it there. `key`: of whoever pays; without one an account of the node, if it has any.
 *  Repeating it is safe: the factory makes no second contract at an address. */
export async function deploySweeper(
  rpc: Rpc,
  wanted: Readonly<{ gasWallet: string; chainId: number; key?: Hex }>,
  { looks, pauseMs } = patience,
): Promise<Deployment> {
  const chainId = hexToNumber(await rpc<Hex>('eth_chainId'));
  if (chainId !== wanted.chainId)
    throw new DeploymentError(`The node is on chain ${chainId}, not on ${wanted.chainId}`);
  const { address, data } = sweeperOf(wanted.gasWallet);
  const hasCode = async (where: Hex): Promise<boolean> =>
    (await rpc<string>('eth_getCode', [where, 'latest'])).length > 2;
  if (await hasCode(address)) return { address, state: 'there', data };
  if (!(await hasCode(factory))) throw new DeploymentError(`The chain has no factory at ${factory}`);

  const txId = wanted.key ? await sendSigned(rpc, wanted.key, data, chainId) : await sendFromNode(rpc, data);
  if (txId === null) return { address, state: 'unsent', data };
  for (let look = 0; look < looks; look += 1) {
    const receipt = await rpc<{ status: string } | null>('eth_getTransactionReceipt', [txId]);
    if (receipt && receipt.status !== '0x1') throw new DeploymentError(`The transaction ${txId} was reverted`);
    if (receipt && (await hasCode(address))) return { address, state: 'deployed', data };
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new DeploymentError(`The transaction ${txId} is not mined yet: run this again later`);
}

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`;
const withMargin = (gas: bigint): bigint => gas + gas / 4n;

async function sendSigned(rpc: Rpc, key: Hex, data: Hex, chainId: number): Promise<string> {
  const payer = privateKeyToAccount(key);
  const { address: from } = payer;
  const [nonce, tip, block, estimate, balance] = await Promise.all([
    rpc<Hex>('eth_getTransactionCount', [from, 'pending']),
    rpc<string>('eth_maxPriorityFeePerGas'),
    rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false]),
    rpc<string>('eth_estimateGas', [{ from, to: factory, data }]),
    rpc<string>('eth_getBalance', [from, 'latest']),
  ]);
  const maxPriorityFeePerGas = BigInt(tip);
  const maxFeePerGas = 2n * BigInt(block.baseFeePerGas) + maxPriorityFeePerGas;
  const gas = withMargin(BigInt(estimate));
  if (BigInt(balance) < gas * maxFeePerGas)
    throw new DeploymentError(`${from} has ${BigInt(balance)} wei; up to ${gas * maxFeePerGas} may be needed`);
  const fees = { gas, maxFeePerGas, maxPriorityFeePerGas };
  const raw = await payer.signTransaction({ chainId, to: factory, data, nonce: hexToNumber(nonce), ...fees });
  return rpc<string>('eth_sendRawTransaction', [raw]);
}

/** Only local nodes have accounts; null where there is none. */
async function sendFromNode(rpc: Rpc, data: Hex): Promise<string | null> {
  const [from] = await rpc<string[]>('eth_accounts').catch(() => []);
  if (!from) return null;
  const gas = withMargin(BigInt(await rpc<string>('eth_estimateGas', [{ from, to: factory, data }])));
  return rpc<string>('eth_sendTransaction', [{ from, to: factory, data, gas: quantity(gas) }]);
}
