import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import { DomainError } from '../domain/errors';
import type { ApiDeps } from './deps';
import type { Answer } from './route';

/** Lines of a table, a batch at a time. */
type Batches = AsyncGenerator<ReadonlyArray<readonly string[]>, void, undefined>;

/** Files under way per merchant: each holds a connection to the database. Together they leave most of the pool to others. */
const perMerchant = 2;
const underWay = new Map<string, number>();
/** Nobody holds a connection for longer. */
const longestMs = 600_000;

/** What a spreadsheet would take for a formula has a quote before it; the sign of an amount is none. Invariants: 7, Content. */
const csv = (lines: ReadonlyArray<readonly string[]>, isAmount: readonly boolean[]): string =>
  stringify(lines as string[][], {
    escape_formulas: true,
    quoted_match: /[\r\n]/,
    cast: { string: (value, { column }) => (isAmount[column as number] ? { value, escape_formulas: false } : value) },
  });

async function* file(
  { head, amounts = [] }: Readonly<{ head: readonly string[]; amounts?: readonly string[] }>,
  first: Awaited<ReturnType<Batches['next']>>,
  batches: Batches,
) {
  const isAmount = head.map((name) => amounts.includes(name));
  yield csv([head], []);
  for (let batch = first; !batch.done; batch = await batches.next()) yield csv(batch.value, isAmount);
}

/** Answers with a CSV file while its lines are read, as fast as the caller takes them; a caller that leaves ends the reading. What
 *  fails before the first line is refused like anything else; what fails later breaks the connection off. Throws RATE_LIMITED. */
export async function sendCsv(
  call: Readonly<{
    request: IncomingMessage;
    response: ServerResponse;
    requestId: string;
    merchant: Readonly<{ id: string }>;
  }>,
  { config, logger }: Pick<ApiDeps, 'config' | 'logger'>,
  table: Readonly<{
    name: string;
    head: readonly string[];
    /** Columns of amounts that may be negative. */
    amounts?: readonly string[];
    batches: () => Batches;
  }>,
): Promise<Answer> {
  const { response, requestId } = call;
  const merchantId = call.merchant.id;
  const mine = underWay.get(merchantId) ?? 0;
  const all = [...underWay.values()].reduce((sum, count) => sum + count, 0);
  if (mine >= perMerchant || all >= Math.max(1, Math.floor(config.DATABASE_POOL / 3)))
    throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: 10 });
  underWay.set(merchantId, mine + 1);

  const batches = table.batches();
  const end = async (): Promise<void> => {
    const left = (underWay.get(merchantId) ?? 1) - 1;
    if (left > 0) underWay.set(merchantId, left);
    else underWay.delete(merchantId);
    await batches.return();
  };
  try {
    const first = call.request.method === 'HEAD' ? { done: true as const, value: undefined } : await batches.next();
    response.statusCode = 200; // Koa starts every answer as 404, and this one is not Koa's to end
    response.setHeader('Content-Type', 'text/csv; charset=utf-8');
    const day = new Date().toISOString().slice(0, 10);
    response.setHeader('Content-Disposition', `attachment; filename="${table.name}-${day}.csv"`);
    pipeline(Readable.from(file(table, first, batches)), response, { signal: AbortSignal.timeout(longestMs) })
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
