import { evmNetworks, expiringNetworks, networks, utxoNetworks, type NetworkId } from '../../domain/chains/assets';

export const usualNetworks = ['bitcoin', 'ethereum'] as const satisfies readonly NetworkId[];
export type OptionalNetwork = Exclude<NetworkId, (typeof usualNetworks)[number]>;

/** Networks that a sandbox has when it is asked for them: all others of the registry, in its order. */
export const optionalNetworks = (Object.keys(networks) as NetworkId[]).filter((id): id is OptionalNetwork =>
  usualNetworks.every((usual) => usual !== id),
);

/** The chains that a sandbox has. */
export const localChains: Readonly<Record<string, string>> = {
  ...Object.fromEntries(utxoNetworks().map(({ settings }) => [`${settings.prefix}_NETWORK`, 'regtest'])),
  ...Object.fromEntries(
    evmNetworks().map(({ settings, localChainIds: [id] }) => [`${settings.prefix}_CHAIN_ID`, String(id)]),
  ),
  ...Object.fromEntries(expiringNetworks().map(({ settings }) => [`${settings.prefix}_NETWORK`, 'simulator'])),
};
