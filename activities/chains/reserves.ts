import { payingAddresses, storeReserve } from '../../db/chains/reserves';
import type { ChainAdapter } from '../../domain/chains/chain';
import type { FollowerDeps } from './deps';

/** Keeps what each of our paying addresses must hold, where the network has such a rule: plans count without it. */
export async function noteReserves({
  db,
  adapter: { network, reserveOf },
}: Pick<FollowerDeps, 'db'> & { adapter: Pick<ChainAdapter, 'network' | 'reserveOf'> }): Promise<void> {
  if (!reserveOf) return;
  for (const address of await payingAddresses(db.manager, network))
    await storeReserve(db.manager, { network, address, units: await reserveOf(address) });
}
