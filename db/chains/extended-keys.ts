import type { EntityManager } from 'typeorm';
import { networks, sequenceOf, type NetworkId } from '../../domain/chains/assets';
import { keyRoles, type ChainCodec, type KeyRole } from '../../domain/chains/chain';
import { mostLanes } from '../../domain/treasury/lanes';
import type { Queryable } from '../query';
import { registerLanes } from '../treasury/lanes';

/** The first indexes are kept for our hot wallets and their gas wallets; merchants' wallets start after them. */
const firstIndex: Readonly<Record<KeyRole, number>> = { deposit: 0, treasury: mostLanes, gas: mostLanes };

/** An account key of ours, of the branches from `from` on. */
export type SeedKey = Readonly<{ xpub: string; from: number }>;

/** Registers the account keys of a network, one of each seed with the newest last: the sequence of indices of each
 *  role, and so many hot wallets of the newest seed with their gas wallets. Safe to repeat. Returns how many hot
 *  wallets there are: fewer than asked for where merchants have the indexes. `lanes` null: registers none. Throws where
 *  another seed has registered before: its addresses would be lost to this signer. */
export async function registerKeys(
  tx: EntityManager,
  codec: Pick<ChainCodec, 'network' | 'derive'>,
  keysOf: (role: KeyRole) => readonly SeedKey[],
  lanes: number | null,
): Promise<number> {
  const network: NetworkId = codec.network;
  await tx.query("SELECT pg_advisory_xact_lock(hashtext('extended keys'))");
  for (const role of keyRoles) {
    const [row] = await tx.query<Array<{ registered: boolean }>>(
      'SELECT register_network_keys($1, $2, $3, $4, $5) AS registered',
      [network, role, firstIndex[role], sequenceOf(networks[network]), JSON.stringify(keysOf(role))],
    );
    if (!row!.registered) {
      throw new Error(
        `The seed of SIGNER_SEED_FILE does not belong to this database: its ${network} ${role} key is another. ` +
          'Give the signer the seed that it had before.',
      );
    }
  }
  if (lanes === null) return 0;
  const newest = (role: KeyRole): SeedKey => keysOf(role).at(-1)!;
  const { from } = newest('treasury');
  return registerLanes(tx, network, lanes, (role, index) => codec.derive(newest(role).xpub, index, from), from);
}

/** Every account key that is registered, of each network and role in the order of their branches. */
export const registeredKeys = (
  db: Queryable,
): Promise<Array<Readonly<{ network: string; role: KeyRole; sequence: string } & SeedKey>>> =>
  db.query(
    `SELECT k.network, k.role, k.sequence_of AS sequence, coalesce(s.xpub, k.xpub) AS xpub,
            coalesce(s.from_branch, 0) AS "from"
       FROM extended_key k LEFT JOIN seed_key s ON s.network = k.network AND s.role = k.role
      ORDER BY k.network, k.role, s.from_branch`,
  );

type AddressKey = Readonly<{ xpub: string; branch: number; index: number }>;

/** Our registered key of an address's role, and where its row says that it is derived; null without such a key. What
 *  has a tag behind it is the address itself. */
export async function keyOfAddress(db: Queryable, network: string, address: string): Promise<AddressKey | null> {
  const [key] = await db.query<AddressKey[]>(
    `SELECT branch_key(k.network, k.role, a.branch) AS xpub, a.branch, a.key_index AS index FROM address a
       JOIN extended_key k ON k.network = a.network AND k.role = a.role
      WHERE a.network = $1 AND a.address = $2 AND a.tag = ''`,
    [network, address],
  );
  return key ?? null;
}
