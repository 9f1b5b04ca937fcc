import { apiError, ConnectionError, type ApiError } from './errors.js';

/** Requests to the API: retries with one idempotency key, time-outs, pages, and errors with their request ids. */

/** As much of `fetch` as is used: the one of each runtime fits. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type ClientOptions = Readonly<{
  /** Where the API is, without a path: `https://payments.example.com`. */
  baseUrl: string;
  /** A secret key, `svc_live_…`, or `svc_test_…` of a test instance. Never in a browser. */
  apiKey: string;
  /** How often a request is sent again after its first attempt; 3 unless given. */
  maxRetries?: number;
  /** How long one attempt may take; 30 seconds unless given. */
  timeoutMs?: number;
  /** The longest pause that is waited for, `Retry-After` included; 60 seconds unless given. */
  maxPauseMs?: number;
  /** Sends requests in place of the platform's own `fetch`. */
  fetch?: Fetch;
}>;

export type RequestOptions = Readonly<{
  /** Where the call takes one. Without it each call makes a key of its own: give your order's, to be safe across
   *  restarts. */
  idempotencyKey?: string;
  /** Ends the call, its retries and its pauses. */
  signal?: AbortSignal;
  timeoutMs?: number;
  maxRetries?: number;
  headers?: Readonly<Record<string, string>>;
}>;

/** A call, as the API reference describes it. */
export type Operation = Readonly<{
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Whether the payload is in `{ok, data}`. */
  wrapped: boolean;
  /** Where an idempotency key goes. */
  key?: 'header' | 'body';
  /** How its list goes on. */
  pages?: 'page' | 'cursor' | 'after';
}>;
export type Call = Readonly<{
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: object;
}>;
/** Codes of refusals that have only a text, by status and text. */
export type CodesByText = Readonly<Record<string, string>>;

type Attempt = Readonly<{ url: string; init: RequestInit; key: string | undefined; mayRepeat: boolean }>;
type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class Core {
  private readonly options: Required<Omit<ClientOptions, 'fetch'>>;
  private readonly fetch: Fetch;

  constructor(
    options: ClientOptions,
    private readonly codes: CodesByText,
  ) {
    const { fetch: own, ...rest } = options;
    if (!/^https?:\/\/[^/?#]+\/?$/.test(options.baseUrl)) throw new TypeError(`baseUrl has to be an origin`);
    this.options = { maxRetries: 3, timeoutMs: 30_000, maxPauseMs: 60_000, ...withoutGaps(rest) };
    this.fetch = own ?? ((...request) => globalThis.fetch(...request));
  }

  /** The payload of a success. Throws ApiError, ConnectionError, or the reason of the signal. */
  async request<Payload>(operation: Operation, call: Call, options: RequestOptions = {}): Promise<Payload> {
    const attempt = this.attempt(operation, call, options);
    const maxRetries = options.maxRetries ?? this.options.maxRetries;
    for (let n = 0; ; n += 1) {
      const outcome = await this.send(attempt, options);
      if ('payload' in outcome) return unwrapped(operation, outcome.payload) as Payload;
      const pause = n < maxRetries ? this.pause(outcome.error, attempt, n) : undefined;
      if (pause === undefined) throw outcome.error;
      await sleep(pause, options.signal);
    }
  }

  /** A list: awaited it is its first page, iterated it is every row of every page. */
  list<Page, Item>(operation: Operation, call: Call, options: RequestOptions = {}): PageRequest<Page, Item> {
    return new PageRequest<Page, Item>(operation.pages, call.query ?? {}, (query) =>
      this.request<Page>(operation, { ...call, query }, options),
    );
  }

  private attempt(operation: Operation, call: Call, options: RequestOptions): Attempt {
    const { method, path } = operation;
    let body = call.body as Json | undefined;
    const given = options.idempotencyKey ?? body?.['idempotencyKey'];
    const key = operation.key ? (typeof given === 'string' ? given : crypto.randomUUID()) : undefined;
    if (operation.key === 'body') body = { ...body, idempotencyKey: key };
    const headers = new Headers({ ...options.headers, Authorization: `Bearer ${this.options.apiKey}` });
    headers.set('Accept', 'application/json');
    if (operation.key === 'header') headers.set('Idempotency-Key', key!);
    if (body) headers.set('Content-Type', 'application/json');
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, call.path?.[name]));
    return {
      url: `${this.options.baseUrl.replace(/\/$/, '')}${filled}${queryOf(call.query)}`,
      init: { method, headers, body: body && JSON.stringify(body), redirect: 'error' },
      key,
      mayRepeat: key !== undefined || method !== 'POST',
    };
  }

  private async send(attempt: Attempt, options: RequestOptions): Promise<{ payload: unknown } | { error: Error }> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? this.options.timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    // The API takes this id for its own, so that an attempt without an answer is found in its logs too.
    const headers = new Headers(attempt.init.headers);
    let requestId = headers.get('x-request-id') ?? crypto.randomUUID();
    headers.set('X-Request-Id', requestId);
    let response: Response;
    let text: string;
    try {
      options.signal?.throwIfAborted();
      response = await this.fetch(attempt.url, { ...attempt.init, headers, signal });
      requestId = response.headers.get('x-request-id') ?? requestId;
      text = await response.text();
    } catch (cause) {
      if (options.signal?.aborted) throw options.signal.reason;
      const words = timeout.aborted ? 'No answer in time' : 'No answer';
      return { error: new ConnectionError(`${words} from ${attempt.url}`, attempt.key, requestId, { cause }) };
    }
    const body = parsed(text);
    if (response.ok && body !== undefined) return { payload: body };
    if (response.ok) {
      const cause = new SyntaxError('The answer is no JSON');
      return { error: new ConnectionError(`Half an answer from ${attempt.url}`, attempt.key, requestId, { cause }) };
    }
    return { error: this.refusal(response, isObject(body) ? body : {}, requestId) };
  }

  /** The error of one of the three shapes: envelope A, envelope B, flat. */
  private refusal(response: Response, body: Json, requestId: string): ApiError {
    const { status, headers } = response;
    const inner = isObject(body['error']) ? body['error'] : undefined;
    const { code, message, ...data } = inner ?? {
      ...body,
      code: typeof body['message'] === 'string' ? body['error'] : this.codeOf(status, String(body['error'])),
      message: body['message'] ?? body['error'],
    };
    const { error: _, ...carried } = data as Record<string, unknown>;
    const seconds = Number(headers.get('retry-after') ?? NaN);
    return apiError({
      status,
      code: typeof code === 'string' ? code : `HTTP_${status}`,
      message: typeof message === 'string' ? message : `The API answered ${status}`,
      requestId,
      retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
      data: carried,
    });
  }

  /** The code of a refusal that has only a text, by its status or as one that any call can answer. */
  private codeOf(status: number, text: string): string | undefined {
    return this.codes[`${status} ${text}`] ?? this.codes[`default ${text}`];
  }

  /** How long to wait before attempt `n` + 2; undefined where a repeat is of no use, or might do a thing twice. */
  private pause(error: Error, { mayRepeat }: Attempt, n: number): number | undefined {
    const refusal = error instanceof ConnectionError ? undefined : (error as ApiError);
    const isBusy = refusal?.status === 429 && refusal.code === 'RATE_LIMITED';
    const isAway = !refusal || refusal.status === 502 || refusal.status === 503 || refusal.status === 504;
    const isRunning = refusal?.code === 'CONVERSION_IN_PROGRESS';
    if (!isBusy && !(mayRepeat && (isAway || isRunning))) return undefined;
    const backoff = Math.min(8000, 500 * 2 ** n) * (0.5 + Math.random() / 2);
    const pause = Math.max(backoff, (refusal?.retryAfterSeconds ?? 0) * 1000);
    return pause <= this.options.maxPauseMs ? pause : undefined;
  }
}

/** A list that is asked for when it is awaited or iterated, not before. */
export class PageRequest<Page, Item> implements PromiseLike<Page>, AsyncIterable<Item> {
  private first: Promise<Page> | undefined;

  constructor(
    private readonly kind: Operation['pages'],
    private readonly query: Readonly<Record<string, unknown>>,
    private readonly ask: (query: Readonly<Record<string, unknown>>) => Promise<Page>,
  ) {}

  then<Done = Page, Failed = never>(
    done?: ((page: Page) => Done | PromiseLike<Done>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return (this.first ??= this.ask(this.query)).then(done, failed);
  }

  /** Each page, one after the other, as it is needed. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let query = this.query;
    for (;;) {
      const page = await this.ask(query);
      yield page;
      const next = this.next(query, page as Json);
      if (!next) return;
      query = { ...this.query, ...next };
    }
  }

  /** Every row once. A row that moves to the next page, because new ones came before it, is not given twice. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const seen = new Set<unknown>();
    for await (const page of this.pages())
      for (const item of itemsOf(page as Json)) {
        const id = isObject(item) ? (item['_id'] ?? item['id']) : undefined;
        if (id !== undefined && seen.has(id)) continue;
        seen.add(id);
        yield item as Item;
      }
  }

  private next(query: Readonly<Record<string, unknown>>, page: Json): Json | undefined {
    const count = itemsOf(page).length;
    if (this.kind === 'cursor')
      return typeof page['nextCursor'] === 'string' ? { cursor: page['nextCursor'] } : undefined;
    if (this.kind === 'after') return page['hasMore'] === true ? { after: page['nextCursor'] } : undefined;
    if (this.kind !== 'page' || count === 0) return undefined;
    const current = typeof query['page'] === 'number' ? query['page'] : 1;
    const limit = typeof query['limit'] === 'number' ? Math.min(query['limit'], 100) : 50;
    return current * limit < (page['total'] as number) ? { page: current + 1 } : undefined;
  }
}

const itemsOf = (page: Json): readonly unknown[] => {
  const items = page['items'];
  if (!Array.isArray(items)) throw new TypeError('The answer has no list');
  return items as unknown[];
};

function unwrapped(operation: Operation, payload: unknown): unknown {
  return operation.wrapped && isObject(payload) ? payload['data'] : payload;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // what a proxy says, or half an answer: the caller tells
  }
}

function segment(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing`);
  if (value === '.' || value === '..') throw new TypeError(`${name} is no id`);
  return encodeURIComponent(value);
}

function queryOf(query: Call['query']): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

const withoutGaps = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

/** Throws the reason of the signal as soon as there is one. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}
