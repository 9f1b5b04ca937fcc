/** PostgreSQL is away, full or not answering: nothing is wrong with the request. */
const unavailable = [
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/,
  /^(08\d\d\d|57P0[1-5]|57014|55P03|53\d\d\d|25006|40001|40P01|58030)$/,
];
/** What the driver says without a code. */
const lostConnection = [
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error/i,
  /Query read timeout|Driver not Connected/i,
];
const isAny = (text: string, patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(text));

/** Whether an error says so: whoever asks again later may be answered. */
export function isUnavailable(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && isAny(code, unavailable)) return true;
  return typeof message === 'string' && isAny(message, lostConnection);
}
