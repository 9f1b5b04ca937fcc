import { DomainError, errorTable, type ErrorCode } from '../../domain/errors';
import { isUnavailable } from '../../db/unavailable';

/** The only place where an error becomes a response. Contract: 7. */

export type Envelope = 'A' | 'B';
export type ErrorResponse = Readonly<{
  status: number;
  body: Readonly<Record<string, unknown>>;
  headers: Readonly<Record<string, string>>;
  /** The code that is answered. */
  code: ErrorCode;
  /** Its name in the answer: several codes share one. */
  publicCode: string;
  /** Whether it is our fault, and belongs in the log whole. */
  isOurs: boolean;
}>;

/** Codes that are told under another name. Contract: G15. */
const publicCodes: Partial<Record<ErrorCode, ErrorCode>> = {
  RATE_UNAVAILABLE: 'UPSTREAM_UNAVAILABLE',
  NODE_UNREACHABLE: 'UPSTREAM_UNAVAILABLE',
};
/** Details that belong in the body. */
const publicDetails: Partial<Record<ErrorCode, readonly string[]>> = {
  INSUFFICIENT_SCOPE: ['requiredScope'],
  INSUFFICIENT_PERMISSION: ['requiredPermission'],
  RATE_DRIFT: ['driftPct', 'newQuote'],
  BATCH_INVALID: ['rows'],
  FACTOR_VOID: ['reason'],
};
/** Codes whose own message may be told: it is about the request, and written for merchants. */
export const ownMessage: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'MALFORMED_JSON',
  'QUOTE_FAILED',
  'CONVERSION_FAILED',
  'CSV_INVALID',
  'DONOR_FIELD_REQUIRED',
  'INVALID_ADDRESS',
  'SCENARIO_REFUSED',
  'SIMULATION_UNAVAILABLE',
];

function asDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  return new DomainError(isUnavailable(error) ? 'UPSTREAM_UNAVAILABLE' : 'INTERNAL_ERROR');
}

/** What callers know a code as. */
export const publicName = (code: ErrorCode): string => (errorTable[code] as { as?: string }).as ?? code;

/** The response to `error` on a route with `envelope`. Of what is our fault nothing is told but the request id. */
export function errorResponse(error: unknown, envelope: Envelope, requestId: string): ErrorResponse {
  const domain = asDomainError(error);
  const code = publicCodes[domain.code] ?? domain.code;
  const row = errorTable[code];
  const isInternal = row.status === 500;
  const shownCode: ErrorCode = isInternal ? 'INTERNAL_ERROR' : code;
  const message = ownMessage.includes(code) && !isInternal ? domain.message : errorTable[shownCode].message;
  const details = Object.fromEntries((publicDetails[shownCode] ?? []).map((name) => [name, domain.details[name]]));
  const shape = errorTable[shownCode].shape;
  const name = publicName(shownCode);
  const isA = shape === 'A' || (shape === 'route' && envelope === 'A');
  const retryAfter = domain.details['retryAfterSeconds'];
  const headers: Record<string, string> = {};
  if (typeof retryAfter === 'number') headers['Retry-After'] = String(retryAfter);
  else if (row.status === 503) headers['Retry-After'] = '1';
  if (row.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  return {
    status: errorTable[shownCode].status,
    body: isA
      ? {
          ok: false,
          error: { code: name, message, ...(isInternal ? { requestId } : {}), ...details },
        }
      : shape === 'flat'
        ? { error: name, message, ...details }
        : { error: message, ...details },
    headers,
    code: shownCode,
    publicCode: name,
    isOurs: row.status >= 500,
  };
}
