import type { Row } from './row';

/** Of any request, and of the inside of the service. */
export const generalErrors = {
  VALIDATION_ERROR: { status: 400, final: true, shape: 'A', message: 'The request does not fit its schema' },
  MALFORMED_JSON: { status: 400, final: true, shape: 'route', message: 'The body is not valid JSON' },
  BODY_TOO_LARGE: { status: 413, final: true, shape: 'route', message: 'The body is too large' },
  UNSUPPORTED_ENCODING: {
    status: 415,
    final: true,
    shape: 'route',
    message: 'Content-Encoding is not accepted on requests',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    final: true,
    shape: 'route',
    message: 'This Content-Type is not accepted here',
  },
  INVALID_LOGO: {
    status: 400,
    final: true,
    shape: 'A',
    message: 'The logo must be a PNG or SVG file of at most 100 KB',
  },
  UNKNOWN_HOST: { status: 400, final: true, shape: 'route', message: 'Unknown host' },
  NOT_FOUND: { status: 404, final: true, shape: 'route', message: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, final: true, shape: 'route', message: 'Method not allowed' },
  RATE_LIMITED: { status: 429, final: false, shape: 'A', message: 'Too many requests' },
  INTERNAL_ERROR: { status: 500, final: false, shape: 'A', message: 'Internal error' },
  UPSTREAM_UNAVAILABLE: {
    status: 503,
    final: false,
    shape: 'A',
    message: 'Temporarily unavailable, try again shortly',
  },
  OUTCOME_UNKNOWN: {
    status: 503,
    final: false,
    shape: 'A',
    message: 'No answer in time; read the payment again before repeating',
  },

  RATE_UNAVAILABLE: { status: 503, final: false, shape: 'A', message: 'No fresh rate, try again shortly' },
  NODE_UNREACHABLE: { status: 503, final: false, shape: 'route', message: 'Temporarily unavailable' },
  JOURNAL_CONFLICT: { status: 500, final: true, shape: 'route', message: 'A journal with this key has other content' },
  INSUFFICIENT_FUNDS: { status: 500, final: false, shape: 'route', message: 'A guarded balance would fall below zero' },
  PLAN_UNBALANCED: {
    status: 500,
    final: true,
    shape: 'route',
    message: 'Inputs, outputs and fee of a transaction do not add up',
  },
  KEY_MISMATCH: {
    status: 500,
    final: true,
    shape: 'route',
    message: 'The derived key does not give the stated address',
  },
  INTENT_MISMATCH: {
    status: 500,
    final: true,
    shape: 'route',
    message: 'The transaction does not match its recorded intent',
  },
  WALLET_FROZEN: {
    status: 500,
    final: false,
    shape: 'route',
    message: 'The wallet is frozen until an operator has looked',
  },
} as const satisfies Record<string, Row>;
