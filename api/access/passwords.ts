import { hash, verify } from '@node-rs/argon2';
import { DomainError } from '../../domain/errors';

/** Argon2id with 19 MiB, two passes, one lane: the library's defaults, which are OWASP's. */

/** Throws VALIDATION_ERROR with what is missing. Contract: 4.1. */
export function checkPassword(password: string, property = 'password'): void {
  const missing = [
    [password.length >= 8, 'at least 8 characters'],
    [/\p{Ll}/u.test(password), 'a small letter'],
    [/\p{Lu}/u.test(password), 'a capital letter'],
    [/\p{Nd}/u.test(password), 'a digit'],
    [/[^\p{L}\p{Nd}\s]/u.test(password), 'a special character'],
  ].flatMap(([holds, words]) => (holds ? [] : [words]));
  if (missing.length) throw new DomainError('VALIDATION_ERROR', `${property} needs ${missing.join(', ')}`);
}

export const hashSecret = (secret: string): Promise<string> => hash(secret.normalize('NFKC'));
export const isSecret = (hashed: string, secret: string): Promise<boolean> => verify(hashed, secret.normalize('NFKC'));

let decoy: Promise<string> | undefined;
/** The work of a comparison where there is nothing to compare with: unknown and known e-mail addresses cost the
 *  same. */
export async function compareWithNothing(secret: string): Promise<void> {
  decoy ??= hashSecret('nobody has this password');
  await isSecret(await decoy, secret);
}
