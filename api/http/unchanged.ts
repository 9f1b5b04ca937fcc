import { createHash } from 'node:crypto';
import type { Answer } from './route';

/** `data` with an ETag, or 304 where the caller has it already. `lasting`: what of it must differ to count as changed.
 *  */
export function unlessKnown(ifNoneMatch: string | undefined, lasting: object, data: object = lasting): Answer {
  const etag = `W/"${createHash('sha1').update(JSON.stringify(lasting)).digest('base64url')}"`;
  const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
  const known = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim());
  if (known.includes(etag) || known.includes('*')) return { status: 304, empty: true, headers };
  return { data, headers };
}
