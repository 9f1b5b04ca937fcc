import { ApiError, ConnectionError } from '@crypto-payment-service/sdk';

/** What a person can put right: told in one line, without a stack. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly code = 'USAGE',
  ) {
    super(message);
    this.name = 'Refusal';
  }
}

export type Told = Readonly<{ code: string; message: string; requestId?: string; hint?: string }>;

const hints: Readonly<Record<string, string>> = {
  INVALID_API_KEY: 'Log in with another key: crypto-payments login --help',
  INVALID_TOKEN: 'Log in with a secret key: crypto-payments login --help',
  IP_NOT_ALLOWED: 'The key may be used from other addresses only: see its settings in the dashboard',
  MERCHANT_INACTIVE: 'Ask the operator of this instance',
  PAYMENT_CREATION_FAILED: 'The reason: crypto-payments logs show <request id>',
  RATE_LIMITED: 'Try again in a minute',
};

function hintOf(error: ApiError): string | undefined {
  const scope = error.data['requiredScope'];
  if (error.code === 'INSUFFICIENT_SCOPE' && typeof scope === 'string') return `The key needs the scope ${scope}`;
  if (error.code === 'PAYMENT_CREATION_FAILED' && error.requestId)
    return `The reason: crypto-payments logs show ${error.requestId}`;
  return hints[error.code];
}

/** An error as it is told to a person or, with `--json`, to a program. */
export function told(error: unknown): Told {
  if (error instanceof ApiError) {
    const { code, message, requestId } = error;
    return { code, message, requestId, hint: hintOf(error) };
  }
  if (error instanceof ConnectionError)
    return {
      code: 'NO_ANSWER',
      message: error.message,
      hint: 'Is the service running? A sandbox is started by npm start',
    };
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  return { code: 'FAILED', message: error instanceof Error ? error.message : String(error) };
}
