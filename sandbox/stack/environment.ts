import { assets, networks as networksById, type NetworkId } from '../../domain/chains/assets';
import type { LightningParts } from '../parts/lightning';
import { pricesOf } from '../prices';
import { noLightningCap } from './lightning';
import { swapKey, type Helpers } from './helpers';
import { localChains } from './networks';
import type { Parts, Place } from './parts';

type Variables = Readonly<Record<string, string>>;

/** What the environment of the services is made of. `contracts`: variables of the contracts that were deployed;
 *  `given`: what goes over all others. */
type Sources = Readonly<{
  place: Place;
  parts: Parts;
  helpers: Helpers;
  lightning: LightningParts | null;
  networks: readonly NetworkId[];
  tokens: Variables;
  contracts: Variables;
  given: Variables;
}>;

/** What all services are started with. `between` of the options may add to it later. */
export function environmentOf(sources: Sources): Record<string, string> {
  const { place, parts, helpers, lightning, networks, given } = sources;
  const { dataDir, ports, secrets } = place;
  const { swap } = helpers;
  return {
    NODE_ENV: 'sandbox',
    DATABASE_URL: parts.postgres.url,
    TEMPORAL_ADDRESS: parts.temporal.url,
    TEMPORAL_UI_URL: parts.temporal.uiUrl,
    SECRETS_KEY: secrets.secretsKey,
    API_URL: given.API_URL ?? `http://127.0.0.1:${ports.api}`,
    CHECKOUT_URL: given.CHECKOUT_URL ?? `http://127.0.0.1:${ports.checkout}`,
    // A name, not an address: passkeys belong to a name.
    DASHBOARD_URL: `${given.API_URL ?? `http://localhost:${ports.api}`}/dashboard`,
    ...nodeVariables(sources),
    POLL_INTERVAL_MS: '250',
    RATE_SOURCE: 'file',
    RATE_FILE: pricesOf(dataDir, networks),
    SMTP_URL: parts.mail.smtpUrl,
    ...(swap ? { SWAP_PROVIDER: 'changenow', SWAP_API_URL: swap.url, SWAP_API_KEY: swapKey } : {}),
    ALLOW_INSECURE_CALLBACKS: 'true',
    APPROVAL_COOLING_OFF_HOURS: '0',
    SIGNER_DAILY_CAPS: [...noCaps(networks), ...(lightning ? [noLightningCap] : [])].join(','),
    ...lightning?.settings,
    ...given,
  };
}

/** Coins of local chains are worth nothing, and every destination of a sandbox is new. A release that knows fewer
 *  networks is not told of their coins. */
const noCaps = (networks: readonly NetworkId[]): string[] =>
  assets.filter(({ network }) => networks.includes(network)).map(({ currency }) => `${currency}=1000000000`);

const variableOf = (id: NetworkId, what: 'URL' | 'USER' | 'PASSWORD'): string =>
  `${networksById[id].settings.prefix}_RPC_${what}`;

/** Where the nodes are, and what is on their chains. */
const nodeVariables = ({ parts, networks, tokens, contracts }: Sources): Variables => {
  const { btcd, coinNodes, anvil, evmNodes, simulators } = parts;
  return {
    BTC_RPC_URL: btcd.url,
    BTC_RPC_USER: btcd.user,
    BTC_RPC_PASSWORD: btcd.password,
    NETWORKS: networks.join(','),
    ...localChains,
    ETH_RPC_URL: anvil.url,
    TOKEN_CONTRACTS: JSON.stringify(tokens),
    ...contracts,
    ...Object.fromEntries(
      [...coinNodes, ...evmNodes, ...simulators].map(([id, { url }]) => [variableOf(id, 'URL'), url]),
    ),
    ...Object.fromEntries(
      [...coinNodes].flatMap(([id, { user, password }]) => [
        [variableOf(id, 'USER'), user],
        [variableOf(id, 'PASSWORD'), password],
      ]),
    ),
    SIGNER_NODES: JSON.stringify(Object.fromEntries([...simulators].map(([id, { url }]) => [id, url]))),
  };
};
