/** Lightning addresses (LUD-16), which look like those of mail: their host is asked over https for an invoice of an
 *  amount (LUD-06). What it answers is somebody else's text, and is held against what was asked. */

/** Where the host of an address says how it is paid. */
export function payRequestUrl(address: string): string {
  const [user = '', host = ''] = address.split('@');
  return `https://${host}/.well-known/lnurlp/${encodeURIComponent(user)}`;
}

export type LnurlAnswer<T> = Readonly<{ fault: string }> | (T & Readonly<{ fault?: undefined }>);

/** How an address is paid: where an invoice of `msat` is asked for, and the text whose hash the invoice must have. */
export function readPayRequest(body: string, msat: bigint): LnurlAnswer<{ invoiceUrl: string; metadata: string }> {
  const answer = fieldsIn(body);
  const refusal = refusalIn(answer);
  if (refusal) return { fault: refusal };
  const { tag, callback, metadata, minSendable: least, maxSendable: most } = answer;
  if (tag !== 'payRequest' || typeof callback !== 'string' || typeof metadata !== 'string')
    return { fault: 'it tells of no way to pay it' };
  const url = URL.parse(callback);
  if (!url) return { fault: 'it names no place that gives invoices' };
  if (!isAmount(least) || !isAmount(most)) return { fault: 'it names no amounts' };
  if (msat < BigInt(least) || msat > BigInt(most))
    return { fault: `it takes ${BigInt(least) / 1000n} to ${BigInt(most) / 1000n} satoshi` };
  url.searchParams.set('amount', msat.toString());
  return { invoiceUrl: url.toString(), metadata };
}

/** The invoice in the answer of that place. */
export function readInvoiceAnswer(body: string): LnurlAnswer<{ invoice: string }> {
  const answer = fieldsIn(body);
  const refusal = refusalIn(answer);
  if (refusal) return { fault: refusal };
  return typeof answer['pr'] === 'string' ? { invoice: answer['pr'] } : { fault: 'it gives no invoice' };
}

type Fields = Readonly<Record<string, unknown>>;

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

function fieldsIn(body: string): Fields {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

/** What it says is wrong, where it says so; its words are not shown to anybody. */
const refusalIn = ({ status }: Fields): string | null =>
  typeof status === 'string' && status.toUpperCase() === 'ERROR' ? 'it refuses' : null;
