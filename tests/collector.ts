import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP in JSON has it; ids in hex. `service`: the process that it is of. */
export type Recorded = Readonly<{
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  attributes: Readonly<Record<string, string | number>>;
  isFault: boolean;
}>;

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number };
type Attribute = { key: string; value: Value };
type Body = {
  resourceSpans: Array<{
    resource: { attributes: Attribute[] };
    scopeSpans: Array<{
      spans: Array<{
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        attributes: Attribute[];
        status: { code?: number };
      }>;
    }>;
  }>;
};

const valuesOf = (attributes: readonly Attribute[]): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  );

/** What an OpenTelemetry collector is to the service: takes spans over OTLP/HTTP in JSON, and notes what else comes. */
export async function startCollector() {
  const spans: Recorded[] = [];
  const types: string[] = [];
  const raw: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const type = request.headers['content-type'] ?? '';
      types.push(`${request.method} ${request.url} ${type}`);
      const text = Buffer.concat(chunks).toString();
      raw.push(text);
      if (type === 'application/json') spans.push(...spansIn(JSON.parse(text) as Body));
      response.setHeader('content-type', type).end(type === 'application/json' ? '{}' : '');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    types,
    /** Everything that came, as it came. */
    raw,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
export type Collector = Awaited<ReturnType<typeof startCollector>>;

const spansIn = ({ resourceSpans }: Body): Recorded[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = '', attributes, status }) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        name,
        traceId,
        spanId,
        parentSpanId,
        attributes: valuesOf(attributes),
        isFault: status.code === 2,
      })),
    ),
  );
