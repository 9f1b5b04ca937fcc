import { createAdapter } from '../chains/adapters';
import { lightningReader } from '../chains/lightning/node';
import { lightningPosition } from '../db/audit/reconcile-lightning';
import { reconcileAssets } from '../db/audit/reconciliation';
import { requiredDepth } from '../db/payments/payments';
import { parseConfig } from '../domain/config';
import { isZero } from '../domain/money';
import type { World } from './world';

/** Waits until `read` finds nothing; what it still finds are problems. */
export async function cleared(read: () => Promise<string[]>, ms: number): Promise<string[]> {
  for (const end = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const found = await read();
    if (!found.length || Date.now() > end) return found;
  }
}

/** Where the books and the chains of a service differ. A chain whose newest block is not read yet gets 30 s. */
export function unreconciled(world: World): Promise<string[]> {
  const config = parseConfig(world.stack.env);
  const adapters = config.networks.map((network) => createAdapter(network, config));
  return cleared(async () => {
    const { positions, unknown, unclear } = await reconcileAssets(world.db, adapters, (network) =>
      requiredDepth(network, config.confirmations),
    );
    const node = lightningReader(config);
    const missing = node ? (await lightningPosition(world.db, node)).missing : null;
    return [
      ...(missing === null ? [] : [`the Lightning node lacks ${missing}`]),
      ...unknown.map((network) => `${network} could not be read`),
      ...unclear.map((currency) => `${currency} does not hold still`),
      ...positions
        .filter((one) => !isZero(one.unexplained))
        .map((one) => `${one.unexplained} ${one.currency} are not explained: ${one.where.join('; ')}`),
    ];
  }, 30_000);
}
