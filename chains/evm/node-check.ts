import { BaseError, decodeFunctionResult, encodeFunctionData, type Hex } from 'viem';
import type { EvmNetwork } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { fault, good, warning, type Finding } from '../../domain/finding';
import { RpcError, type Rpc } from '../json-rpc';
import type { EvmChain } from './codec';
import { faultOfSweeper, sweeperAbi } from './sweeper';
import { decimalsAt } from './token-decimals';

/** Whether a node is of the chain that is configured, traces blocks and knows which are final, and whether our contract
 *  and the tokens are there with the decimals of the registry. */
export async function checkEvmNode(network: EvmNetwork, chain: EvmChain, rpc: Rpc): Promise<Finding[]> {
  const id = parseInt(await rpc<string>('eth_chainId'), 16);
  if (id !== chain.chainId)
    return [
      fault(
        `The node is on chain ${id}, and ${network.name} is configured as ${chain.chainId}`,
        'Set the address of a node of that chain, or the chain id of this one',
      ),
    ];
  const head = await rpc<{ number: string; hash: string }>('eth_getBlockByNumber', ['latest', false]);
  return [
    good(`The node is on chain ${id}, block ${parseInt(head.number, 16)}`),
    await traced(network, head.hash, rpc),
    await knowsFinality(rpc),
    ...(await sweeperCode(network, chain, rpc)),
    ...(await Promise.all([...chain.assets].map(([currency, asset]) => tokenCode(currency, asset, rpc)))).flat(),
  ];
}

async function traced(network: EvmNetwork, hash: string, rpc: Rpc): Promise<Finding> {
  try {
    await rpc('debug_traceBlockByHash', [hash, { tracer: 'callTracer' }], { tries: 1 });
    return good('It traces blocks');
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return warning(
      `It does not trace blocks: ${error.message}`,
      `Offer debug_traceBlockByHash (geth: --http.api eth,net,debug). Without it, ${network.native} that a contract ` +
        'sends is found by the balance of its address, some blocks later: docs/operations/untraced-blocks.md',
    );
  }
}

const codeAt = (address: string, rpc: Rpc): Promise<string> => rpc<string>('eth_getCode', [address, 'latest']);

async function knowsFinality(rpc: Rpc): Promise<Finding> {
  try {
    if (await rpc('eth_getBlockByNumber', ['finalized', false])) return good('It knows which blocks are final');
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
  }
  return fault(
    'It does not know which blocks are final',
    'Wait until it has caught up, or use a node that answers eth_getBlockByNumber for "finalized": until then ' +
      'nothing that leaves is done, and nothing that was swept is credited',
  );
}

async function sweeperCode({ settings: { prefix } }: EvmNetwork, { sweeper }: EvmChain, rpc: Rpc): Promise<Finding[]> {
  if (!sweeper)
    return [
      warning(
        'No sweeper contract is set: tokens are swept one by one, each with a top-up of gas',
        `Run the command deploy-sweeper, and set ${prefix}_SWEEPER_CONTRACT: docs/operations/token-sweeps.md`,
      ),
    ];
  const setting = `${prefix}_SWEEPER_CONTRACT`;
  if ((await codeAt(sweeper, rpc)) === '0x')
    return [fault(`There is no contract at ${setting} ${sweeper}`, 'Deploy it with the command deploy-sweeper')];
  return (await isOfThisRelease(sweeper, rpc))
    ? [good('The sweeper contract is there')]
    : [
        fault(
          `The contract at ${setting} ${sweeper} is not the sweeper of this release: tokens are swept one by one`,
          `Run the command deploy-sweeper, and set ${setting} to what it prints: docs/operations/token-sweeps.md`,
        ),
      ];
}

/** Its address follows from its code and the wallet that it obeys. */
async function isOfThisRelease(sweeper: string, rpc: Rpc): Promise<boolean> {
  const data = encodeFunctionData({ abi: sweeperAbi, functionName: 'operator' });
  try {
    const answer = await rpc<Hex>('eth_call', [{ to: sweeper, data }, 'latest']);
    const operator = decodeFunctionResult({ abi: sweeperAbi, functionName: 'operator', data: answer });
    return faultOfSweeper(sweeper, operator) === null;
  } catch (error) {
    // Without such a function it answers nothing, or an error.
    if (error instanceof RpcError || error instanceof BaseError) return false;
    throw error;
  }
}

async function tokenCode(
  currency: string,
  { contract, decimals }: Readonly<{ contract: string | null; decimals: number }>,
  rpc: Rpc,
): Promise<Finding[]> {
  if (contract === null) return [];
  const fix = 'Correct its address in TOKEN_CONTRACTS; until then it must not be offered';
  if ((await codeAt(contract, rpc)) === '0x') return [fault(`There is no ${currency} at ${contract}`, fix)];
  try {
    const its = await decimalsAt(contract, rpc);
    return its === decimals
      ? [good(`${currency} is there with ${decimals} decimals`)]
      : [fault(`What is at ${contract} has ${its} decimals, ${currency} has ${decimals}`, fix)];
  } catch (error) {
    if (error instanceof DomainError) throw error;
    return [fault(`What is at ${contract} is no token: ${(error as Error).message.split('\n')[0]}`, fix)];
  }
}
