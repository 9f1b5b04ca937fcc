import type { Row } from './row';

/** Of payments and invoices. */
export const paymentsErrors = {
  RESERVED_IDEMPOTENCY_KEY: {
    status: 400,
    final: true,
    shape: 'route',
    message: 'Invalid Idempotency-Key (reserved namespace)',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    final: true,
    shape: 'route',
    message: 'Invalid Idempotency-Key (1-255 printable ASCII characters, no spaces)',
  },
  CALLBACK_NOT_HTTPS: {
    status: 400,
    final: true,
    shape: 'route',
    message: 'Callback URLs must use HTTPS in production',
  },
  CALLBACK_INTERNAL: {
    status: 400,
    final: true,
    shape: 'route',
    message: 'Callback URLs must not point to internal addresses',
  },
  METADATA_TOO_LARGE: { status: 400, final: true, shape: 'B', message: 'metadata exceeds 8192 bytes' },
  /** One public text for many reasons; `details.reason` goes to the request log only. Contract: 7.2. */
  PAYMENT_CREATION_FAILED: { status: 400, final: true, shape: 'B', message: 'Payment creation failed' },
  /** `INVALID_ID` on the routes of payments that answer in envelope B. Contract: 7.2. */
  INVALID_PAYMENT_ID: { status: 400, final: true, shape: 'B', as: 'INVALID_ID', message: 'Invalid ID format' },
  PAYMENT_NOT_FOUND: { status: 404, final: true, shape: 'route', message: 'Payment not found' },
  INVALID_STATE: { status: 409, final: true, shape: 'A', message: 'The payment is not in a state that allows this' },
  SCENARIO_REFUSED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'The scenario makes no sense for the payment as it is',
  },
  SIMULATION_UNAVAILABLE: { status: 409, final: true, shape: 'A', message: 'Nobody pays by simulation here' },
  RECEIPT_UNAVAILABLE: {
    status: 409,
    final: true,
    shape: 'route',
    message: 'No receipt of this invoice can be sent to this address',
  },
  PAYMENT_NOT_CANCELLABLE: {
    status: 400,
    final: true,
    shape: 'B',
    message: 'Payment not found or cannot be cancelled',
  },
  CURRENCY_NOT_CHANGEABLE: {
    status: 400,
    final: true,
    shape: 'B',
    message: 'Payment not found or currency cannot be changed',
  },
  QUOTE_NOT_REFRESHABLE: {
    status: 400,
    final: true,
    shape: 'B',
    message: 'Payment not found or quote cannot be refreshed',
  },
  INVOICE_NOT_FOUND: { status: 404, final: true, shape: 'B', message: 'Invoice not found' },
  INVALID_CURRENCY: { status: 400, final: true, shape: 'A', message: 'Invalid currency' },
  CURRENCY_NOT_AVAILABLE: { status: 400, final: true, shape: 'A', message: 'Currency not available' },
} as const satisfies Record<string, Row>;
