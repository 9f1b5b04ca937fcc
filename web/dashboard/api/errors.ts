/** A refusal of the API, or of the network, as pages show it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    told: Readonly<{
      status: number;
      code: string;
      message: string;
      requestId?: string | null;
      retryAfterSeconds?: number | null;
      details?: Readonly<Record<string, unknown>>;
    }>,
  ) {
    super(told.message);
    this.status = told.status;
    this.code = told.code;
    this.requestId = told.requestId ?? null;
    this.retryAfterSeconds = told.retryAfterSeconds ?? null;
    this.details = told.details ?? {};
  }
}

const expired = 'Invalid or expired token';

/** Whether an answer says that the session is over. Leaves the body to its reader. */
export async function isExpired(answer: Response): Promise<boolean> {
  if (answer.status !== 401) return false;
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => null);
  return (body as { error?: unknown } | null)?.error === expired;
}

/** Both envelopes have an `error`: an object with a code, a code alone, or a sentence. */
export function readError(response: Response, body: unknown): ApiError {
  const error = (body as { error?: unknown } | undefined)?.error;
  const retryAfter = response.headers.get('Retry-After');
  const shared = {
    status: response.status,
    requestId: response.headers.get('X-Request-Id'),
    retryAfterSeconds: retryAfter === null ? null : Number.parseInt(retryAfter, 10),
  };
  if (typeof error === 'object' && error !== null && 'code' in error) {
    const { code, message, ...details } = error as { code: string; message: string };
    return new ApiError({ ...shared, code, message, details });
  }
  const { error: _, ...details } = (body ?? {}) as Record<string, unknown>;
  // Some refusals are flat: a code, a message and what belongs to it.
  if (typeof error === 'string' && /^[A-Z_]+$/.test(error))
    return new ApiError({ ...shared, code: error, message: String(details['message'] ?? ''), details });
  return new ApiError({ ...shared, code: `HTTP_${response.status}`, message: String(error ?? ''), details });
}
