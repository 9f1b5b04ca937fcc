/** What the server of Temporal is configured with. Written as JSON, which is YAML too. */

export const databases = { default: 'temporal', visibility: 'temporal_visibility' } as const;
export const role = 'cp_temporal';

/** For good: a history belongs to a shard by the number of its workflow modulo this. One process serves them all; a
 *  cluster that grows has as many as it will ever need from its first day on. */
export const historyShards = 128;

/** Calls and membership of each service, on loopback; `frontend` is the one that clients call. */
export type ServicePorts = Readonly<
  Record<'frontend' | 'history' | 'matching' | 'worker', Readonly<{ grpcPort: number; membershipPort: number }>>
>;

export type PostgresPlace = Readonly<{ host: string; port: string; password: string }>;

/** Connections to one of the two databases. Each of the four services has so many, opened as they are needed. */
const store = (databaseName: string, maxConns: number, { host, port, password }: PostgresPlace): object => ({
  sql: {
    ...{ pluginName: 'postgres12', databaseName, connectProtocol: 'tcp', connectAddr: `${host}:${port}` },
    ...{ user: role, password, maxConns, maxIdleConns: maxConns, maxConnLifetime: '1h' },
  },
});

/** All four services in one process on loopback. `dynamicFile`: path of what `dynamicSettings` gives. */
export function serverSettings(ports: ServicePorts, postgres: PostgresPlace, dynamicFile: string): object {
  const frontend = `127.0.0.1:${ports.frontend.grpcPort}`;
  const cluster = { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: frontend };
  const disabled = { history: { state: 'disabled' }, visibility: { state: 'disabled' } };
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      ...{ defaultStore: 'default', visibilityStore: 'visibility', numHistoryShards: historyShards },
      datastores: {
        default: store(databases.default, 20, postgres),
        visibility: store(databases.visibility, 10, postgres),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' }, pprof: { port: 0 } },
    services: Object.fromEntries(
      Object.entries(ports).map(([name, its]) => [name, { rpc: { ...its, bindOnIP: '127.0.0.1' } }]),
    ),
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: { active: cluster },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: disabled,
    namespaceDefaults: { archival: disabled },
    publicClient: { hostPort: frontend },
    dynamicConfigClient: { filepath: dynamicFile, pollInterval: '60s' },
  };
}

/** What the development server of Temporal CLI 1.5.1 sets beside the defaults: search attributes that are known at
 *  once, and the limits that this needs. Its Nexus endpoint is left out: no workflow of ours uses it. */
export function dynamicSettings(): object {
  const values = {
    'system.forceSearchAttributesCacheRefreshOnRead': true,
    'frontend.persistenceMaxQPS': 10_000,
    'history.persistenceMaxQPS': 45_000,
    'history.hostLevelCacheMaxSize': 8096,
    'frontend.namespaceRPS.visibility': 100,
  };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, [{ value, constraints: {} }]]));
}

/** What Temporal's UI is configured with. */
export const uiSettings = (port: number, frontendPort: number): object => ({
  ...{ host: '127.0.0.1', port, temporalGrpcAddress: `127.0.0.1:${frontendPort}`, enableUi: true },
  ...{ defaultNamespace: 'default', notifyOnNewVersion: false, hideLogs: true },
  cors: { cookieInsecure: true },
});
