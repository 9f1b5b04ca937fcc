import type { NetworkId } from '../../domain/chains/assets';
import type { KeyRole } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import type { SharedKey } from '../../domain/payments/receiver';
import type { Queryable } from '../query';

/** What an address is derived from. */
type DrawnKey = Readonly<{ xpub: string; branch: number; index: number }>;

/** Nobody may derive an address now. */
export const noLiveKey = (network: string, role: KeyRole): DomainError =>
  new DomainError(
    'UPSTREAM_UNAVAILABLE',
    `No ${role} key for ${network}: the signer has not registered it, or not confirmed this database yet`,
  );

/** The next index of a role, used up. Throws UPSTREAM_UNAVAILABLE. */
export async function drawKey(tx: Queryable, network: NetworkId, role: KeyRole): Promise<DrawnKey> {
  const [key] = await tx.query<DrawnKey[]>(
    `SELECT xpub, branch, nextval(format('key_index_%s_%s', sequence_of, role)::regclass)::integer AS index
       FROM live_key WHERE network = $1 AND role = $2`,
    [network, role],
  );
  if (!key) throw noLiveKey(network, role);
  return key;
}

/** The key of the account that payments of a network with tags share. Throws UPSTREAM_UNAVAILABLE. */
export async function sharedKey(tx: Queryable, network: NetworkId): Promise<SharedKey> {
  const [key] = await tx.query<SharedKey[]>('SELECT xpub, branch FROM shared_key($1)', [network]);
  if (!key) throw noLiveKey(network, 'treasury');
  return key;
}
