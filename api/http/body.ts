import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../domain/errors';
import { isDeeperThan, rawProperty } from '../../domain/payments/json-text';

/** Invariants: 7, Load. */
const limitBytes = 64 * 1024;
/** What lists of many rows may take. */
export const batchBytes = 256 * 1024;
const depthLimit = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON object in the body, parsed and as it came; an absent body is `{}`. Throws UNSUPPORTED_ENCODING,
 *  UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, MALFORMED_JSON. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes = limitBytes,
  deepProperty?: string,
): Promise<{ text: string; value: unknown }> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0) return { text: '{}', value: {} };
  const type = request.headers['content-type'];
  if (type !== undefined && !/^application\/(json|[\w.+-]+\+json)\s*(;|$)/i.test(type))
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE');
  try {
    const text = utf8.decode(bytes);
    if (isTooDeep(text, deepProperty))
      throw new DomainError('MALFORMED_JSON', `The body nests deeper than ${depthLimit} levels`);
    return { text, value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('MALFORMED_JSON');
  }
}

/** `deepProperty`: one that is kept as it came, and nests as deep as its own limit of bytes allows. */
function isTooDeep(text: string, deepProperty: string | undefined): boolean {
  if (!isDeeperThan(text, depthLimit)) return false;
  const raw = deepProperty === undefined ? undefined : rawProperty(text, deepProperty);
  return (
    raw === undefined ||
    isDeeperThan(
      text.replace(raw, () => 'null'),
      depthLimit,
    )
  );
}

/** A body that is text of the media type `type`, whatever it holds. Throws as `readJsonBody` does. */
export async function readTextBody(request: IncomingMessage, type: string, maxBytes = limitBytes): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  const given = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (given !== undefined && given !== type) throw new DomainError('UNSUPPORTED_MEDIA_TYPE');
  try {
    return utf8.decode(bytes);
  } catch {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE');
  }
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new DomainError('UNSUPPORTED_ENCODING');
  const announced = request.headers['content-length'];
  if (announced !== undefined && parseInt(announced, 10) > maxBytes) throw new DomainError('BODY_TOO_LARGE');
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false })) {
      length += (part as Buffer).length;
      if (length > maxBytes) throw new DomainError('BODY_TOO_LARGE');
      parts.push(part as Buffer);
    }
  } catch (error) {
    if (error instanceof DomainError) throw error;
    throw new DomainError('MALFORMED_JSON', 'The body ended before its time');
  }
  return Buffer.concat(parts, length);
}
