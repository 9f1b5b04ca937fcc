import { decodeFunctionResult, encodeFunctionData, parseAbi, type Hex } from 'viem';
import type { DataFee } from '../../domain/chains/network';
import { DomainError } from '../../domain/errors';
import type { Rpc } from '../json-rpc';

/** What networks of the OP stack charge for a transaction's data on Ethereum. The contract's bound is for a signed
 *  transaction that cannot be packed: more than is ever charged at today's prices.
 *  Source: https://specs.optimism.io, GasPriceOracle of the upgrade Fjord. */

const abi = parseAbi(['function getL1FeeUpperBound(uint256 unsignedTxSize) view returns (uint256)']);
/** Enough for the least that a transaction is charged to be a small part. */
const asked = 1000;

/** What is to be kept for data with each gas of a transaction of ours, in base units, rounded up. Throws
 *  NODE_UNREACHABLE where the contract does not answer. */
export async function dataPrice(rpc: Rpc, { oracle, bytes, gas }: DataFee): Promise<bigint> {
  const data = encodeFunctionData({ abi, functionName: 'getL1FeeUpperBound', args: [BigInt(asked)] });
  const answer = await rpc<Hex>('eth_call', [{ to: oracle, data }, 'latest']);
  if (answer === '0x') throw new DomainError('NODE_UNREACHABLE', `There is no price of data at ${oracle}`);
  const bound = decodeFunctionResult({ abi, functionName: 'getL1FeeUpperBound', data: answer });
  const whole = bound * BigInt(bytes);
  const parts = BigInt(asked) * gas;
  return (whole + parts - 1n) / parts;
}
