import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSession } from 'better-sse';
import { DomainError } from '../../domain/errors';
import type { ApiDeps } from './deps';

/** Server-sent events. Open streams per caller and per process: each costs a socket, none may cost another caller
 *  theirs. */

const perCaller = 30;
const perProcess = 5000;
const open = new Map<string, number>();
let total = 0;

/** Ends every stream; their clients come back to another copy. */
const sessions = new Set<ServerResponse>();
export const endStreams = (): void => {
  for (const response of sessions) response.end();
};

const headers = { 'Cache-Control': 'no-cache, no-transform', 'X-Accel-Buffering': 'no' };
const beatMs = 15_000;

export type Stream = Readonly<{ push: (data: unknown, id: string) => void; end: () => void }>;
type StreamDeps = Pick<ApiDeps, 'metrics' | 'lifecycle'>;

/** Opens a stream for the caller `key`; what `begin` returns is called once when it is over, however the caller left.
 *  Throws RATE_LIMITED. */
export async function openStream(
  key: string,
  { request, response }: Readonly<{ request: IncomingMessage; response: ServerResponse }>,
  deps: StreamDeps,
  begin: (stream: Stream) => () => void,
): Promise<void> {
  response.statusCode = 200; // Koa starts every answer as 404, and this one is not Koa's to end
  if (request.method === 'HEAD') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...headers }).end();
    return;
  }
  const { socket } = request;
  if (response.destroyed || socket.destroyed) return; // no close comes any more
  const free = takeSlot(key, deps);
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
  // The session's own beat would never stop where the caller left before it began.
  const beat = setInterval(() => response.writableEnded || response.write(':\n\n'), beatMs);
  stop = () => clearInterval(beat);
  const leave = begin({
    push: (data, id) => void (response.writableEnded || session.push(data, 'message', id)),
    end: () => response.end(),
  });
  stop = () => {
    clearInterval(beat);
    leave();
  };
  if (deps.lifecycle.isDraining) response.end();
}

/** One more open stream of `key`, until the returned function is called. Throws RATE_LIMITED. */
function takeSlot(key: string, { metrics }: Pick<ApiDeps, 'metrics'>): () => void {
  const mine = open.get(key) ?? 0;
  if (mine >= perCaller || total >= perProcess)
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
