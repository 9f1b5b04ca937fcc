import type { DataSource } from 'typeorm';
import { createAdapter, createSecondAdapter } from '../../chains/adapters';
import { checkNode } from '../../chains/node-check';
import { networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { isLocalChain, staleReason } from '../../domain/chains/freshness';
import { loginOf, type Config } from '../../domain/config';
import { fault, good, warning, type Finding } from '../../domain/finding';
import type { RowOf } from '../../db/entity';
import type { chainCursorEntity } from '../../db/chains/entities';
import { registeredKeys } from '../../db/chains/extended-keys';

/** A head from further in the future than this says that our own clock is behind. */
const futureSeconds = 15;

/** The node of a network, how fresh it is, and its second one. */
export async function checkNetwork(id: NetworkId, config: Config): Promise<Finding[]> {
  const second = createSecondAdapter(id, config);
  const found = await checkNode(id, config.chain, loginOf(id, config));
  if (found.every(({ state }) => state !== 'good')) return found; // what another chain's node says is of no use
  return [
    ...found,
    ...(await freshness(id, createAdapter(id, config), config)),
    ...(second ? await secondNode(second) : []),
  ];
}

async function freshness(id: NetworkId, adapter: ChainAdapter, config: Config): Promise<Finding[]> {
  const network = networks[id];
  if (isLocalChain(network, config.chain)) return [];
  const [head, sync] = [await adapter.head(), await adapter.sync()];
  const reason = staleReason(network, sync, new Date(head.time * 1000), new Date());
  const ahead = head.time - Date.now() / 1000;
  return [
    reason === null
      ? good('It is in step with its network')
      : fault(reason, 'Wait until it has caught up, or see docs/operations/stale-node.md'),
    ...(network.kind === 'account' && ahead > futureSeconds
      ? [warning(`Its newest block is of ${Math.round(ahead)} s from now`, 'Set the clock of this machine (NTP)')]
      : []),
  ];
}

async function secondNode(second: ChainAdapter): Promise<Finding[]> {
  try {
    const { height } = await second.head();
    return [good(`The second node answers, block ${height}`)];
  } catch (error) {
    return [warning(`The second node: ${(error as Error).message}`, 'Start it, or leave its address empty')];
  }
}

type Follower = Pick<RowOf<typeof chainCursorEntity>, 'network' | 'height' | 'stale_reason'>;

/** How far each network has been read, and why no further. */
export async function checkFollowers(db: DataSource, { networks: on }: Pick<Config, 'networks'>): Promise<Finding[]> {
  const rows = await db.query<Follower[]>('SELECT network, height::text, stale_reason FROM chain_cursor');
  return on.map((id) => {
    const row = rows.find(({ network }) => network === id);
    const { name } = networks[id];
    if (!row) return fault(`${name} is not read yet`, `Start worker-chain for ${id}`);
    return row.stale_reason === null
      ? good(`${name} is read to block ${row.height}`)
      : fault(`${name} stands still: ${row.stale_reason}`, 'See docs/operations/stale-node.md');
  });
}

const roles = ['deposit', 'treasury', 'gas'] as const;

/** Whether the signer has registered the keys of every network, and those of every seed on each: without them no
 *  payment gets an address. */
export async function checkKeys(db: DataSource, { networks: on }: Pick<Config, 'networks'>): Promise<Finding[]> {
  const rows = await registeredKeys(db);
  const branchesOf = (id: string, role: string): number[] =>
    rows.filter((row) => row.network === id && row.role === role).map(({ from }) => from);
  const all = [...new Set(rows.map(({ from }) => from))].toSorted((a, b) => a - b);
  const seeds = all.length > 1 ? [good(`Keys of ${all.length} seeds: the newest from branch ${all.at(-1)!} on`)] : [];
  const keys = on.map((id) => {
    const missing = roles.filter((role) => !rows.some((row) => row.network === id && row.role === role));
    return missing.length
      ? fault(
          `${networks[id].name} has no ${missing.join(', ')} key`,
          'Start the signer with the seed: it registers them',
        )
      : roles.some((role) => branchesOf(id, role).length < all.length)
        ? fault(`${networks[id].name} has no key of some seeds`, 'Start the signer with all seeds: it registers them')
        : good(`The keys of ${networks[id].name} are registered`);
  });
  return [...seeds, ...keys];
}
