import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import type { Currency, EvmNetwork } from '../../domain/chains/assets';
import type { BroadcastAnswer, ChainNode, FeeEstimate, GasAnswer } from '../../domain/chains/chain';
import { RpcError, type Rpc } from '../json-rpc';
import { quantity, readBlockBy } from './answers';
import { assetIn, type EvmChain } from './codec';
import { dataPrice } from './data-fee';

/** What sending needs of a node: holdings, prices of gas, whether it would take a call, and the sending itself. */

/** How nodes say that a nonce is used, or that what they have on it stays. */
const takenNonce = /nonce.{0,20}(low|old|used|expired|less than)|old ?nonce|replace(ment|\b)/i;
const lowFee = /less than block base fee|fee cap|below base fee|gas price too low|transaction underpriced/i;

/** The code of an execution that a contract has reverted, and how nodes name the other ways in which one fails. */
const revertCode = 3;
const failsInside =
  /revert|invalid (opcode|jump)|stack (under|over)flow|out ?of ?gas|gas required exceeds|write protection/i;

/** `block`: a quantity, or the name of a block. */
export async function holdingAt(
  rpc: Rpc,
  chain: EvmChain,
  { address, currency, block }: Readonly<{ address: string; currency: Currency; block: string }>,
): Promise<bigint> {
  const contract = assetIn(chain, currency).contract;
  if (!contract) return BigInt(await rpc<string>('eth_getBalance', [address, block]));
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address as Hex] });
  const answer = await rpc<string>('eth_call', [{ to: contract, data }, block]);
  return answer === '0x' ? 0n : BigInt(answer);
}

export async function estimateFee(rpc: Rpc, network: EvmNetwork): Promise<FeeEstimate | null> {
  const leastTip = BigInt(network.leastTip);
  const block = await readBlockBy(rpc, 'latest', false);
  if (block?.baseFeePerGas === undefined) return null;
  const base = BigInt(block.baseFeePerGas);
  const suggested = await rpc<string>('eth_maxPriorityFeePerGas').catch((error: unknown) => {
    if (error instanceof RpcError) return quantity(0); // a node that suggests none gets the least
    throw error;
  });
  const tip = BigInt(suggested) > leastTip ? BigInt(suggested) : leastTip;
  const offered = base * 2n + tip;
  if (!network.dataFee) return { unitPrice: offered.toString(), tipPrice: tip.toString() };
  const dataPart = await dataPrice(rpc, network.dataFee);
  return { unitPrice: (offered + dataPart).toString(), tipPrice: tip.toString(), dataPart: dataPart.toString() };
}

type AskedTransfer = Parameters<ChainNode['estimateGas']>[0];
type Holding = (address: string, currency: Currency) => Promise<bigint>;

/** Asks what transfers take. Who asks for a holding while it is asked for shares the answer: many lines of a mass
 *  payout leave one address. */
export function gasEstimator(rpc: Rpc, chain: EvmChain): ChainNode['estimateGas'] {
  const asked = new Map<string, Promise<bigint>>();
  const heldNow: Holding = (address, currency) => {
    const name = `${currency} ${address}`;
    const ask = (): Promise<bigint> =>
      holdingAt(rpc, chain, { address, currency, block: 'latest' }).finally(() => asked.delete(name));
    const answer = asked.get(name) ?? ask();
    asked.set(name, answer);
    return answer;
  };
  return (transfer) => estimateGas(rpc, chain, transfer, heldNow);
}

async function estimateGas(
  rpc: Rpc,
  chain: EvmChain,
  { from, to, currency, units, ceiling }: AskedTransfer,
  heldNow: Holding,
): Promise<GasAnswer> {
  const contract = assetIn(chain, currency).contract;
  const held = await heldNow(from, currency);
  if (held < units) return { state: 'short', reason: `${from} holds ${held} of ${units}` };
  const call = contract
    ? {
        to: contract,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] }),
      }
    : { to, value: `0x${units.toString(16)}` };
  try {
    const gas = BigInt(await rpc<string>('eth_estimateGas', [{ from, gas: `0x${ceiling.toString(16)}`, ...call }]));
    if (gas <= ceiling) return { state: 'done', gas };
    return { state: 'reverts', reason: `it takes ${gas} gas` };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message: reason } = error;
    return { state: code === revertCode || failsInside.test(reason) ? 'reverts' : 'unclear', reason };
  }
}

export async function broadcast(rpc: Rpc, raw: string): Promise<BroadcastAnswer> {
  try {
    await rpc<string>('eth_sendRawTransaction', [raw]);
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const reason = error.message;
    if (/already (known|imported)|known transaction|already exists/i.test(reason)) return { outcome: 'known' };
    if (/insufficient funds/i.test(reason)) return { outcome: 'refused', why: 'funds', reason };
    if (lowFee.test(reason) && !/replacement/i.test(reason)) return { outcome: 'refused', why: 'fee', reason };
    if (takenNonce.test(reason)) return { outcome: 'conflict', reason };
    return { outcome: 'refused', why: 'other', reason };
  }
}
