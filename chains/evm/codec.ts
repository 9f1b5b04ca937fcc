import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { pointCompress, signRecoverable } from 'tiny-secp256k1';
import {
  bytesToHex,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  keccak256,
  parseTransaction,
  serializeTransaction,
  toHex,
  type Hex,
} from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { hashAuthorization } from 'viem/utils';
import type { Currency, EvmNetwork } from '../../domain/chains/assets';
import {
  keyRoles,
  type ChainCodec,
  type KeyPath,
  type SignedTransaction,
  type TransactionPlan,
  type Seeds,
} from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { toUnits } from '../../domain/money';
import { branchedChildren, keyPairs, nameOf, type KeyPair } from '../child-key';
import { delegateOf, faultOfSweeper, sweeperAbi } from './sweeper';

type AccountPlan = Extract<TransactionPlan, { kind: 'account' }>;
type Batch = NonNullable<AccountPlan['batch']>;
const zero: Hex = '0x0000000000000000000000000000000000000000';

/** RFC 6979 with low s, by libsecp256k1: the same bytes as any other that does so, several times faster than
 *  JavaScript. */
export function signatureOf(key: Uint8Array, digest: Hex): { r: Hex; s: Hex; yParity: number } {
  const { signature, recoveryId } = signRecoverable(hex.decode(digest.slice(2)), key);
  return { r: toHex(signature.slice(0, 32)), s: toHex(signature.slice(32)), yParity: recoveryId };
}

/** One chain of the family: what tells it from the others. */
export type EvmChain = Readonly<{
  chainId: number;
  /** Our contract that moves the tokens of many addresses at once; absent: there is none. */
  sweeper?: string;
  /** Its assets by ticker, with the contract of each on this chain; null: the native coin. */
  assets: ReadonlyMap<Currency, Readonly<{ decimals: number; contract: string | null }>>;
}>;

/** An asset of the chain. Throws INTENT_MISMATCH where it is of another. */
export function assetIn(chain: EvmChain, currency: Currency): Readonly<{ decimals: number; contract: string | null }> {
  const asset = chain.assets.get(currency);
  if (!asset) throw new DomainError('INTENT_MISMATCH', `${currency} is no asset of chain ${chain.chainId}`);
  return asset;
}

/** Our contract, and the code that accounts delegate to so that it can move their tokens to `to` and `restTo`. Throws
 *  INTENT_MISMATCH where the contract does not sweep for `operator`. */
function sweeperFor(
  network: EvmNetwork,
  chain: EvmChain,
  { operator, to, restTo }: Readonly<{ operator: string; to: Hex; restTo: Hex }>,
): { sweeper: Hex; delegate: Hex } {
  if (!chain.sweeper) throw new DomainError('INTENT_MISMATCH', `No sweeper contract is configured for ${network.name}`);
  const fault = faultOfSweeper(chain.sweeper, operator);
  if (fault !== null) throw new DomainError('INTENT_MISMATCH', fault);
  const sweeper = getAddress(chain.sweeper);
  return { sweeper, delegate: delegateOf(sweeper, to, restTo) };
}

/** The private key of a path, which must be that of the address. Throws KEY_MISMATCH. */
type KeyOf = (path: KeyPath, address: string) => Uint8Array;

/** One call that moves the tokens of many, with their delegations. */
function batchOf(network: EvmNetwork, chain: EvmChain, keyOf: KeyOf, { from, batch }: { from: string; batch: Batch }) {
  const contract = assetIn(chain, batch.currency).contract;
  if (!contract) throw new DomainError('INTENT_MISMATCH', `${batch.currency} is no token`);
  const [to, restTo] = [batch.to as Hex, (batch.restTo ?? zero) as Hex];
  const { sweeper, delegate } = sweeperFor(network, chain, { operator: from, to, restTo });
  const authorizationList = batch.accounts.map(({ address, key, nonce }) => {
    const authorization = { chainId: chain.chainId, address: delegate, nonce };
    return { ...authorization, ...signatureOf(keyOf(key, address), hashAuthorization(authorization)) };
  });
  const items = batch.accounts
    .filter((one) => one.units > 0n)
    .map(({ address, units, restUnits = 0n }) => {
      if (restUnits > units || (restUnits > 0n && !batch.restTo))
        throw new DomainError('INTENT_MISMATCH', `${restUnits} of the ${units} of ${address} has no destination`);
      return { account: address as Hex, amount: units - restUnits, rest: restUnits };
    });
  const args = [getAddress(contract), to, restTo, items] as const;
  const data = encodeFunctionData({ abi: sweeperAbi, functionName: 'sweep', args });
  return { to: sweeper, value: 0n, data, authorizationList };
}

/** What a plan calls: the token's contract with a transfer, or the recipient with the value alone. */
function callOf(chain: EvmChain, plan: AccountPlan): { to: Hex; value: bigint; data?: Hex } {
  if (!plan.token) return { to: plan.to as Hex, value: plan.value };
  const { currency, to, units } = plan.token;
  const contract = assetIn(chain, currency).contract;
  if (!contract || plan.value !== 0n)
    throw new DomainError('INTENT_MISMATCH', `${currency} is not moved by a plain transfer of its contract`);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] });
  return { to: getAddress(contract), value: 0n, data };
}

/** Contracts of tokens, and our own sweeper, in lower case: what is sent to them is lost. */
const contractsOf = (chain: EvmChain): ReadonlySet<string> =>
  new Set(
    [chain.sweeper, ...[...chain.assets.values()].map(({ contract }) => contract)].flatMap(
      (contract) => contract?.toLowerCase() ?? [],
    ),
  );

/** EIP-1559 transfers under BIP 44: `m/44'/coin'/role'/branch/index`. Addresses are kept with their EIP-55 checksum. */
export function evmCodec(network: EvmNetwork, chain: EvmChain): ChainCodec {
  const contracts = contractsOf(chain);
  const childOf = branchedChildren('uncompressed');
  /** `publicKey`: uncompressed. */
  const addressOf = (publicKey: Uint8Array): string => publicKeyToAddress(bytesToHex(publicKey));
  const account = (seed: Uint8Array, role: KeyPath['role']): HDKey =>
    HDKey.fromMasterSeed(seed).derive(`m/44'/${network.coinType}'/${keyRoles.indexOf(role)}'`);

  function normalise(address: string): string | null {
    if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return null;
    const checked = getAddress(address);
    const isMixed = /[a-f]/.test(address.slice(2)) && /[A-F]/.test(address.slice(2));
    if ((isMixed && checked !== address) || checked === zero || contracts.has(address.toLowerCase())) return null;
    return checked;
  }

  const pairOf = keyPairs(account);
  const addresses = new WeakMap<KeyPair, string>();

  /** Private keys by path, checked against their addresses. */
  const keysOf =
    (seeds: Seeds): KeyOf =>
    (path, address) => {
      const pair = pairOf(seeds, path);
      const own = addresses.get(pair) ?? addressOf(pointCompress(pair.publicKey, false));
      addresses.set(pair, own);
      if (own !== address) throw new DomainError('KEY_MISMATCH', `Key ${nameOf(path)} is not of ${address}`);
      return pair.privateKey;
    };

  return {
    network: network.id,
    derive: (xpub, index, branch = 0) => addressOf(childOf(xpub, branch, index)),
    normalise,
    refusalOf: () => null,
    extendedKey: (seed, role) => account(seed, role).publicExtendedKey,
    sign(seeds, plan): SignedTransaction {
      if (plan.kind !== 'account')
        throw new DomainError('INTENT_MISMATCH', `A transaction of ${network.name} spends no coins`);
      if (plan.tag !== undefined)
        throw new DomainError('INTENT_MISMATCH', `A transaction of ${network.name} has no destination tag`);
      const keyOf = keysOf(seeds);
      const key = keyOf(plan.key, plan.from);
      const common = {
        chainId: chain.chainId,
        nonce: plan.nonce,
        gas: plan.gasLimit,
        maxFeePerGas: plan.maxFeePerGas,
        maxPriorityFeePerGas: plan.maxPriorityFeePerGas,
      };
      const transaction = plan.batch
        ? {
            ...common,
            type: 'eip7702' as const,
            ...batchOf(network, chain, keyOf, { from: plan.from, batch: plan.batch }),
          }
        : { ...common, type: 'eip1559' as const, ...callOf(chain, plan) };
      const raw = serializeTransaction(transaction, signatureOf(key, keccak256(serializeTransaction(transaction))));
      return { txId: keccak256(raw), raw };
    },
    ...(chain.sweeper ? { sweeperFault: (gasWallet: string) => faultOfSweeper(chain.sweeper!, gasWallet) } : {}),
    sizeOf: ({ currency }) => (assetIn(chain, currency).contract === null ? network.work.native : network.work.token),
    paymentUri(address, currency, amount, _names, tag) {
      if (tag !== undefined) throw new DomainError('INTENT_MISMATCH', `${network.name} has no destination tags`);
      const { decimals, contract } = assetIn(chain, currency);
      const units = toUnits(amount, decimals);
      return contract
        ? `${network.uriScheme}:${getAddress(contract)}@${chain.chainId}/transfer?address=${address}&uint256=${units}`
        : `${network.uriScheme}:${address}@${chain.chainId}?value=${units}`;
    },
    decode(raw) {
      const tx = parseTransaction(raw as Hex);
      return { txId: keccak256(raw as Hex), inputs: [], nonce: tx.nonce ?? 0 };
    },
  };
}
