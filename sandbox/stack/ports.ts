import { networks, type Network, type NetworkId } from '../../domain/chains/assets';
import type { ServicePorts } from '../parts/temporal-on-postgres/settings';
import { freePort } from '../ports';

/** One for each network. */
const ofNetworks = <T>(of: (network: Network) => T): Readonly<Record<NetworkId, T>> =>
  Object.fromEntries(Object.values(networks).map((network) => [network.id, of(network)])) as Record<NetworkId, T>;

export const fixedPorts = {
  postgres: 54320,
  temporal: 7233,
  temporalUi: 8233,
  // Between the services of a Temporal on PostgreSQL: calls, and who is a member of the cluster.
  ...{ temporalHistory: 7234, temporalMatching: 7235, temporalWorker: 7239 },
  ...{ temporalFrontendMember: 6933, temporalHistoryMember: 6934 },
  ...{ temporalMatchingMember: 6935, temporalWorkerMember: 6939 },
  // Where the registry says that a node of one machine listens.
  ...ofNetworks(({ settings }) => Number(new URL(settings.url).port)),
  lightning: 8180,
  smtp: 1025,
  mail: 8025,
  swap: 8040,
  simulator: 8050,
  api: 3000,
  checkout: 3001,
  shop: 3003,
  metrics: 9100,
} as const;
export type Ports = Readonly<Record<keyof typeof fixedPorts, number>>;

/** What listens at a port, in words, and the variable that sets the port. */
export type PortVariable = readonly [what: string, variable: string];
export const nodePortVariables = ofNetworks(({ name, expiring, settings }): PortVariable => [
  expiring ? `simulator of ${name}` : `${name} node`,
  `${settings.prefix}_RPC_PORT`,
]);

export async function freePorts(): Promise<Ports> {
  const ports: Partial<Record<keyof Ports, number>> = {};
  for (const name of Object.keys(fixedPorts) as Array<keyof Ports>) ports[name] = await freePort();
  return ports as Ports;
}

/** Those of the services of a Temporal on PostgreSQL; clients call the frontend, as they call a development server. */
export const temporalPorts = (ports: Ports): ServicePorts => ({
  frontend: { grpcPort: ports.temporal, membershipPort: ports.temporalFrontendMember },
  history: { grpcPort: ports.temporalHistory, membershipPort: ports.temporalHistoryMember },
  matching: { grpcPort: ports.temporalMatching, membershipPort: ports.temporalMatchingMember },
  worker: { grpcPort: ports.temporalWorker, membershipPort: ports.temporalWorkerMember },
});
