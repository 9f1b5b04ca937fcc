import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSession } from 'better-sse';
import { DomainError } from '../../domain/errors';
import { isFinal } from '../../domain/payments/payment';
import type { InvoiceRead } from '../../db/payments/payment-queries';
import { limitKey } from '../../domain/access/client-ip';
import type { ApiDeps } from '../http/deps';
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

const headers = { 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' };
const beatMs = 15_000;

/** Sends the invoice now and after each change, until it has ended or the caller is gone. Throws RATE_LIMITED.
 *  Contract: G2. */
export async function streamInvoice(
  invoice: InvoiceRead,
  { request, response, ip }: Readonly<{ request: IncomingMessage; response: ServerResponse; ip: string }>,
  deps: Pick<ApiDeps, 'codecs' | 'changes' | 'metrics' | 'lifecycle'>,
): Promise<void> {
  response.statusCode = 200; // Koa starts every answer as 404, and this one is not Koa's to end
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...headers }).end();
    return;
  }
  const { socket } = request;
  if (response.destroyed || socket.destroyed) return; // no close comes any more
  const free = takeSlot(limitKey(ip), deps);
  let isClosed = false;
  let stop = (): void => undefined;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    socket.off('close', close);
    sessions.delete(response);
    stop();
    free();
  };
  response.once('close', close);
  socket.once('close', close); // an answer that waits behind another on its socket is told of no close

  const session = await createSession(request, response, { keepAlive: null, retry: 3000, headers });
  if (isClosed) return;
  sessions.add(response);
  let last = '';
  const show = (read: InvoiceRead): void => {
    const view = presentInvoice(read, deps);
    const news = newsOf(view);
    if (news === last || response.writableEnded) return;
    last = news;
    session.push(view, 'message', String(read.row.state_version));
    if (isFinal(read.row.status)) response.end();
  };
  const unwatch = deps.changes.watch(invoice.row.id, show);
  // The session's own beat would never stop where the caller left before it began.
  const beat = setInterval(() => response.writableEnded || response.write(':\n\n'), beatMs);
  stop = () => {
    clearInterval(beat);
    unwatch();
  };
  show(invoice);
  if (deps.lifecycle.isDraining) response.end();
}

/** One more open stream of `key`, until the returned function is called. Throws RATE_LIMITED. */
function takeSlot(key: string, { metrics }: Pick<ApiDeps, 'metrics'>): () => void {
  const mine = open.get(key) ?? 0;
  if (mine >= perAddress || total >= perProcess)
    throw new DomainError('RATE_LIMITED', undefined, { retryAfterSeconds: 10 });
  open.set(key, mine + 1);
  metrics.streams.set((total += 1));
  return () => {
    const left = (open.get(key) ?? 1) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
    metrics.streams.set((total -= 1));
  };
}
