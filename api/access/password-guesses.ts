import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../domain/errors';
import { limitKey } from '../../domain/access/client-ip';
import { passwordGuesses, strangersGuesses, type Limit } from '../../domain/access/rate-limits';
import { knownDevice } from '../../db/access/known-devices';
import type { ApiDeps } from '../http/deps';
import { cookieOf, deviceCookie } from './sessions';

/** Wrong passwords. Nobody keeps the owner of an account out by guessing: the owner's browser is known by its cookie
 *  and counts for itself. All others share one count per account, whatever address they come from, so that their
 *  guesses are few; and one per address, so that one of them does not use up all. Unknown e-mail addresses count
 *  alike. */

type Guess = Readonly<{ email: string; ip: string; request: IncomingMessage }>;
type Count = Readonly<{ bucket: string; key: string; limit: Limit }>;

/** Takes a guess before the password is looked at; refuses with RATE_LIMITED. `forgive`: the password was right. */
export async function takeGuess(
  { db, config, limits }: Pick<ApiDeps, 'db' | 'config' | 'limits'>,
  { email, ip, request }: Guess,
): Promise<{ forgive(): Promise<void> }> {
  const consume = async ({ bucket, key, limit }: Count): Promise<void> => {
    const { retryAfterSeconds } = await limits.consume(bucket, key, limit);
    if (retryAfterSeconds !== undefined) throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds });
  };
  const token = cookieOf(request, deviceCookie);
  const device = token === undefined ? null : await knownDevice(db, config.SECRETS_KEY, email, token);
  const own = { bucket: 'password', key: keyOf(email, device ?? limitKey(ip)), limit: passwordGuesses };
  await consume(own);
  const shared = { bucket: 'password.strangers', key: keyOf(email), limit: strangersGuesses };
  if (!device) await consume(shared);
  return {
    async forgive() {
      await limits.forget(own.bucket, own.key, own.limit);
      // Only this guess: an owner who signs in must not give strangers a hundred more.
      if (!device) await limits.uncount(shared.bucket, shared.key, shared.limit);
    },
  };
}

const keyOf = (...parts: readonly string[]): string => createHash('sha256').update(parts.join(' ')).digest('hex');
