import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import { keyRoles, type ChainCodec, type KeyRole } from '../../domain/chains/chain';

/** Treasury index 0 receives our own fees; merchants' wallets start after it. */
const firstIndex: Readonly<Record<KeyRole, number>> = { deposit: 0, treasury: 1, gas: 1 };

/** Registers the account keys of a network, once: the sequence of indices of each, and our own treasury and gas addresses. Throws
 *  where another seed has registered before: its addresses would be lost to this signer. */
export async function registerKeys(
  tx: EntityManager,
  codec: ChainCodec,
  xpubOf: (role: KeyRole) => string,
): Promise<void> {
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
    if (role === 'deposit') continue;
    await tx.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING`,
      [network, codec.derive(xpub, 0), role],
    );
  }
}
