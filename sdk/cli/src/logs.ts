import type { Command } from 'commander';
import { ApiError, type LoggedRequest } from '@crypto-payment-service/sdk';
import { untilInterrupted } from './interrupt.js';
import { looks, type Looking } from './looks.js';
import type { Output } from './output.js';
import { access, type Access } from './settings.js';

/** `logs tail|show`: the request log of the merchant. */

export function addLogs(program: Command, output: Output): void {
  const logs = program.command('logs').description('show requests that were made with your secret keys');
  logs
    .command('tail')
    .description('show requests as they come')
    .option('--errors', 'only those that were refused')
    .action(async ({ errors }: { errors?: true }) => {
      output.say('Waiting for requests. Ctrl-C ends it.');
      const coming = requests(access(), {
        refused: errors,
        signal: untilInterrupted(),
        onGone: (error) => output.say(`The API does not answer (${(error as Error).message}): waiting for it`),
        onBack: () => output.say('The API answers again'),
      });
      for await (const one of coming) output.result(one, lineOf(one));
    });
  logs
    .command('show')
    .description('show a request, and why the creation of a payment was refused')
    .argument('<request id>', 'X-Request-Id of the answer')
    .action(async (requestId: string) => {
      const { items, refusal } = await found(access(), requestId);
      const why = refusal ? [`${refusal.createdAt}  ${refusal.reason}  ${JSON.stringify(refusal.details)}`] : [];
      output.result({ requestId, requests: items, ...refusal }, [...items.map(lineOf), ...why].join('\n'));
    });
}

const lineOf = ({ createdAt, status, method, path, durationMs, requestId, errorCode }: LoggedRequest): string =>
  [createdAt, status, method.padEnd(6), path, `${durationMs} ms`, requestId, errorCode ?? ''].join('  ').trimEnd();

/** What is kept under a request id; rejects where nothing is. The reason of a refusal is there before its request. */
async function found({ client: { diagnostics } }: Access, requestId: string) {
  const { items } = await diagnostics.listRequestLogs({ requestId });
  try {
    return { items, refusal: await diagnostics.getRequestLog(requestId) };
  } catch (error) {
    if (items.length && error instanceof ApiError && error.status === 404) return { items, refusal: null };
    throw error;
  }
}

/** So much later than others a request may appear: several processes write the log, each in groups. */
const overlapSeconds = 30;
/** When a request was answered: ids begin with it. */
const secondsOf = ({ id }: LoggedRequest): number => parseInt(id.slice(0, 8), 16);

type Asked = Omit<Looking<unknown>, 'hasMore'> & Readonly<{ refused?: boolean }>;

/** Requests as they come, each once, until `signal`. Those that are there when it begins are not shown. */
async function* requests(
  { client }: Access,
  { refused, ...looking }: Asked,
): AsyncGenerator<LoggedRequest, void, undefined> {
  let seen: ReadonlySet<string> | undefined;
  let through: number | undefined;
  /** The newest requests, newest first: as far back as the next look may find another one. */
  const newest = async (): Promise<LoggedRequest[]> => {
    const rows: LoggedRequest[] = [];
    const { signal } = looking;
    for await (const row of client.diagnostics.listRequestLogs({ refused, limit: 100 }, { signal })) {
      through ??= secondsOf(row) - overlapSeconds;
      if (secondsOf(row) < through) break;
      rows.push(row);
    }
    return rows;
  };
  for await (const rows of looks(newest, { everyMs: 1000, ...looking })) {
    for (const row of rows.toReversed()) if (seen && !seen.has(row.id)) yield row;
    seen = new Set(rows.map(({ id }) => id));
    if (rows[0]) through = secondsOf(rows[0]) - overlapSeconds;
  }
}
