import type { ChainCodec } from '../../domain/chains/chain';
import { keyOfAddress } from '../../db/chains/extended-keys';
import type { Queryable } from '../../db/query';

/** Whether our extended key derives this address at the place that its row names. Several processes may write such
 *  rows; the signer alone registers keys. True before it has registered one: nobody has been given an address then. */
export async function isDerived(
  db: Queryable,
  codec: Pick<ChainCodec, 'network' | 'derive'>,
  address: string,
): Promise<boolean> {
  const key = await keyOfAddress(db, codec.network, address);
  return key === null || codec.derive(key.xpub, key.index, key.branch) === address;
}
