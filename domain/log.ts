import type { Logger } from 'pino';
import { DomainError } from './errors';
import { isTracing, traceIdOf, traceparentNow } from './tracing';

/** What all processes log by: JSON lines on standard output, a level for each subject, and no secrets. */

/** Names under which a secret may stand, at the top of a line or below. */
const secretNames = [
  'authorization',
  'cookie',
  'apiKey',
  'password',
  'secret',
  'token',
  'ipnSecret',
  'seed',
  'mnemonic',
];

const censored = '[redacted]';

/** Secrets by their shape, wherever they stand in a line. The hex of tokens in links and of raw private keys has the
 *  shape of a transaction's id: these are told by their names alone. */
const shapes: ReadonlyArray<readonly [shape: RegExp, instead: string]> = [
  // Our secret keys and webhook secrets; publishable keys are public.
  [/\bsvc_(live|test)_\w{8,}/g, censored],
  [/\bwhsec_[\w+/=-]{8,}/g, censored],
  [/\b(Bearer|Basic) [\w.~+/=-]{8,}/gi, `$1 ${censored}`],
  // Tokens of sessions and others that are signed; secrets sealed under SECRETS_KEY.
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g, censored],
  [/\bv1\.[\w-]{16}\.[\w-]{22}\.[\w-]+/g, censored],
  // The password in the address of a database, a node or a mail server.
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"\\]*):[^\s/@"\\]+@/gi, `$1:${censored}@`],
  // Tokens in the query or the fragment of an address.
  [/([?&#](?:token|key|secret|api_?key|password)=)[^&\s"\\]+/gi, `$1${censored}`],
  // Extended private keys, private keys for import, and the words of a seed.
  [/\b[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]{100,112}\b/g, censored],
  [/\b([56][1-9A-HJ-NP-Za-km-z]{50}|[KLTc][1-9A-HJ-NP-Za-km-z]{51})\b/g, censored],
  [/\b([a-z]{3,8} ){11,23}[a-z]{3,8}\b/g, censored],
];

/** A line without what has the shape of a secret. */
export const redacted = (line: string): string =>
  shapes.reduce((text, [shape, instead]) => text.replace(shape, instead), line);

/** Of an error what helps, and none of the values a statement carried. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(error instanceof DomainError && Object.keys(error.details).length ? { details: error.details } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describe(error.cause) }),
  };
}

/** The trace that a line is written in. */
const traceOfLine = () => {
  const traceId = traceIdOf(traceparentNow());
  return traceId === undefined ? {} : { traceId };
};

/** The options of pino in every process; made once it is known whether it records traces. `base`: what each line of the
 *  process says. */
export const logOptions = <Base extends object>(level: string, base: Base) => ({
  level,
  base,
  serializers: { err: describe },
  redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: censored },
  hooks: { streamWrite: redacted },
  ...(isTracing() ? { mixin: traceOfLine } : {}),
});

/** What may have a level of its own: requests of the API, events, attempts at deliveries, and what chains are like. */
export const logSubjects = ['requests', 'events', 'deliveries', 'chains'] as const;
type LogSubject = (typeof logSubjects)[number];

const pair = `(${logSubjects.join('|')})=(fatal|error|warn|info|debug|trace|silent)`;
/** `deliveries=debug,requests=warn`. */
export const logLevelsPattern = `^(${pair}(, *${pair})*)?$`;

/** The log of a subject, at the level that `levels`, as the pattern has it, names for it, or at that of `log`. */
export function logOf(log: Logger, subject: LogSubject, levels: string): Logger {
  const level = levels
    .split(',')
    .map((one) => one.trim().split('='))
    .find(([name]) => name === subject)?.[1];
  return log.child({ subject }, level === undefined ? {} : { level });
}
