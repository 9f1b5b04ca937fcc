import { encodeDeployData, getAddress, getCreate2Address, parseAbi, type Hex } from 'viem';
import { delegateCode, sweeperCode } from './sweeper-code';

/** The contract that sweeps the tokens of many addresses, and where it and its delegates are: each address follows from
 *  the code and from what it obeys, so that code at it is the right code, whoever deployed it. */

export const sweeperAbi = parseAbi([
  'struct Item { address account; uint256 amount; uint256 rest; }',
  'constructor(address operator)',
  'function operator() view returns (address)',
  'function sweep(address token, address destination, address restDestination, Item[] items)',
  'function delegateOf(address destination, address restDestination) view returns (address)',
]);
const delegateAbi = parseAbi(['constructor(address destination, address restDestination)']);

/** Makes contracts at addresses that follow from their code; it is on every chain of Ethereum, and obeys everybody. */
export const factory: Hex = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const salt: Hex = `0x${'0'.repeat(64)}`;

/** Where the sweeper that obeys `gasWallet` is, or will be, and what is to be sent to the factory. */
export function sweeperOf(gasWallet: string): Readonly<{ address: Hex; data: Hex }> {
  const bytecode = encodeDeployData({ abi: sweeperAbi, bytecode: sweeperCode, args: [gasWallet as Hex] });
  return { address: getCreate2Address({ from: factory, salt, bytecode }), data: `${salt}${bytecode.slice(2)}` };
}

/** Where the code is, or will be, that lets `sweeper` move tokens to `to` and `restTo`, and nowhere else. */
export function delegateOf(sweeper: Hex, to: Hex, restTo: Hex): Hex {
  const bytecode = encodeDeployData({ abi: delegateAbi, bytecode: delegateCode, args: [to, restTo] });
  return getCreate2Address({ from: sweeper, salt, bytecode });
}

/** Why a contract cannot sweep for a gas wallet: it is not this code's, or obeys another wallet; null where it can. */
export function faultOfSweeper(contract: string, gasWallet: string): string | null {
  const own = sweeperOf(gasWallet).address;
  if (getAddress(contract) === own) return null;
  return `the contract at ${getAddress(contract)} is not this release's sweeper of ${gasWallet}, which is at ${own}`;
}
