import type { NetworkId } from '../../domain/chains/assets';
import type { LightningParts } from '../parts/lightning';
import type { CoinNode } from '../parts/litecoind';
import type { Part } from '../parts/part';
import type { Secrets } from '../secrets';
import type { Copies, Role } from '../services';
import type { TemporalStore } from '../temporal-store';
import type { OptionalNetwork } from './networks';
import type { Ports } from './ports';

/** What a stack is asked for, and what it is. */

export type StackOptions = Readonly<{
  /** Everything that lasts is below it. A second stack on it goes on where the first one ended. */
  dataDir: string;
  ports: 'free' | Ports;
  /** Copies per role; false: the parts alone, the database migrated. One of each unless told. */
  services?: false | Partial<Copies>;
  /** Over what the stack would set itself. DATABASE_URL and TEMPORAL_ADDRESS given: that part is not started. */
  env?: Readonly<Record<string, string>>;
  /** Asked before the services start, when all parts run: more of `env`, say the address of a node's proxy. */
  between?: (stack: Stack) => Promise<Readonly<Record<string, string>>>;
  /** Starts a service again this long after it ended by itself; never unless told. */
  restartAfterMs?: number;
  /** Where Temporal keeps its workflows; `postgres` is the stack's own. What SANDBOX_TEMPORAL says unless told. */
  temporalStore?: TemporalStore;
  /** Temporal's log is written ahead, and not waited for: three times the workflows a second. What is acknowledged
   *  outlives a killed process, not a power cut: of the whole PostgreSQL where that has its workflows. False unless
   *  told. */
  isHasty?: boolean;
  /** Networks beside those that every sandbox has. None unless told. */
  networks?: readonly OptionalNetwork[];
  /** Starts a Lightning node of the service and one of a payer, and offers payments and withdrawals by it. False unless
   *  told. */
  lightning?: boolean;
  /** Starts a swap provider, and tells the services of it. False unless told. */
  swap?: boolean;
  /** The database that `env` names has the newest schema. False unless told. */
  isMigrated?: boolean;
  /** The folder of the release whose build the services run and the database is made by; our own unless told. */
  release?: string;
  /** Archives the WAL of its own PostgreSQL. False unless told. */
  archive?: boolean;
  /** Mines by itself what is in the pools. True unless told. */
  miner?: boolean;
  /** Milliseconds between the blocks of simulators, whether anything waits for one or not. Unless told: a second while
   *  something does, where `miner` is true. */
  simulatedBlockMs?: number;
  /** How many blocks the newest final one of the simulator of TRON is behind its newest; as on the main network unless
   *  told. */
  simulatedFinalLag?: number;
  /** Told when a process ends that nobody asked to. */
  onCrash?: (name: string, how: string) => void;
  /** Told what comes next, for people who wait. */
  say?: (line: string) => void;
}>;

export type Stack = Readonly<{
  dataDir: string;
  secrets: Secrets;
  postgres: Part;
  /** `url` is host:port. */
  temporal: Part & { uiUrl: string };
  anvil: Part;
  btcd: Part & { user: string; password: string };
  /** Of coins beside Bitcoin: those that were asked for. */
  coinNodes: ReadonlyMap<NetworkId, CoinNode>;
  /** Of EVM networks beside Ethereum: those that were asked for. */
  evmNodes: ReadonlyMap<NetworkId, Part>;
  /** Of networks that have no node on one machine: those that were asked for. */
  simulators: ReadonlyMap<NetworkId, Part>;
  mail: Part & { smtpUrl: string };
  /** null: not asked for. */
  lightning: LightningParts | null;
  swap: Part | null;
  /** The payers of a test instance; null: it is live. */
  simulator: Part | null;
  /** By name: `payments-1`, `api-2`, … */
  services: ReadonlyMap<string, Part>;
  /** Any part or service by its name. */
  part(name: string): Part;
  /** Contract per token ticker. */
  tokens: Readonly<Record<string, string>>;
  /** Of the payer who has coins on the local chains. */
  payerMnemonic: string;
  /** What all services were started with; for a client, an auditor, one more service. */
  env: Readonly<Record<string, string>>;
  apiUrl: string;
  checkoutUrl: string;
  /** Of the first copy of the API. */
  metricsUrl: string;
  /** Starts one more copy of `role` from our own build, with `more` over the environment of all. */
  add(role: Role, more?: Readonly<Record<string, string>>): Promise<Part>;
  /** Ends all that was started, services first. */
  stop(): Promise<void>;
}>;
