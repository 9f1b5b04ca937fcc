import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSession } from 'better-sse';
import { DomainError } from '../domain/errors';
import { isFinal } from '../domain/payment';
import type { InvoiceRead } from '../db/payment-queries';
import { limitKey } from '../domain/client-ip';
import type { ApiDeps } from './deps';
import { presentInvoice } from './present-invoice';

/** Open streams per address and per process: each costs a socket, none may cost another payer theirs. */
const perAddress = 30;
const perProcess = 5000;
const open = new Map<string, number>();
let total = 0;

/** Ends every stream; their clients come back to another copy. */
const sessions = new Set<ServerResponse>();
export const endStreams = (): void => {
  for (const response of sessions) response.end();
};

/** What of an invoice is news; the clock is not. */
const newsOf = ({ serverTime: _, ...news }: ReturnType<typeof presentInvoice>): string => JSON.stringify(news);

/** Sends the invoice now and after each change, until it has ended or the caller is gone. Throws RATE_LIMITED. gaps: 2. */
export async function streamInvoice(
  invoice: InvoiceRead,
  { request, response, ip }: Readonly<{ request: IncomingMessage; response: ServerResponse; ip: string }>,
  deps: Pick<ApiDeps, 'codecs' | 'config' | 'changes' | 'metrics'>,
): Promise<void> {
  const key = limitKey(ip);
  const mine = open.get(key) ?? 0;
  if (mine >= perAddress || total >= perProcess)
    throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: 10 });
  open.set(key, mine + 1);
  total++;
  deps.metrics.streams.set(total);
  sessions.add(response);
  let stop = (): void => undefined;
  response.once('close', () => {
    stop();
    sessions.delete(response);
    total--;
    const left = (open.get(key) ?? 1) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
    deps.metrics.streams.set(total);
  });

  response.statusCode = 200; // Koa starts every answer as 404, and this one is not Koa's to end
  const session = await createSession(request, response, {
    keepAlive: 15_000,
    retry: 3000,
    headers: { 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' },
  });
  let last = '';
  const show = (read: InvoiceRead): void => {
    const view = presentInvoice(read, deps);
    const news = newsOf(view);
    if (news === last || !session.isConnected) return;
    last = news;
    session.push(view, 'message', String(read.row.state_version));
    if (isFinal(read.row.status)) response.end();
  };
  stop = deps.changes.watch(invoice.row.id, show);
  show(invoice);
}
