import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createDataSource } from '../../../db/data-source';
import { scenarioNames } from '../../../domain/payments/scenarios';
import { closed, listening } from '../listening';
import type { Part } from '../part';
import { Payers, Refused, type PayersOptions } from './payers';

export type SimulatorOptions = Omit<PayersOptions, 'db' | 'report'> &
  Readonly<{ port: number; databaseUrl: string; key: string; report?: (line: string) => void }>;

/** The payers of a test instance, for the route that simulates payments: `POST /payments/<id>/<scenario>` with our key.
 *  It listens on this machine alone, and runs in the caller's process. */
export async function startSimulator(options: SimulatorOptions): Promise<Part> {
  const { port, databaseUrl, key, report = console.warn, ...rest } = options;
  let running: { server: Server; payers: Payers; close: () => Promise<void> } | undefined;

  const start = async (): Promise<void> => {
    if (running) return;
    const db = await createDataSource(databaseUrl, { pool: 4, name: 'simulator' }).initialize();
    const payers = new Payers({ ...rest, db, report });
    const server = createServer((request, response) => {
      void answerTo(request, payers, key).then(({ status, body }) => {
        response.statusCode = status;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
      });
    });
    await listening(server, port);
    running = { server, payers, close: () => db.destroy() };
  };
  const stop = async (): Promise<void> => {
    const ended = running;
    running = undefined;
    if (!ended) return;
    await closed(ended.server);
    await ended.payers.stop();
    await ended.close();
  };
  await start();
  return {
    name: 'simulator',
    url: `http://127.0.0.1:${port}`,
    pid: () => (running ? process.pid : undefined),
    start,
    stop,
    kill9: stop, // it lives in our own process
  };
}

const holds = (header: string | undefined, key: string): boolean => {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${key}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

async function answerTo(
  request: IncomingMessage,
  payers: Payers,
  key: string,
): Promise<{ status: number; body: unknown }> {
  if (!holds(request.headers.authorization, key))
    return { status: 401, body: { error: 'Not the key of this simulator' } };
  const [, id, name] = /^\/payments\/([0-9a-f]{24})\/([a-z_]+)$/.exec(request.url ?? '') ?? [];
  const scenario = scenarioNames.find((one) => one === name);
  if (request.method !== 'POST' || !id || !scenario) return { status: 404, body: { error: 'Not found' } };
  try {
    return { status: 202, body: { txId: await payers.play(scenario, id) } };
  } catch (error) {
    if (error instanceof Refused) return { status: 409, body: { error: error.message } };
    return { status: 500, body: { error: (error as Error).message } };
  }
}
