import { secp256k1 } from '@noble/curves/secp256k1.js';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mnemonicToSeedSync } from '@scure/bip39';
import { getAddress, keccak256, type Hex } from 'viem';
import { adapterOf } from '../../chains/adapters';
import { createCodec, registered, type Registered } from '../../chains/codecs';
import {
  contractOf,
  assetsOn,
  networks,
  type ChainSettings,
  type EvmNetwork,
  type NetworkId,
} from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { toUnits } from '../../domain/money';
import { mineEthereum, reorgEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import { freePort } from '../../sandbox/ports';
import { deployTokens, placeOracle } from '../../sandbox/tokens';
import type { Fixture } from './contract';

/** What the contract of chains is held to on an EVM network: a node with its chain id, a token, and an account that
 *  pays. `settingsOf`: the deployment's settings, with the token where it is. */
export async function evmFixture(
  network: Registered,
  chainId: number,
  settingsOf: (token: string) => ChainSettings,
): Promise<{ fixture: Fixture; token: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), `crypto-payments-${network.network.id}-`));
  chmodSync(dataDir, 0o711);
  const anvil = await startAnvil({ dataDir, port: await freePort(), chainId });
  const { url } = anvil;
  const { network: entry } = network;
  if (entry.kind === 'account' && entry.dataFee) await placeOracle(url, entry.dataFee.oracle);
  const token = (await deployTokens(url)).USDT_ERC20!;
  const settings = settingsOf(token);
  const at = (there: string) => adapterOf(network, settings, { url: there });
  const [payer] = await call<Hex[]>(url, 'eth_accounts', []);
  const send = (transaction: object): Promise<string> =>
    call(url, 'eth_sendTransaction', [{ from: payer, ...transaction }]);
  const fixture: Fixture = {
    adapter: at(url),
    url,
    at,
    addressOf: (publicKey) =>
      getAddress(`0x${keccak256(secp256k1.Point.fromBytes(publicKey).toBytes(false).slice(1)).slice(-40)}`),
    respell: (address) => [address.toLowerCase()],
    notAddresses: [
      ...[`0x${'0'.repeat(40)}`, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
      ...(network.assets.some(({ contract }) => contract !== null) ? [token, token.toLowerCase()] : []),
    ],
    pay: (currency, to, amount) => {
      if (currency === network.network.native) return send({ to, value: `0x${toUnits(amount, 18).toString(16)}` });
      const word = (value: bigint): string => value.toString(16).padStart(64, '0');
      return send({ to: token, data: `0xa9059cbb${word(BigInt(to))}${word(toUnits(amount, 6))}` });
    },
    payer: () => getAddress(payer!),
    mine: (blocks) => mineEthereum(url, blocks),
    reorg: (depth) => reorgEthereum(url, depth),
    unknownId: `0x${randomBytes(32).toString('hex')}`,
    async stop() {
      await anvil.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return { fixture, token };
}

/** An EVM network of the registry. */
export function evmNetwork(id: NetworkId): EvmNetwork {
  const network = networks[id];
  if (network.kind !== 'account' || network.expiring) throw new Error(`${id} is no EVM network`);
  return network;
}

/** The same for a network of the registry, on its local chain, with every token of it. */
export async function siblingFixture(id: NetworkId): Promise<Fixture> {
  const [chainId] = evmNetwork(id).localChainIds;
  const { fixture } = await evmFixture(registered(id), chainId!, (token) => ({
    chainNames: {},
    chainIds: { [id]: chainId! },
    tokenContracts: Object.fromEntries(
      assetsOn([id]).flatMap(({ contract, currency }) => (contract ? [[currency, token]] : [])),
    ),
    sweepers: {},
  }));
  return fixture;
}

/** What networks with the addresses of Ethereum have to themselves: the chain id, their tokens, their sweeper. */
export function sibling(id: NetworkId): void {
  const { name, native, chainId, settings } = evmNetwork(id);
  const sweeper = `0x${'ab'.repeat(20)}`;
  const { chain } = parseConfig({ [`${settings.prefix}_SWEEPER_CONTRACT`]: sweeper });
  // https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki, first vector of many wallets' tests.
  const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);

  describe(name, () => {
    it('has the addresses of Ethereum, and payment URIs with its own chain id', () => {
      const [own, ethereum] = [createCodec(id, chain), createCodec('ethereum', chain)];
      const address = own.derive(own.extendedKey(seed, 'deposit'), 0);
      expect(address).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
      expect(address).toBe(ethereum.derive(ethereum.extendedKey(seed, 'deposit'), 0));
      expect(own.paymentUri(address, native, '1.5')).toBe(`ethereum:${address}@${chainId}?value=1500000000000000000`);
      for (const { currency, contract } of assetsOn([id]).filter((one) => one.contract !== null))
        expect(own.paymentUri(address, currency, '1.5')).toBe(
          `ethereum:${contract}@${chainId}/transfer?address=${address}&uint256=1500000`,
        );
    });

    it('has tokens whose contracts are spelled right, and a sweeper of its own', () => {
      for (const asset of assetsOn([id]).filter(({ contract }) => contract !== null))
        expect(contractOf(asset, chain)).toBe(getAddress(asset.contract!));
      expect(chain.sweepers).toEqual({ [id]: sweeper });
    });
  });
}
