import { evmNetworks, expiringNetworks, type NetworkId } from '../../domain/chains/assets';

/** Networks that a sandbox has when it is asked for them. */
export const optionalNetworks = [
  'litecoin',
  'polygon',
  'base',
  'optimism',
  'arbitrum',
  'bnb',
  'xrpl',
  'tron',
] as const satisfies readonly NetworkId[];
export type OptionalNetwork = (typeof optionalNetworks)[number];
export const usualNetworks: readonly NetworkId[] = ['bitcoin', 'ethereum'];

/** The chains that a sandbox has. */
export const localChains: Readonly<Record<string, string>> = {
  ...{ BTC_NETWORK: 'regtest', LTC_NETWORK: 'regtest' },
  ...Object.fromEntries(
    evmNetworks().map(({ settings, localChainIds: [id] }) => [`${settings.prefix}_CHAIN_ID`, String(id)]),
  ),
  ...Object.fromEntries(expiringNetworks().map(({ settings }) => [`${settings.prefix}_NETWORK`, 'simulator'])),
};
