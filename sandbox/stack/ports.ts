import type { ServicePorts } from '../parts/temporal-on-postgres/settings';
import { freePort } from '../ports';

export const fixedPorts = {
  postgres: 54320,
  temporal: 7233,
  temporalUi: 8233,
  // Between the services of a Temporal on PostgreSQL: calls, and who is a member of the cluster.
  ...{ temporalHistory: 7234, temporalMatching: 7235, temporalWorker: 7239 },
  ...{ temporalFrontendMember: 6933, temporalHistoryMember: 6934 },
  ...{ temporalMatchingMember: 6935, temporalWorkerMember: 6939 },
  ethereum: 8545,
  bitcoin: 18334,
  lightning: 8180,
  litecoin: 19443,
  polygon: 8547,
  base: 8548,
  optimism: 8549,
  arbitrum: 8550,
  bnb: 8551,
  xrpl: 5005,
  tron: 8090,
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
