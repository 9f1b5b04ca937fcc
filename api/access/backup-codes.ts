import { randomBytes } from 'node:crypto';
import { hashSecret, isSecret } from './passwords';

/** Ten codes of 16 hex digits for those who lost their authenticator; they serve at login only. Contract: 5.4, 8. */
const count = 10;

/** New codes, and the slow salted hashes that are kept of them. */
export async function hashedBackupCodes(): Promise<{ codes: string[]; hashes: string[] }> {
  const codes = Array.from({ length: count }, () => randomBytes(8).toString('hex'));
  return { codes, hashes: await Promise.all(codes.map(hashSecret)) };
}

export const isSameBackupCode = isSecret;
