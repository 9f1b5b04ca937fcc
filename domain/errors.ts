import { accessErrors } from './errors/access';
import { generalErrors } from './errors/general';
import { moneyOutErrors } from './errors/money-out';
import { paymentsErrors } from './errors/payments';
import type { Row } from './errors/row';

/** Every refusal by its code. Read by the envelopes, by the retry policies (`finalErrors`) and by the API reference.
 *  Contract: 7, G15. */
export const errorTable = {
  ...generalErrors,
  ...accessErrors,
  ...paymentsErrors,
  ...moneyOutErrors,
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof errorTable;

/** What a route that needs a second factor can answer. Contract: 7.2. */
export const factorRefusals: readonly ErrorCode[] = [
  'FACTOR_MISSING',
  'FACTOR_WRONG',
  'FACTOR_NOT_ENROLLED',
  'FACTOR_LOCKED',
  'FACTOR_VOID',
  'TOTP_MISCONFIGURED',
];

/** Codes that no retry can mend: Temporal ends an activity at once on these. */
export const finalErrors: ErrorCode[] = (Object.keys(errorTable) as ErrorCode[]).filter(
  (code) => errorTable[code].final,
);

/** A refusal by its code. `details` go into a flat body only where the specification names them, never stack or
 *  internals. */
export class DomainError extends Error {
  constructor(
    readonly code: ErrorCode,
    message?: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message ?? errorTable[code].message);
    this.name = 'DomainError';
  }
}
