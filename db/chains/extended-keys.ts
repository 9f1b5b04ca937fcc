import type { EntityManager } from 'typeorm';
import { networks, sequenceOf, type NetworkId } from '../../domain/chains/assets';
import { keyRoles, type ChainCodec, type KeyRole } from '../../domain/chains/chain';
import { mostLanes } from '../../domain/treasury/lanes';
import type { Queryable } from '../query';
import { registerLanes } from '../treasury/lanes';

/** The first indexes are kept for our hot wallets and their gas wallets; merchants' wallets start after them. */
const firstIndex: Readonly<Record<KeyRole, number>> = { deposit: 0, treasury: mostLanes, gas: mostLanes };

/** Registers the account keys of a network, once: the sequence of indices of each, and so many hot wallets with their
 *  gas wallets. Returns how many hot wallets there are: fewer than asked for where merchants have the indexes. Throws
 *  where another seed has registered before: its addresses would be lost to this signer. */
export async function registerKeys(
  tx: EntityManager,
  codec: ChainCodec,
  xpubOf: (role: KeyRole) => string,
  lanes: number,
): Promise<number> {
  const network: NetworkId = codec.network;
  await tx.query("SELECT pg_advisory_xact_lock(hashtext('extended keys'))");
  for (const role of keyRoles) {
    const xpub = xpubOf(role);
    const [row] = await tx.query<Array<{ xpub: string }>>('SELECT register_network_key($1, $2, $3, $4, $5) AS xpub', [
      network,
      role,
      xpub,
      firstIndex[role],
      sequenceOf(networks[network]),
    ]);
    if (row!.xpub !== xpub) {
      throw new Error(
        `The seed of SIGNER_SEED_FILE does not belong to this database: its ${network} ${role} key is another. ` +
          'Give the signer the seed that it had before.',
      );
    }
  }
  return registerLanes(tx, network, lanes, (role, index) => codec.derive(xpubOf(role), index));
}

type AddressKey = Readonly<{ xpub: string; branch: number; index: number }>;

/** Our registered key of an address's role, and where its row says that it is derived; null without such a key. */
export async function keyOfAddress(db: Queryable, network: string, address: string): Promise<AddressKey | null> {
  const [key] = await db.query<AddressKey[]>(
    `SELECT k.xpub, a.branch, a.key_index AS index FROM address a
       JOIN extended_key k ON k.network = a.network AND k.role = a.role
      WHERE a.network = $1 AND a.address = $2`,
    [network, address],
  );
  return key ?? null;
}
