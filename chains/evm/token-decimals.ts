import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { DomainError } from '../../domain/errors';
import type { EvmChain } from './codec';
import type { Rpc } from '../json-rpc';

/** With how many decimals a token counts, as it says itself; null: nothing is there that answers. */
export async function decimalsAt(contract: string, rpc: Rpc): Promise<number | null> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' });
  const answer = await rpc<Hex>('eth_call', [{ to: contract, data }, 'latest']);
  return answer === '0x' ? null : decodeFunctionResult({ abi: erc20Abi, functionName: 'decimals', data: answer });
}

/** Refuses a chain on which a token of ours counts otherwise than we do: each amount of it would be wrong by powers of
 *  ten. Throws NODE_UNREACHABLE. */
export async function checkDecimals(chain: Pick<EvmChain, 'assets'>, rpc: Rpc): Promise<void> {
  await Promise.all(
    [...chain.assets].map(async ([currency, { contract, decimals }]) => {
      const its = contract === null ? null : await decimalsAt(contract, rpc);
      if (its !== null && its !== decimals)
        throw new DomainError(
          'NODE_UNREACHABLE',
          `What is at ${contract} has ${its} decimals, ${currency} ${decimals}`,
        );
    }),
  );
}
