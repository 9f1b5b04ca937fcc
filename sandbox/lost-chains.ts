import { createAdapter } from '../chains/adapters';
import { readCursor } from '../db/chains/cursor';
import { createDataSource } from '../db/data-source';
import { networks } from '../domain/chains/assets';
import { parseConfig } from '../domain/config';
import type { Stack } from './stack';

/** A line for each local chain that ends before where the service has read it: what its node had not saved is lost. */
export async function lostChains({ env, postgres }: Pick<Stack, 'env' | 'postgres'>): Promise<string[]> {
  const config = parseConfig(env);
  const db = createDataSource(postgres.url, { pool: 1, name: 'lost-chains' });
  await db.initialize();
  try {
    const lines: string[] = [];
    for (const id of config.networks) {
      const cursor = await readCursor(db.manager, id);
      const { height } = await createAdapter(id, config).head();
      if (cursor && height < cursor.height)
        lines.push(
          `${networks[id].name} ends at block ${height} and had ${cursor.height}: its node was ended before it had ` +
            'saved them. Payments on it stand still; npm run reset begins anew.',
        );
    }
    return lines;
  } finally {
    await db.destroy();
  }
}
