import type { IncomingMessage, ServerResponse } from 'node:http';
import type { routesOf } from './api';
import { Refusal } from './orders';

/** Answers requests by the provider's routes. Its own routes want its key; those of the sandbox do not. */
export const serverOf = ({ routes, nextFault }: ReturnType<typeof routesOf>, apiKey: string) =>
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://swap');
    const say = (status: number, value: unknown): void => {
      response.statusCode = status;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    };
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      const isSandbox = pathname.startsWith('/sandbox/');
      if (!isSandbox && request.headers['x-changenow-api-key'] !== apiKey)
        throw new Refusal(401, 'unauthorized', 'Unauthorized');
      const route = routes[`${request.method ?? ''} ${pathname}`];
      if (!route) throw new Refusal(404, 'not_found', 'Not found');
      const isAnswerLost = request.method === 'POST' && !isSandbox && nextFault() === 'reply-lost';
      const body = text ? (JSON.parse(text) as Record<string, unknown>) : {};
      const value = route(request.method === 'GET' ? Object.fromEntries(searchParams) : body);
      if (isAnswerLost) response.destroy();
      else say(200, value);
    } catch (error) {
      if (error instanceof Refusal) say(error.status, { error: error.code, message: error.message });
      else say(500, { error: 'internal', message: (error as Error).message });
    }
  };
