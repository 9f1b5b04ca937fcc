import { join } from 'node:path';
import { allOrFirstError } from '../all-or-first-error';
import type { Part } from '../parts/part';
import { freePort } from '../ports';
import { signerSeedFile } from '../secrets';
import { oneOfEach, roles, service, type Role } from '../services';
import type { Helpers } from './helpers';
import type { StackOptions } from './options';
import type { Place } from './parts';

type Variables = Readonly<Record<string, string>>;

/** Makes one more copy of `role`, not started yet, with `more` over `env`, from the build of `release`. */
export type Prepare = (role: Role, more?: Variables, release?: string) => Promise<Part>;

/** Counts the copies of each role; `services` gets each by its name. */
export function copiesOf(
  { restartAfterMs, onCrash }: StackOptions,
  place: Place,
  { simulator }: Helpers,
  env: Variables,
  services: Map<string, Part>,
): Prepare {
  const counts: Partial<Record<Role, number>> = {};
  const { dataDir, ports } = place;
  return async (role, more = {}, release) => {
    const copy = (counts[role] ?? 0) + 1;
    counts[role] = copy;
    const own = await ownVariables(role, copy, place, simulator);
    const port = copy === 1 && (role === 'api' || role === 'checkout') ? ports[role] : undefined;
    const one = await service({
      role,
      copy,
      dataDir,
      port,
      release,
      env: { ...own, ...env, ...more },
      restartAfterMs,
      onCrash,
    });
    services.set(one.name, one);
    return one;
  };
}

/** What only this role is told. */
async function ownVariables(role: Role, copy: number, place: Place, simulator: Part | null): Promise<Variables> {
  const { dataDir, ports, secrets } = place;
  if (role === 'signer')
    return {
      SIGNER_SEED_FILE: signerSeedFile(dataDir),
      SIGNER_EPOCH_FILE: join(dataDir, 'signer-epoch.json'),
      RECOVERY_WATCH_ADDRESSES: '2000',
    };
  if (role !== 'api') return {};
  return {
    METRICS_PORT: String(copy === 1 ? ports.metrics : await freePort()),
    ...(simulator ? { SIMULATOR_URL: simulator.url, SIMULATOR_KEY: secrets.simulatorKey } : {}),
  };
}

/** Starts all copies at once. Rejects when none is under way any more. */
export async function startCopies(prepare: Prepare, { services, release }: StackOptions): Promise<void> {
  const copies = { ...oneOfEach, ...services };
  const wanted = (Object.keys(roles) as Role[]).flatMap((role) => Array.from({ length: copies[role] }, () => role));
  const prepared: Part[] = [];
  for (const role of wanted) prepared.push(await prepare(role, {}, release));
  await allOrFirstError(prepared.map((one) => one.start()));
}
