import { DomainError } from '../errors';
import type { ChainCodec } from './chain';

/** What takes addresses from people. */
export type AddressReader = Pick<ChainCodec, 'normalise' | 'refusalOf'>;

/** An address in the one spelling of its network. Throws INVALID_ADDRESS, with the reason where one is known. */
export function readAddress(codec: AddressReader, address: string): string {
  const own = codec.normalise(address);
  if (own === null) throw new DomainError('INVALID_ADDRESS', codec.refusalOf(address) ?? undefined);
  return own;
}
