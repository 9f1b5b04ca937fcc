import { secp256k1 } from '@noble/curves/secp256k1.js';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAddress, keccak256, type Hex } from 'viem';
import { adapterOf } from '../../chains/adapters';
import type { Registered } from '../../chains/codecs';
import type { ChainSettings } from '../../domain/chains/assets';
import { toUnits } from '../../domain/money';
import { mineEthereum, reorgEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import { freePort } from '../../sandbox/ports';
import { deployTokens } from '../../sandbox/tokens';
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
    notAddresses: [`0x${'0'.repeat(40)}`, token, token.toLowerCase(), 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
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
