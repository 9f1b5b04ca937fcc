import type { Context } from 'koa';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Compressed answers. Pages behind a secret link are sent as they are: beside text that somebody else chose, the
 *  length of a compressed answer tells of a secret in it. */

type Coding = 'br' | 'gzip';
const codings: readonly Coding[] = ['br', 'gzip'];

/** Brotli at 5 takes about a millisecond for a page, and 11 is for what is compressed once. */
export const compressed = (text: string | Buffer, coding: Coding, quality: 5 | 11): Buffer =>
  coding === 'br'
    ? brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
    : gzipSync(text, { level: 9 });

/** Answers with what `make` gives for the coding that the caller takes; null: none. */
export function answerIn(ctx: Context, make: (coding: Coding | null) => string | Buffer): void {
  ctx.vary('Accept-Encoding');
  const accepted = ctx.acceptsEncodings();
  const coding = codings.find((one) => accepted.includes(one)) ?? null;
  if (coding) ctx.set('Content-Encoding', coding);
  ctx.body = make(coding);
}
