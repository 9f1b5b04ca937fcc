import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { keyRoles, type ChainCodec, type KeyRole } from '../../domain/chains/chain';
import { mostLanes } from '../../domain/treasury/lanes';
import { registerLanes } from '../treasury/lanes';

/** The first treasury indexes are kept for our hot wallets; merchants' wallets start after them. */
const firstIndex: Readonly<Record<KeyRole, number>> = { deposit: 0, treasury: mostLanes, gas: 1 };

/** Registers the account keys of a network, once: the sequence of indices of each, our gas address, and so many hot
 *  wallets. Returns how many hot wallets there are: fewer than asked for where merchants have the indexes. Throws where
 *  another seed has registered before: its addresses would be lost to this signer. */
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
    const [row] = await tx.query<Array<{ xpub: string }>>('SELECT register_key($1, $2, $3, $4) AS xpub', [
      network,
      role,
      xpub,
      firstIndex[role],
    ]);
    if (row!.xpub !== xpub) {
      throw new Error(
        `The seed of SIGNER_SEED_FILE does not belong to this database: its ${network} ${role} key is another. Give the signer the seed that it had before.`,
      );
    }
    if (role === 'gas')
      await tx.query(
        `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
        [network, codec.derive(xpub, 0), role],
      );
  }
  return registerLanes(tx, network, lanes, (index) => codec.derive(xpubOf('treasury'), index));
}
