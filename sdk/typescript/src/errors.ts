import type { ErrorCode, ErrorData } from './generated/resources.js';

/** What can go wrong, as classes that tell whose turn it is. Every answer of the API has its request id. */

/** Everything that this package throws on purpose. */
export class CryptoPaymentsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came: whether the request arrived is unknown. A repeat with the same idempotency key is safe. */
export class ConnectionError extends CryptoPaymentsError {
  constructor(
    message: string,
    /** The key under which the request was sent, to be sent again. */
    readonly idempotencyKey: string | undefined,
    /** Under which the request was sent: names it in the logs of the service, if it arrived. */
    readonly requestId: string,
    options?: ErrorOptions,
  ) {
    super(`${message} (request ${requestId})`, options);
  }
}

export type ApiErrorInit = Readonly<{
  status: number;
  code: string;
  message: string;
  requestId: string;
  retryAfterSeconds: number | undefined;
  data: Readonly<Record<string, unknown>>;
}>;

/** The API refused. `is` tells codes apart, and types what some of them carry. */
export class ApiError<Code extends string = string> extends CryptoPaymentsError {
  readonly status: number;
  readonly code: Code;
  /** Names the request in the logs of the service. */
  readonly requestId: string;
  readonly retryAfterSeconds: number | undefined;
  /** What the refusal carries beside code and message: of RATE_DRIFT a new quote, of BATCH_INVALID the rows. */
  readonly data: Code extends keyof ErrorData ? ErrorData[Code] : Readonly<Record<string, unknown>>;

  constructor(init: ApiErrorInit) {
    super(`${init.message} (${init.code}, request ${init.requestId})`);
    this.status = init.status;
    this.code = init.code as Code;
    this.requestId = init.requestId;
    this.retryAfterSeconds = init.retryAfterSeconds;
    this.data = init.data as typeof this.data;
  }

  is<Wanted extends ErrorCode>(code: Wanted): this is ApiError<Wanted> {
    return (this.code as string) === code;
  }
}
/** 400, 413, 415: the request must change. */
export class InvalidRequestError extends ApiError {}
/** 401: the key is wrong, revoked or expired. */
export class AuthenticationError extends ApiError {}
/** 403: the key may not do this. */
export class PermissionError extends ApiError {}
/** 404: there is no such thing, or it is somebody else's. */
export class NotFoundError extends ApiError {}
/** 409: the state of the resource does not allow it. */
export class ConflictError extends ApiError {}
/** 429: too many requests, retries included. */
export class RateLimitError extends ApiError {}
/** 5xx. */
export class ServerError extends ApiError {}

const classes: Readonly<Record<number, new (init: ApiErrorInit) => ApiError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};
export const apiError = (init: ApiErrorInit): ApiError =>
  new (classes[init.status] ?? (init.status >= 500 ? ServerError : InvalidRequestError))(init);
