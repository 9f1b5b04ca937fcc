import { DomainError } from '../../domain/errors';

/** The key of a creation: the header's, else the body's; null where neither is given. Throws INVALID_IDEMPOTENCY_KEY,
 *  RESERVED_IDEMPOTENCY_KEY (the shape that widget checkouts have). Contract: 4.5. */
export function idempotencyKeyOf(header: string | undefined, body: string | undefined): string | null {
  const key = header ?? body;
  if (key === undefined) return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new DomainError('INVALID_IDEMPOTENCY_KEY');
  if (/^widget:[0-9a-fA-F]{24}:/.test(key)) throw new DomainError('RESERVED_IDEMPOTENCY_KEY');
  return key;
}
