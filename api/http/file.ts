import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '../../domain/errors';
import type { ApiDeps } from './deps';
import type { Answer } from './route';

export type FileCall = Readonly<{
  request: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  /** Operators have none. */
  merchant: Readonly<{ id: string }> | undefined;
}>;
/** A call of somebody who has a merchant. */
export type MerchantFileCall<M extends { id: string } = { id: string }> = FileCall & Readonly<{ merchant: M }>;
type Chunks = AsyncGenerator<string | Buffer, void, undefined>;

/** Files under way per merchant, and for all operators: each holds a connection to the database. Together they leave
 *  most of the pool to others. */
const perMerchant = 2;
const underWay = new Map<string, number>();
/** Nobody holds a connection for longer. */
const longestMs = 600_000;

async function* after(first: Awaited<ReturnType<Chunks['next']>>, chunks: Chunks): Chunks {
  for (let chunk = first; !chunk.done; chunk = await chunks.next()) yield chunk.value;
}

/** Answers with a file while it is made, as fast as the caller takes it; a caller that leaves ends the making. What
 *  fails before the first chunk is refused like anything else; what fails later breaks the connection off. Throws
 *  RATE_LIMITED. */
export async function sendFile(
  call: FileCall,
  { config, logger }: Pick<ApiDeps, 'config' | 'logger'>,
  file: Readonly<{ name: string; extension: string; type: string; chunks: () => Chunks }>,
): Promise<Answer> {
  const { response, requestId } = call;
  const merchantId = call.merchant?.id ?? 'platform';
  const mine = underWay.get(merchantId) ?? 0;
  const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
  if (mine >= perMerchant || all >= Math.max(1, Math.floor(config.DATABASE_POOL / 3)))
    throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: 10 });
  underWay.set(merchantId, mine + 1);

  const chunks = file.chunks();
  const end = async (): Promise<void> => {
    const left = (underWay.get(merchantId) ?? 1) - 1;
    if (left > 0) underWay.set(merchantId, left);
    else underWay.delete(merchantId);
    await chunks.return();
  };
  try {
    const first = call.request.method === 'HEAD' ? { done: true as const, value: undefined } : await chunks.next();
    response.statusCode = 200; // Koa starts every answer as 404, and this one is not Koa's to end
    response.setHeader('Content-Type', file.type);
    const day = new Date().toISOString().slice(0, 10);
    response.setHeader('Content-Disposition', `attachment; filename="${file.name}-${day}.${file.extension}"`);
    pipeline(Readable.from(after(first, chunks)), response, { signal: AbortSignal.timeout(longestMs) })
      .finally(end)
      .catch((error: NodeJS.ErrnoException) => {
        if (!hungUp.includes(error.code ?? ''))
          logger.warn({ err: error, requestId, merchantId }, 'A file was broken off');
      });
    return { handled: true };
  } catch (error) {
    await end();
    throw error;
  }
}
const hungUp = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'ECONNRESET', 'EPIPE'];
