/** Every refusal the service knows: its status, its envelope, whether trying again can help, and its words.
 *  Read by the envelopes, by the retry policies (`finalErrors`) and by the API reference. Contract: 7, G15.
 *  as: the code that is told, where several rows share one.
 *  shape: 'A' and 'B' are fixed by the specification; 'route' takes the envelope of the route. */
type Row = { status: number; final: boolean; shape: 'A' | 'B' | 'flat' | 'route'; message: string; as?: string };
export const errorTable = {
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

  INVALID_TOKEN: { status: 401, final: true, shape: 'B', message: 'Invalid or expired token' },
  INVALID_API_KEY: { status: 401, final: true, shape: 'B', message: 'Invalid API key' },
  INSUFFICIENT_SCOPE: { status: 403, final: true, shape: 'B', message: 'Insufficient scope' },
  MERCHANT_INACTIVE: { status: 403, final: true, shape: 'B', message: 'Merchant account is not active' },
  IP_NOT_ALLOWED: { status: 403, final: true, shape: 'B', message: 'IP address not allowed' },

  CSRF_ORIGIN_MISMATCH: { status: 403, final: true, shape: 'A', message: 'Forbidden' },
  FORBIDDEN: { status: 403, final: true, shape: 'route', message: 'Forbidden' },
  NO_MERCHANT_CONTEXT: { status: 400, final: true, shape: 'route', message: 'No merchant context' },
  INSUFFICIENT_PERMISSION: { status: 403, final: true, shape: 'B', message: 'Insufficient permission' },

  FACTOR_MISSING: {
    status: 400,
    final: true,
    shape: 'A',
    as: 'VERIFICATION_FAILED',
    message: 'An email code, OTP or passkey is required',
  },
  FACTOR_WRONG: {
    status: 401,
    final: true,
    shape: 'A',
    as: 'VERIFICATION_FAILED',
    message: 'The email code, OTP or passkey is wrong, used or expired',
  },
  FACTOR_NOT_ENROLLED: {
    status: 403,
    final: true,
    shape: 'A',
    as: 'VERIFICATION_FAILED',
    message: 'No authenticator is enrolled for this account',
  },
  FACTOR_LOCKED: {
    status: 429,
    final: false,
    shape: 'A',
    as: 'VERIFICATION_FAILED',
    message: 'Too many wrong codes; wait, or ask for a new one',
  },
  MFA_SETUP_REQUIRED: { status: 403, final: true, shape: 'A', message: 'Enrol an authenticator or a passkey first' },
  TOTP_MISCONFIGURED: {
    status: 403,
    final: true,
    shape: 'A',
    message: 'The authenticator is not usable; enrol it again',
  },
  USER_NOT_FOUND: { status: 401, final: true, shape: 'A', message: 'The user no longer exists' },

  INVALID_CREDENTIALS: { status: 401, final: true, shape: 'B', message: 'Invalid credentials' },
  INVALID_CODE: { status: 401, final: true, shape: 'B', message: 'Invalid code' },
  PASSKEY_REFUSED: { status: 401, final: true, shape: 'B', message: 'The passkey was not accepted' },
  ACCOUNT_SUSPENDED: { status: 403, final: true, shape: 'B', message: 'Account suspended' },
  INVALID_VERIFICATION_CODE: { status: 400, final: true, shape: 'B', message: 'Invalid or expired verification code' },
  INVALID_RESET_TOKEN: { status: 400, final: true, shape: 'B', message: 'Invalid or expired reset link' },
  VERIFICATION_EMAIL_NOT_SENT: {
    status: 502,
    final: false,
    shape: 'A',
    message: 'The account was created, but its verification email could not be sent; ask for another one',
  },
  REGISTRATION_CLOSED: { status: 403, final: true, shape: 'A', message: 'Registration is closed' },
  INVALID_INVITATION: { status: 400, final: true, shape: 'A', message: 'Invalid or expired invitation' },
  INVITATION_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Invitation not found' },
  ALREADY_MEMBER: { status: 409, final: true, shape: 'A', message: 'Already a member of this team' },
  MEMBER_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Member not found' },
  LAST_ADMIN: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'The last admin can be neither removed nor made inactive',
  },
  GRANT_REFUSED: { status: 403, final: true, shape: 'A', message: 'Nobody can grant what they lack' },
  API_KEY_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'API key not found' },
  WEBHOOK_ENDPOINT_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Webhook endpoint not found' },
  WEBHOOK_ENDPOINT_INACTIVE: { status: 409, final: true, shape: 'A', message: 'The webhook endpoint is switched off' },
  TOO_MANY_ENDPOINTS: { status: 409, final: true, shape: 'A', message: 'No more webhook endpoints can be added' },
  DELIVERY_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Delivery not found' },
  EVENT_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Event not found' },
  PASSKEY_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Passkey not found' },
  SESSION_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Session not found' },
  OPERATOR_REQUEST_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Operator request not found' },
  OPERATOR_REQUEST_ENDED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'The request was executed or cancelled, or it has expired',
  },
  OPERATOR_REQUEST_OPEN: { status: 409, final: true, shape: 'A', message: 'The same request is open already' },
  CONFIRMATION_REFUSED: { status: 403, final: true, shape: 'A', message: 'Somebody else must confirm this request' },
  ACT_REFUSED: { status: 409, final: true, shape: 'A', message: 'The act is not possible now' },
  MERCHANT_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Merchant not found' },
  INVALID_ID: { status: 400, final: true, shape: 'A', message: 'Invalid ID format' },

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
  INVALID_PAYMENT_ID: { status: 400, final: true, shape: 'B', message: 'Invalid ID format' },
  PAYMENT_NOT_FOUND: { status: 404, final: true, shape: 'route', message: 'Payment not found' },
  INVALID_STATE: { status: 409, final: true, shape: 'A', message: 'The payment is not in a state that allows this' },
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

  INVALID_ADDRESS: { status: 400, final: true, shape: 'A', message: 'Not an address of this network' },
  LIABILITY_TREE_NOT_FOUND: {
    status: 404,
    final: true,
    shape: 'route',
    message: 'No proof of liabilities has been made yet',
  },
  STATEMENT_TOO_LONG: {
    status: 400,
    final: true,
    shape: 'A',
    message: 'A statement has at most 10,000 lines: ask for a shorter period or one currency, or for format=csv',
  },
  INVALID_IP: { status: 400, final: true, shape: 'A', message: 'Not an IP address or CIDR range' },
  IP_NOT_WHITELISTED: {
    status: 403,
    final: true,
    shape: 'A',
    message: 'Your IP address is not on the withdrawal whitelist',
  },
  ALREADY_WHITELISTED: { status: 409, final: true, shape: 'A', message: 'It is on the whitelist already' },
  WHITELIST_REMOVE_FAILED: { status: 404, final: true, shape: 'A', message: 'Whitelist entry not found' },
  WALLET_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Wallet not found' },
  SETTLEMENT_STATE: {
    status: 409,
    final: true,
    shape: 'route',
    as: 'INVALID_STATE',
    message: 'No change of this wallet waits, or it has ended already',
  },
  STOP_LINK_NOT_FOUND: { status: 404, final: true, shape: 'B', message: 'Change not found' },
  WALLET_EXISTS: { status: 409, final: true, shape: 'A', message: 'An active wallet for this currency exists' },

  REFUND_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Refund not found' },
  REFUND_NOT_ALLOWED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'This payment holds nothing that can be refunded',
  },
  REFUND_STATE: {
    status: 409,
    final: true,
    shape: 'A',
    as: 'INVALID_STATE',
    message: 'The refund is not in a state that allows this',
  },
  REFUND_CAP_REACHED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'The daily cap of refunds does not allow it; see the settings',
  },
  REFUND_ADDRESS_LOCKED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'Money has come or the payment has ended: from now on a user of the merchant decides',
  },
  CLAIM_NOT_FOUND: { status: 404, final: true, shape: 'B', message: 'Refund not found' },
  WITHDRAWAL_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Withdrawal not found' },
  WITHDRAWAL_STATE: {
    status: 409,
    final: true,
    shape: 'A',
    as: 'INVALID_STATE',
    message: 'The withdrawal is not in a state that allows this',
  },
  ADDRESS_NOT_WHITELISTED: {
    status: 400,
    final: true,
    shape: 'A',
    message: 'This address is not on the whitelist, or does not count yet',
  },
  REFUND_EXCEEDS_PAID: { status: 400, final: true, shape: 'A', message: 'Refunds may not exceed what was received' },
  INSUFFICIENT_BALANCE: { status: 400, final: true, shape: 'A', message: 'The balance does not cover it' },
  BELOW_MINIMUM: { status: 400, final: true, shape: 'A', message: 'Too little is left after the network fee' },
  EGRESS_FROZEN: { status: 403, final: true, shape: 'A', message: 'Sending this currency is stopped for now' },
  EGRESS_LIMIT: {
    status: 403,
    final: true,
    shape: 'A',
    as: 'EGRESS_LIMIT_EXCEEDED',
    message: 'It exceeds what may be sent within a day or an hour',
  },
  KEY_LIMIT: {
    status: 403,
    final: true,
    shape: 'A',
    as: 'API_KEY_LIMIT_EXCEEDED',
    message: 'It exceeds what this key may convert within a day',
  },
  SECOND_PERSON: {
    status: 403,
    final: true,
    shape: 'A',
    as: 'SECOND_PERSON_REQUIRED',
    message: 'Somebody else than who asked for it must approve it',
  },
  APPROVER_TOO_NEW: { status: 403, final: true, shape: 'A', message: 'Your right to approve is too new to count yet' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'This Idempotency-Key came with another body before',
  },

  SAME_CURRENCY: { status: 400, final: true, shape: 'A', message: 'fromCurrency and toCurrency must differ' },
  QUOTE_FAILED: { status: 400, final: true, shape: 'A', message: 'Quote failed' },
  CONVERSION_FAILED: { status: 400, final: true, shape: 'A', message: 'Conversion failed' },
  CONVERSIONS_DISABLED: { status: 403, final: true, shape: 'flat', message: 'Conversions are switched off at present' },
  BEST_ROUTE_DISABLED: {
    status: 403,
    final: true,
    shape: 'A',
    as: 'CONVERSIONS_DISABLED',
    message: 'Conversions are switched off at present',
  },
  NO_SCOPE: { status: 400, final: true, shape: 'A', message: 'No merchant context' },
  RATE_DRIFT: {
    status: 409,
    final: true,
    shape: 'flat',
    message: 'The market moved by more than 1 % since the quote; look at the new one',
  },
  CONVERSION_IN_PROGRESS: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'A conversion with this idempotencyKey is under way; ask again with the same key',
  },
  IDEMPOTENCY_KEY_CONSUMED: {
    status: 409,
    final: true,
    shape: 'A',
    message: 'This idempotencyKey has executed a conversion; look it up instead of repeating it',
  },
  INVALID_CONVERSION_ID: { status: 400, final: true, shape: 'A', message: 'The conversion id could not be resolved' },
  CONVERSION_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Conversion not found' },
  MFA_REQUIRED: { status: 400, final: true, shape: 'A', message: 'An otpCode or a passkey is required' },
  /** A wrong factor of an execution is told flat. Contract: 7.2. */
  CONVERSION_FACTOR_WRONG: {
    status: 401,
    final: true,
    shape: 'B',
    message: 'The OTP or passkey is wrong, used or expired',
  },
  CONVERSION_FACTOR_NOT_ENROLLED: {
    status: 403,
    final: true,
    shape: 'B',
    message: 'No authenticator is enrolled for this account',
  },
  CONVERSION_FACTOR_LOCKED: { status: 429, final: false, shape: 'B', message: 'Too many wrong codes; wait' },
  BATCH_INVALID: {
    status: 400,
    final: true,
    shape: 'A',
    message: 'Rows of the batch cannot be paid; nothing was queued',
  },
  BATCH_STATE: {
    status: 409,
    final: true,
    shape: 'A',
    as: 'INVALID_STATE',
    message: 'The mass payout is not in a state that allows this',
  },
  BATCH_NOT_FOUND: { status: 404, final: true, shape: 'A', message: 'Mass payout not found' },
  BATCH_NOT_CANCELLABLE: { status: 409, final: true, shape: 'A', message: 'Nothing of it can be called back any more' },
  CSV_INVALID: { status: 400, final: true, shape: 'A', message: 'Not a CSV file of payouts' },

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

export type ErrorCode = keyof typeof errorTable;

/** What a route that needs a second factor can answer. Contract: 7.2. */
export const factorRefusals: readonly ErrorCode[] = [
  'FACTOR_MISSING',
  'FACTOR_WRONG',
  'FACTOR_NOT_ENROLLED',
  'FACTOR_LOCKED',
  'TOTP_MISCONFIGURED',
];

/** Codes that no retry can mend: Temporal ends an activity at once on these. */
export const finalErrors: ErrorCode[] = (Object.keys(errorTable) as ErrorCode[]).filter(
  (code) => errorTable[code].final,
);

/** A refusal by its code. `details` go into a flat body only where the specification names them, never stack or internals. */
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
