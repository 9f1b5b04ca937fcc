import { mnemonicToSeedSync } from '@scure/bip39';
import { readFileSync } from 'node:fs';
import { createCodec } from '../chains/codecs';
import { networks, type NetworkId } from '../domain/chains/assets';
import type { Part } from './parts/part';
import { signerSeedFile } from './secrets';
import { deployedOnce } from './token-contracts';
import { deploySweeper, deployTokens, placeOracle } from './tokens';

/** Tokens, sweepers and prices of data on the local EVM chains, deployed once. `settings`: what the services are told
 *  of the sweepers. */
export async function deployContracts(
  dataDir: string,
  nodes: ReadonlyMap<NetworkId, Pick<Part, 'url'>>,
): Promise<{ tokens: Readonly<Record<string, string>>; settings: Readonly<Record<string, string>> }> {
  const tokens: Record<string, string> = {};
  const settings: Record<string, string> = {};
  const gasWallet = gasWalletOf(dataDir);
  for (const [id, { url }] of nodes) {
    const network = networks[id];
    if (network.kind === 'account' && network.dataFee) await placeOracle(url, network.dataFee.oracle);
    const file = id === 'ethereum' ? 'tokens.json' : `tokens-${id}.json`;
    Object.assign(tokens, await deployedOnce(dataDir, file, url, (at) => deployTokens(at, id)));
    settings[`${network.settings.prefix}_SWEEPER_CONTRACT`] = await deploySweeper(url, gasWallet);
  }
  return { tokens, settings };
}

/** The address that pays gas: the only one that the sweeper obeys. */
function gasWalletOf(dataDir: string): string {
  const codec = createCodec('ethereum', {
    chainNames: {},
    chainIds: { ethereum: 31337 },
    tokenContracts: {},
    sweepers: {},
  });
  const seed = mnemonicToSeedSync(readFileSync(signerSeedFile(dataDir), 'utf8').trim());
  return codec.derive(codec.extendedKey(seed, 'gas'), 0);
}
