/** Traces: what one request causes, in all processes, as a tree of spans. Off unless the process has a tracer
 *  (workers/tracing/start.ts); then nothing here costs more than a comparison. docs/operations/tracing.md */

/** Neither secrets nor what people are called or reached by; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export type NewSpan = Readonly<{
  name: string;
  kind: 'server' | 'client' | 'producer' | 'internal';
  /** The span that has caused it, as `traceparent`; else the one under way. */
  parent?: string | null;
  /** Begins a trace where neither is there. All others are spans of a trace or none. `callers`: a trace of the caller,
   *  which it goes on with; whether it is recorded is decided here alone. */
  root?: Readonly<{ callers: string | null }>;
  attributes?: Attributes;
  /** Now, unless told. */
  startedAt?: Date;
  /** 16 hex digits, where the id is known before: that of a workflow. */
  id?: string;
}>;

/** A span that is under way. `traceparent`: what it hands to what it causes. */
export type Span = Readonly<{
  traceparent: string;
  /** Runs `act`, and all that it waits for, in the span. */
  run<Result>(act: () => Result): Result;
  /** `fault`: the code of what went wrong. */
  end(attributes?: Attributes, fault?: string): void;
}>;

export type Tracer = Readonly<{
  /** null: nothing is recorded. */
  start(span: NewSpan): Span | null;
  current(): Span | null;
}>;

let tracer: Tracer | null = null;

/** From now on this process records spans; null: none. */
export function useTracer(given: Tracer | null): void {
  tracer = given;
}

export const isTracing = (): boolean => tracer !== null;

/** The span under way, as W3C writes it for what it causes; null where none is recorded. */
export const traceparentNow = (): string | null => tracer?.current()?.traceparent ?? null;

/** The trace that a span belongs to: 32 hex digits. */
export const traceIdOf = (traceparent: string | null | undefined): string | undefined => traceparent?.split('-')[1];

/** A span that its caller ends; null where none is recorded. */
export const startSpan = (span: NewSpan): Span | null => tracer?.start(span) ?? null;

/** Does `act` in a span of the trace under way, or of that of `parent`; without a trace it only does it. What is thrown
 *  is told by `codeOf` alone: a message may name a host or a person. `outcome`: what the span says of the result. */
export function inSpan<Result>(
  span: NewSpan,
  act: () => Promise<Result>,
  outcome?: (result: Result) => Readonly<{ attributes?: Attributes; fault?: string | undefined }>,
): Promise<Result> {
  const started = tracer?.start(span);
  return started ? recorded(started, act, outcome) : act();
}

async function recorded<Result>(
  span: Span,
  act: () => Promise<Result>,
  outcome?: (result: Result) => Readonly<{ attributes?: Attributes; fault?: string | undefined }>,
): Promise<Result> {
  try {
    const result = await span.run(act);
    const { attributes, fault } = outcome?.(result) ?? {};
    span.end(attributes, fault);
    return result;
  } catch (error) {
    span.end({}, codeOf(error));
    throw error;
  }
}

/** What a span may say of an error: its code, or what kind of error it is. Waiting by failing is no fault. */
function codeOf(error: unknown): string | undefined {
  const { category, type, code, name } = error as Record<string, unknown>;
  if (category === 'BENIGN') return undefined;
  return [type, code, name].find((one) => typeof one === 'string' && one !== '') as string | undefined;
}

/** The context that a `traceparent` header names; null where it is none. Version 00, and what later ones begin with.
 *  https://www.w3.org/TR/trace-context/#traceparent-header */
export function readTraceparent(header: string | undefined): Readonly<{ traceId: string; spanId: string }> | null {
  const match = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(
    header ?? '',
  );
  const isKnown = match && (match[1] !== '00' || match[4] === undefined);
  return isKnown ? { traceId: match[2]!, spanId: match[3]! } : null;
}
