import axios from 'axios';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { checkCallbackUrl } from '../domain/callback-url';
import { DomainError } from '../domain/errors';

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

/** `kept`: characters of the answer that are kept; all that is read unless told. */
export type Ask = Readonly<{
  method: 'GET' | 'POST';
  url: string;
  body?: string;
  headers: Readonly<Record<string, string>>;
  /** Lifts the rules on addresses and ports: the sandbox alone. */
  allowInsecure: boolean;
  timeoutMs?: number;
  kept?: number;
}>;

/** Posts `body` as it is; see `askOutside`. Of the answer the first 2 KB are kept. */
export const postOutside = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  allowInsecure: boolean,
): Promise<Posted> => askOutside({ method: 'POST', url, body, headers, allowInsecure, kept: keptBody });

/** One request. Without `allowInsecure`: https on an allowed port only, and never to an address that is not public,
 *  judged at the connection itself, so that a name which resolves differently the second time gets none. No redirects, no proxy,
 *  64 KB read at the most, 15 s in all. Invariants: 7, SSRF. */
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
  const rules = { allowPrivateIPAddress: allowInsecure, allowMetaIPAddress: false, keepAlive: false };
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limitMs);
  try {
    const response = await axios.request<NodeJS.ReadableStream>({
      url,
      method,
      data: body === undefined ? undefined : Buffer.from(body, 'utf8'),
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
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
    const text = await readSome(response.data);
    return done({
      statusCode: response.status,
      body: text.slice(0, ask.kept ?? readLimit),
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

/** The beginning of an answer; the rest is not read. */
async function readSome(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length >= readLimit) break;
  }
  return Buffer.concat(chunks).subarray(0, readLimit).toString('utf8').replaceAll('\u0000', '');
}

/** Milliseconds that a Retry-After header asks for; null where it asks for nothing we understand. */
export function retryAfter(header: unknown): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,6}$/.test(header.trim())) return parseInt(header, 10) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
