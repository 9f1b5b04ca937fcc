import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { DomainError } from '../../domain/errors';
import { evmAddress, hexOf } from './address';
import { amount, fields, list, Misshapen, text } from './answers';
import type { View } from './blocks';
import type { Ask } from './http';

/** What a node says of accounts, contracts and prices. */

/** null: the network has no account of this address, which is `{}`. That it is a contract's is its `type`, which nodes
 *  leave out of all others. Reference: /wallet/getaccount; AccountType, protocol/core/Tron.proto. */
export const readAccount = (
  ask: Ask,
  address: string,
  view: View = 'wallet',
): Promise<Readonly<{ balance: bigint; isContract: boolean }> | null> =>
  ask(`/${view}/getaccount`, { address: hexOf(address) }, (answer) => {
    const account = fields(answer, 'An account');
    if (account.address === undefined) return null;
    return { balance: amount(account.balance, 'balance'), isContract: account.type === 'Contract' };
  });

/** What an account may use without burning. Reference: /wallet/getaccountresource. */
export type Resources = Readonly<{ freeBandwidth: bigint; bandwidth: bigint; energy: bigint }>;

export const readResources = (ask: Ask, address: string): Promise<Resources> =>
  ask('/wallet/getaccountresource', { address: hexOf(address) }, (answer) => {
    const given = fields(answer, 'Resources');
    const left = (limit: string, used: string): bigint => {
      const rest = amount(given[limit], limit) - amount(given[used], used);
      return rest > 0n ? rest : 0n;
    };
    return {
      freeBandwidth: left('freeNetLimit', 'freeNetUsed'),
      bandwidth: left('NetLimit', 'NetUsed'),
      energy: left('EnergyLimit', 'EnergyUsed'),
    };
  });

/** In sun: of a byte and a unit of energy; of the bandwidth that makes an account, and of the account. `freeBandwidth`:
 *  points that every account has a day. Reference: /wallet/getchainparameters. */
export type Prices = Readonly<{
  byte: bigint;
  energy: bigint;
  newAccountBandwidth: bigint;
  newAccount: bigint;
  freeBandwidth: bigint;
}>;

const parameters = {
  byte: 'getTransactionFee',
  energy: 'getEnergyFee',
  newAccountBandwidth: 'getCreateAccountFee',
  newAccount: 'getCreateNewAccountFeeInSystemContract',
  freeBandwidth: 'getFreeNetLimit',
} as const;

export const readPrices = (ask: Ask): Promise<Prices> =>
  ask('/wallet/getchainparameters', {}, (answer) => {
    const given = list(fields(answer, 'Parameters').chainParameter, 'chainParameter').map((one) =>
      fields(one, 'A parameter'),
    );
    const price = (name: string): bigint => {
      const found = given.find(({ key }) => key === name);
      if (found?.value === undefined) throw new Misshapen(`The node has no parameter ${name}`);
      return amount(found.value, name);
    };
    return {
      byte: price(parameters.byte),
      energy: price(parameters.energy),
      newAccountBandwidth: price(parameters.newAccountBandwidth),
      newAccount: price(parameters.newAccount),
      freeBandwidth: price(parameters.freeBandwidth),
    };
  });

/** What a call of a contract gives, without a transaction. `reverts`: it fails; `unclear`: the node could not say.
 *  Reference: /wallet/triggerconstantcontract. */
export type CallAnswer =
  | Readonly<{ state: 'done'; energy: bigint; result: string }>
  | Readonly<{ state: 'reverts' | 'unclear'; reason: string }>;

function callIn(answer: unknown): CallAnswer {
  const given = fields(answer, 'The answer');
  const result = fields(given.result, 'result');
  const message = result.message === undefined ? '' : text(result.message, 'message');
  const reason = [result.code, /^([0-9a-f]{2})+$/i.test(message) ? Buffer.from(message, 'hex').toString() : message]
    .filter(Boolean)
    .join(': ');
  if (result.code !== undefined && result.code !== 'SUCCESS') return { state: 'unclear', reason };
  const [ret] = list(fields(given.transaction ?? {}, 'transaction').ret, 'ret');
  // That a call reverted stands beside the call, and `result` may be true all the same.
  if (result.result !== true || (ret !== undefined && fields(ret, 'ret').ret === 'FAILED'))
    return { state: 'reverts', reason: reason || 'the contract reverts' };
  const [first] = list(given.constant_result, 'constant_result');
  return { state: 'done', energy: amount(given.energy_used, 'energy_used'), result: text(first ?? '', 'a result') };
}

const callContract = (
  ask: Ask,
  call: Readonly<{ from: string; contract: string; data: Hex }>,
  view: View,
): Promise<CallAnswer> =>
  ask(
    `/${view}/triggerconstantcontract`,
    { owner_address: hexOf(call.from), contract_address: hexOf(call.contract), data: call.data.slice(2) },
    callIn,
  );

/** The energy that a transfer of a token would take now. */
export const tryTransfer = (
  ask: Ask,
  { from, contract, to, units }: Readonly<{ from: string; contract: string; to: string; units: bigint }>,
): Promise<CallAnswer> => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [evmAddress(to), units] });
  return callContract(ask, { from, contract, data }, 'wallet');
};

/** What an address holds of a token. Throws NODE_UNREACHABLE where the contract does not say. */
export async function tokenBalance(
  ask: Ask,
  contract: string,
  address: string,
  view: View = 'wallet',
): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [evmAddress(address)] });
  const answer = await callContract(ask, { from: address, contract, data }, view);
  if (answer.state !== 'done' || !/^[0-9a-f]{64}$/i.test(answer.result))
    throw new DomainError('NODE_UNREACHABLE', `The node does not know the balance of ${address} at ${contract}`);
  return BigInt(`0x${answer.result}`);
}
