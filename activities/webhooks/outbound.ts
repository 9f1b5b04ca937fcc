import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import axios from 'axios';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { checkCallbackUrl, isNeverAsked, isVeiled } from '../../domain/webhooks/callback-url';
import { DomainError } from '../../domain/errors';

/** What a request to somebody else's server came to; `error` where no answer came or we would not ask. */
export type Posted = Readonly<{
  statusCode: number | null;
  body: string;
  retryAfterMs: number | null;
  durationMs: number;
  error: string | null;
}>;

const timeoutMs = 15_000;
const readLimit = 64 * 1024;
const keptBody = 2048;
const json = { 'content-type': 'application/json' };

/** `kept`: bytes of the answer that are kept; all that is read unless told. `isBodyNeeded`: an answer that breaks off
 *  is none. */
export type Ask = Readonly<{
  method: 'GET' | 'POST';
  url: string;
  body?: string;
  headers: Readonly<Record<string, string>>;
  /** Lifts the rules on addresses and ports, but for those in `neverAsked`: the sandbox alone. */
  allowInsecure: boolean;
  timeoutMs?: number;
  kept?: number;
  isBodyNeeded?: boolean;
}>;

/** Posts `body` as it is; see `askOutside`. Of the answer the status counts, and the first 2 KB are kept. */
export const postOutside = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  allowInsecure: boolean,
): Promise<Posted> =>
  askOutside({ method: 'POST', url, body, headers, allowInsecure, kept: keptBody, isBodyNeeded: false });

/** The system's look-up, without answers that are public names of other addresses, or that nobody may ask. The
 *  filtering agent compares an address with ranges of its own family only, so it cannot refuse these. */
const guardedLookup: LookupFunction = (name, options, done) =>
  dns.lookup(name, { ...options, all: true }, (error, found) => {
    const barred = found?.find(({ address }) => isVeiled(address) || isNeverAsked(address));
    if (error) done(error, []);
    else if (barred) done(new Error(`DNS lookup ${barred.address}(host:${name}) is not allowed`), []);
    else if (options.all) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  });

/** One request. Without `allowInsecure`: https on an allowed port only, and never to an address that is not public,
 *  checked at the connection itself, so that a name which resolves differently the second time gets none. No redirects,
 *  no proxy, 64 KB read at the most, 15 s in all. Invariants: 7, SSRF. */
export async function askOutside(ask: Ask): Promise<Posted> {
  const { method, url, body, headers, allowInsecure } = ask;
  const limitMs = ask.timeoutMs ?? timeoutMs;
  const startedAt = Date.now();
  const done = (posted: Partial<Posted>): Posted => ({
    statusCode: null,
    body: '',
    retryAfterMs: null,
    error: null,
    ...posted,
    durationMs: Date.now() - startedAt,
  });
  try {
    checkCallbackUrl(url, 'url', { allowedDomains: [], allowInsecure });
  } catch (error) {
    if (error instanceof DomainError) return done({ error: error.message });
    throw error;
  }
  const rules = {
    allowPrivateIPAddress: allowInsecure,
    allowMetaIPAddress: false,
    lookup: guardedLookup,
    keepAlive: false,
  };
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limitMs);
  try {
    const response = await axios.request<NodeJS.ReadableStream>({
      url,
      method,
      data: body === undefined ? undefined : Buffer.from(body, 'utf8'),
      // Answers are read as they come.
      headers: { ...headers, ...(body === undefined ? {} : json), 'accept-encoding': 'identity' },
      httpAgent: new RequestFilteringHttpAgent(rules),
      httpsAgent: new RequestFilteringHttpsAgent(rules),
      maxRedirects: 0,
      proxy: false,
      responseType: 'stream',
      decompress: false,
      timeout: limitMs,
      signal: abort.signal,
      validateStatus: () => true,
    });
    const { bytes, breach } = await readSome(response.data);
    if (breach && (ask.isBodyNeeded ?? true)) throw breach;
    return done({
      statusCode: response.status,
      body: textOf(bytes, ask.kept ?? readLimit),
      retryAfterMs: retryAfter(response.headers['retry-after']),
      error: response.status >= 200 && response.status < 300 ? null : `HTTP ${response.status}`,
    });
  } catch (error) {
    return done({
      error: abort.signal.aborted ? `No answer within ${limitMs / 1000} s` : (error as Error).message.slice(0, 500),
    });
  } finally {
    clearTimeout(timer);
  }
}

/** The beginning of an answer; the rest is not read. `breach`: why it ended before its end. */
async function readSome(stream: NodeJS.ReadableStream): Promise<{ bytes: Buffer; breach: Error | null }> {
  const chunks: Buffer[] = [];
  let length = 0;
  let breach: Error | null = null;
  try {
    for await (const chunk of stream) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length >= readLimit) break;
    }
  } catch (error) {
    breach = error as Error;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, readLimit), breach };
}

/** At most `kept` bytes as text, also when it is written again: what is no text takes more then. No character is cut in
 *  two. */
function textOf(bytes: Buffer, kept: number): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const text = decoder.decode(bytes.subarray(0, kept), { stream: bytes.length > kept }).replaceAll('\u0000', '');
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(kept)).read);
}

/** Milliseconds that a Retry-After header asks for; null where it asks for nothing we understand. */
export function retryAfter(header: unknown): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,6}$/.test(header.trim())) return parseInt(header, 10) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
