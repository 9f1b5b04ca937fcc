import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IdGenerator } from '@opentelemetry/sdk-trace-base';
import type { Logger } from 'pino';
import type { Config } from '../../domain/config';
import {
  readTraceparent,
  useTracer,
  type Attributes,
  type NewSpan,
  type Span,
  type Tracer,
} from '../../domain/tracing';

type Settings = Pick<
  Config,
  | 'OTEL_SDK_DISABLED'
  | 'OTEL_TRACES_EXPORTER'
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_PROTOCOL'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
>;

/** Traces that a process records. */
export type Tracing = Readonly<{
  /** Where it is told that the collector does not take spans. */
  reportTo(log: Pick<Logger, 'warn'>): void;
  /** Sends what it has, for so long as a process that ends may wait. */
  stop(): Promise<void>;
}>;

const graceMs = 3000;
/** A collector that is away is told of once in so long. */
const quietMs = 600_000;

const isWanted = (settings: Settings): boolean =>
  !settings.OTEL_SDK_DISABLED &&
  settings.OTEL_TRACES_EXPORTER !== 'none' &&
  (settings.OTEL_TRACES_EXPORTER === 'otlp' || settings.OTEL_EXPORTER_OTLP_ENDPOINT !== '');

type Packages = Readonly<{
  api: typeof import('@opentelemetry/api');
  sdk: typeof import('@opentelemetry/sdk-trace-base');
  resources: typeof import('@opentelemetry/resources');
  exporter: Pick<typeof import('@opentelemetry/exporter-trace-otlp-proto'), 'OTLPTraceExporter'>;
}>;

/** OpenTelemetry, which only a process that records has in memory. */
async function load(protocol: Settings['OTEL_EXPORTER_OTLP_PROTOCOL']): Promise<Packages> {
  const [api, sdk, resources, exporter] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  return { api, sdk, resources, exporter };
}

/** Records spans from now on where OTEL_* ask for it; null where they do not, and nothing is loaded. `service`: the
 *  name of the process unless OTEL_SERVICE_NAME tells another. All other OTEL_* are read by the SDK. */
export async function startTracing(settings: Settings, service: string): Promise<Tracing | null> {
  if (!isWanted(settings)) return null;
  // The exporter reads the environment alone, and this one may have come from a file.
  if (settings.OTEL_EXPORTER_OTLP_HEADERS) process.env.OTEL_EXPORTER_OTLP_HEADERS = settings.OTEL_EXPORTER_OTLP_HEADERS;
  const packages = await load(settings.OTEL_EXPORTER_OTLP_PROTOCOL);
  const reportTo = reports(packages);
  const { sdk, resources, exporter } = packages;
  const ids = new Ids(new sdk.RandomIdGenerator());
  const provider = new sdk.BasicTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': service }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    // What is recorded is decided once for a trace, by `decider`.
    sampler: new sdk.AlwaysOnSampler(),
    idGenerator: ids,
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter())],
  });
  useTracer(tracerOf(packages, provider, ids));
  return {
    reportTo,
    async stop() {
      useTracer(null);
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(graceMs, undefined, { ref: false })]);
    },
  };
}

/** Spans have random ids, or that of the next one is given. */
class Ids implements IdGenerator {
  private given: string | undefined;

  constructor(private readonly random: IdGenerator) {}

  next(id: string | undefined): void {
    this.given = id;
  }

  generateTraceId(): string {
    return this.random.generateTraceId();
  }

  generateSpanId(): string {
    const id = this.given ?? this.random.generateSpanId();
    this.given = undefined;
    return id;
  }
}

const defined = (attributes: Attributes): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

function tracerOf(
  { api, sdk }: Packages,
  provider: InstanceType<Packages['sdk']['BasicTracerProvider']>,
  ids: Ids,
): Tracer {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } = api;
  const kinds = {
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    producer: SpanKind.PRODUCER,
    internal: SpanKind.INTERNAL,
  } as const;
  const spans = new AsyncLocalStorage<Span>();
  const recorder = provider.getTracer('crypto-payments');
  // By OTEL_TRACES_SAMPLER, and by an id of its own: nobody outside chooses what is recorded.
  const decider = new sdk.BasicTracerProvider().getTracer('crypto-payments');

  function start({ name, kind, parent, root, attributes = {}, startedAt, id }: NewSpan): Span | null {
    const cause = readTraceparent(parent ?? spans.getStore()?.traceparent);
    if (!cause && !(root && decider.startSpan('decision').isRecording())) return null;
    const above = cause ?? (root?.callers ? readTraceparent(root.callers) : null);
    const context = above
      ? trace.setSpanContext(ROOT_CONTEXT, { ...above, traceFlags: TraceFlags.SAMPLED, isRemote: true })
      : ROOT_CONTEXT;
    ids.next(id);
    const options = { kind: kinds[kind], attributes: defined(attributes), startTime: startedAt };
    const span = recorder.startSpan(name, options, context);
    const { traceId, spanId } = span.spanContext();
    const started: Span = {
      traceparent: `00-${traceId}-${spanId}-01`,
      run: (act) => spans.run(started, act),
      end(more = {}, fault) {
        span.setAttributes(defined(more));
        if (fault !== undefined) span.setAttribute('error.type', fault).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
    return started;
  }

  return { start, current: () => spans.getStore() ?? null };
}

/** What OpenTelemetry complains of, seldom enough that no log is flooded while a collector is away. */
function reports({ api }: Packages): Tracing['reportTo'] {
  let log: Pick<Logger, 'warn'> | undefined;
  let loggedAt = -quietMs;
  const report = (said: string): void => {
    if (!log || performance.now() - loggedAt < quietMs) return;
    loggedAt = performance.now();
    log.warn({ error: messageIn(said) }, 'Spans of traces are lost');
  };
  const ignore = (): void => undefined;
  api.diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return (given) => {
    log = given;
  };
}

/** OpenTelemetry writes errors as JSON with their stacks. */
function messageIn(said: string): string {
  try {
    const { message } = JSON.parse(said) as { message?: unknown };
    if (typeof message === 'string') return message.slice(0, 300);
  } catch {
    // It is a text.
  }
  return said.slice(0, 300);
}
