import { readFileSync } from 'node:fs';
import type { Hex } from 'viem';
import { deploySweeper, DeploymentError } from '../chains/evm/deploy-sweeper';
import { factory } from '../chains/evm/sweeper';
import { jsonRpc } from '../chains/json-rpc';
import { createDataSource } from '../db/data-source';
import { ownAddress } from '../db/treasury/treasury';
import { evmNetworks, networks, type NetworkId } from '../domain/chains/assets';
import { ConfigError, loginOf, parseConfig, type Config } from '../domain/config';
import { DomainError } from '../domain/errors';

/** `node dist/workers/deploy-sweeper.js [--network <name>] [--key-file <path>]`: deploys the contract that sweeps
 *  tokens on a network, ethereum unless told, or tells where it is. See docs/operations/token-sweeps.md. */

/** What to print. `key`: of whoever pays for the deployment. */
async function deployment(config: Config, network: NetworkId, key?: Hex): Promise<string> {
  const db = createDataSource(config.DATABASE_URL, { pool: 1, name: 'deploy-sweeper' });
  await db.initialize();
  try {
    const { prefix } = networks[network].settings;
    const gasWallet = await ownAddress(db.manager, network, 'gas');
    const { url, user, password } = loginOf(network, config);
    const chainId = config.chain.chainIds[network]!;
    const { address, state, data } = await deploySweeper(jsonRpc(url, user, password), { gasWallet, chainId, key });
    if (state === 'unsent')
      return [
        `The sweeper of the gas wallet ${gasWallet} is not deployed.`,
        `Send this from any wallet on chain ${chainId} and run this again; or name a file with the private key of an`,
        'account that pays: --key-file <path>.',
        `  to     ${factory}`,
        '  value  0',
        `  data   ${data}`,
      ].join('\n');
    return [
      `The sweeper of the gas wallet ${gasWallet} is ${state === 'there' ? 'there already' : 'deployed'}.`,
      'Set this for the payments workers and the signers, and restart them:',
      `  ${prefix}_SWEEPER_CONTRACT=${address}`,
    ].join('\n');
  } finally {
    await db.destroy();
  }
}

/** The private key in a file: 64 hex digits. */
export function keyIn(path: string): Hex {
  const text = readFileSync(path, 'utf8').trim().replace(/^0x/, '');
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new DeploymentError(`${path} holds no private key of 64 hex digits`);
  return `0x${text}`;
}

/** An EVM network that is on, by its name. Throws DeploymentError. */
function evmNetworkOf(name: string, { networks: on }: Pick<Config, 'networks'>): NetworkId {
  const found = evmNetworks().find(({ id }) => id === name && on.includes(id));
  if (!found) throw new DeploymentError(`'${name}' is no EVM network that is on (NETWORKS)`);
  return found.id;
}

/** The value of an option of the command line. */
const optionOf = (args: readonly string[], name: string): string | undefined =>
  args.includes(name) ? args[args.indexOf(name) + 1] : undefined;

/** The same as the options of a command line ask. */
export function deploymentAsked(config: Config, args: readonly string[]): Promise<string> {
  const keyFile = optionOf(args, '--key-file');
  const network = evmNetworkOf(optionOf(args, '--network') ?? 'ethereum', config);
  return deployment(config, network, keyFile === undefined ? undefined : keyIn(keyFile));
}

if (require.main === module) {
  const run = async (): Promise<string> => {
    const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'chain');
    return deploymentAsked(config, process.argv);
  };
  run().then(
    (text) => {
      console.log(text);
      process.exit(0);
    },
    (error: unknown) => {
      const isKnown = [ConfigError, DeploymentError, DomainError].some((kind) => error instanceof kind);
      console.error(isKnown ? (error as Error).message : error);
      process.exit(1);
    },
  );
}
