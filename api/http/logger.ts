import pino, { type Logger } from 'pino';
import { DomainError } from '../../domain/errors';

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

const secrets = ['authorization', 'cookie', 'apiKey', 'password', 'secret', 'token', 'ipnSecret'];

/** JSON lines on standard output. What could be a secret is blacked out wherever it stands. */
export const createLogger = (level: string): Logger =>
  pino({
    level,
    base: { service: 'api' },
    serializers: { err: describe },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  });
