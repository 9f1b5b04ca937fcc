import { forward, forwardUrl, type Forwarded } from './forward.js';
import type { Output } from './output.js';
import { listenSecret, type Access } from './settings.js';
import { follow, headOf, lineOf, type RawEvent } from './stream.js';

/** Events of the account, shown and forwarded to a server on this machine, in order and each once. One whose answer may
 *  have been lost while this process was stopped is forwarded again: losing it would be worse. */

export type ListenOptions = Readonly<{
  forwardTo?: string;
  events?: string;
  after?: string;
  /** Seconds that an answer may take. */
  timeout?: number;
}>;

const answerOf = ({ status, ms, error }: Forwarded): string =>
  status === null ? `no answer: ${error} [${ms} ms]` : `${status} [${ms} ms]`;

export async function listen(
  access: Access,
  { forwardTo, events, after, timeout }: ListenOptions,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const url = forwardTo === undefined ? undefined : forwardUrl(forwardTo);
  const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
  const from = after ?? (await headOf(access, timeoutMs));
  const secret = listenSecret();
  if (url) output.say(`Forwarding to ${url}, signed with ${secret}`);
  output.result(
    { ready: true, after: from, ...(url ? { forwardTo: url, secret } : {}) },
    `Listening for events behind ${from}. Ctrl-C ends it.`,
  );
  let last = from;
  const stream = follow(access, {
    after: from,
    types: events,
    timeoutMs,
    signal,
    onGone: (error) => output.say(`The API does not answer (${(error as Error).message}): waiting for it`),
    onBack: () => output.say(`The API answers again: going on behind ${last}`),
  });
  for await (const event of stream) {
    const onAgain = (lost: Forwarded): void =>
      output.say(`Event ${event.seq} was not answered (${lost.error}) while this was stopped: forwarding it again`);
    const answer = url ? await forward(url, secret, event, { timeoutMs, signal, onAgain }) : undefined;
    shown(output, event, answer);
    if (signal.aborted && answer?.status === null) break; // it comes again behind `last`
    last = String(event.seq);
  }
  output.say(`Go on from here with --after ${last}`);
}

function shown(output: Output, event: RawEvent, answer: Forwarded | undefined): void {
  const { id, type, seq, raw } = event;
  const value = { seq, id, type, event: JSON.parse(raw) as unknown, ...(answer ? { answer } : {}) };
  output.result(value, answer ? `${lineOf(event)}  → ${answerOf(answer)}` : lineOf(event));
}
