import type { KeyRole } from '../../domain/chains/chain';
import type { OwnAddressRow } from '../../db/txmanager/sign-facts';
import { codecOf, type Signer } from './signer';

/** Extended public keys by seed: they cost a hardened derivation each, and never change. */
const extendedKeys = new WeakMap<Uint8Array, Map<string, string>>();

function extendedKeyOf(signer: Signer, network: string, role: KeyRole, branch: number): string {
  const seed = typeof signer.seed === 'function' ? signer.seed(branch) : signer.seed;
  const keys = extendedKeys.get(seed) ?? new Map<string, string>();
  extendedKeys.set(seed, keys);
  const name = `${network}/${role}`;
  const known = keys.get(name) ?? codecOf(signer, { network }).extendedKey(seed, role);
  keys.set(name, known);
  return known;
}

/** Whether the seed of its branch derives this address at its role, branch and index, whatever the database says of it.
 *  */
export const isDerived = (
  signer: Signer,
  network: string,
  { address, role, branch, key_index }: Pick<OwnAddressRow, 'address' | 'role' | 'branch' | 'key_index'>,
): boolean =>
  codecOf(signer, { network }).derive(extendedKeyOf(signer, network, role, branch), key_index, branch) === address;
