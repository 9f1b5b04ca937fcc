import axios from 'axios';
import { categoryOf, type Finding, type ScreeningProvider } from '../../domain/screening/screening';

const answerLimit = 256 * 1024;

type Options = Readonly<{
  /** Without a path: https://public.chainalysis.com */
  url: string;
  apiKey: string;
  /** Whole time that one answer may take. */
  timeoutMs?: number;
  /** For operators; never the key. */
  warn?: (reason: string) => void;
}>;

/** The sanctions API of Chainalysis: an address is on a sanctions list, or nothing is known of it. It knows addresses
 *  of every network by their text alone. `GET /api/v1/address/{address}`, key in `X-API-Key`; 5000 requests in 5
 *  minutes. */
export function chainalysisProvider({ url, apiKey, timeoutMs = 4000, warn }: Options): ScreeningProvider {
  const unavailable = (reason: string): Finding => {
    warn?.(reason);
    return { outcome: 'unavailable', reason };
  };
  return {
    name: 'chainalysis',
    async screen(address) {
      if (address.startsWith('script:')) return unavailable('A source has no address');
      // Ethereum's capitals are a checksum only; the API's documentation writes them small.
      const written = address.startsWith('0x') ? address.toLowerCase() : address;
      const deadline = AbortSignal.timeout(timeoutMs);
      try {
        const response = await axios.get<unknown>(new URL(`/api/v1/address/${encodeURIComponent(written)}`, url).href, {
          headers: { 'X-API-Key': apiKey, Accept: 'application/json' },
          signal: deadline,
          timeout: timeoutMs,
          maxContentLength: answerLimit,
          maxRedirects: 0,
          proxy: false,
          responseType: 'json',
          validateStatus: () => true,
        });
        if (response.status !== 200) return unavailable(`The screening provider answered HTTP ${response.status}`);
        return findingOf(response.data) ?? unavailable('The screening provider answered something else than a result');
      } catch (error) {
        const isLate = deadline.aborted || (error as { code?: string }).code === 'ECONNABORTED';
        return unavailable(
          isLate ? 'The screening provider did not answer in time' : 'The screening provider cannot be reached',
        );
      }
    },
  };
}

/** `{identifications: [{category, name, description, url}]}`, empty where nothing is known; null for anything else. */
function findingOf(data: unknown): Finding | null {
  const found = (data as { identifications?: unknown } | null)?.identifications;
  if (!Array.isArray(found)) return null;
  const categories: string[] = [];
  for (const one of found as Array<{ category?: unknown } | null>) {
    if (typeof one?.category !== 'string') return null;
    categories.push(categoryOf(one.category) || 'sanctions');
  }
  return { outcome: 'answered', score: categories.length ? 100 : 0, categories };
}
