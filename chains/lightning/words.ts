import { bech32 } from '@scure/base';
import { DomainError } from '../../domain/errors';

/** Of five bits each, as invoices are written. */
export type Words = readonly number[];

export const refused = (reason: string): DomainError =>
  new DomainError('INVALID_ADDRESS', `Not a Lightning invoice that can be paid: ${reason}`);

/** The bytes of a field. Throws INVALID_ADDRESS where the last word has more than zeros beside them. */
export function bytesIn(words: Words, name: string): Uint8Array {
  try {
    return bech32.fromWords([...words]);
  } catch {
    throw refused(`its field ${name} does not end with zeros`);
  }
}
