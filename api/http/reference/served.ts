import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Config } from '../../../domain/config';
import { openApiDocument } from '../openapi';
import type { Answer, Route } from '../route';
import type { Examples } from './examples';
import type { Part } from './parts';

/** The document as bytes that are made once, each way that clients take it. */
type Served = Readonly<{ plain: Buffer; br: Buffer; gzip: Buffer; tag: string }>;

const recorded = JSON.parse(readFileSync(join(__dirname, 'recorded.json'), 'utf8')) as Examples;

function make(routes: readonly Route[], config: Pick<Config, 'API_URL'>, part: Part): Served {
  const plain = Buffer.from(JSON.stringify(openApiDocument(routes, config, recorded, part)));
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
  return { plain, br: brotliCompressSync(plain, quality), gzip: gzipSync(plain, { level: 9 }), tag };
}

const made = new Map<Part, Readonly<{ routes: readonly Route[]; url: string; served: Served }>>();
function servedOf(routes: readonly Route[], config: Pick<Config, 'API_URL'>, part: Part): Served {
  const known = made.get(part);
  if (known?.routes === routes && known.url === config.API_URL) return known.served;
  const served = make(routes, config, part);
  made.set(part, { routes, url: config.API_URL, served });
  return served;
}

/** Whether an `Accept-Encoding` takes an encoding. */
const takes = (accepted: string, encoding: string): boolean =>
  accepted.split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });

/** The document of a part, compressed where the caller takes that, or 304. */
export function answerDocument(
  routes: readonly Route[],
  config: Pick<Config, 'API_URL'>,
  part: Part,
  header: (name: string) => string | undefined,
): Answer {
  const served = servedOf(routes, config, part);
  const accepted = header('accept-encoding') ?? '';
  const encoding = (['br', 'gzip'] as const).find((name) => takes(accepted, name));
  const etag = `"${served.tag}${encoding ? `-${encoding}` : ''}"`;
  const headers = {
    ETag: etag,
    'Cache-Control': 'public, max-age=60',
    'Access-Control-Allow-Origin': '*',
    Vary: 'Accept-Encoding',
  };
  const known = (header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  if (known.includes(etag) || known.includes('*')) return { status: 304, empty: true, headers };
  if (!encoding) return { text: served.plain, type: 'application/json', headers };
  return { text: served[encoding], type: 'application/json', headers: { ...headers, 'Content-Encoding': encoding } };
}
