import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { startInProcess, type Opened } from '../in-process';
import type { Part } from '../part';
import { methods, Refusal, versioned, type Served } from './answers';
import { Network } from './network';
import { BadOrder, carryOut } from './orders';
import { openState, type Fault, type Json, type State } from './state';

export type XrplSimulatorOptions = Readonly<{
  /** 0: any that is free. */
  port: number;
  /** Its state is kept in here. */
  dataDir: string;
  networkId: number;
  /** Closes a ledger this often; absent: `ledger_accept` alone does. */
  closeEveryMs?: number;
  /** While nothing waits for one, a ledger this often; absent: as often. What it keeps grows with each. */
  idleEveryMs?: number;
}>;

type Said = Readonly<{ status: number; body: string }> | 'cut';

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function takeFault({ faults }: State, method: string): Fault['fault'] | null {
  const place = faults.findIndex((one) => one.method === method);
  return place < 0 ? null : faults.splice(place, 1)[0]!.fault;
}

const writing: ReadonlySet<string> = new Set(['submit', 'ledger_accept']);

/** What is answered to a call, by the page response-formatting and error-formatting; `cut`: nothing. */
function answerTo(served: Served, text: string, save: () => void): Said {
  const plain = (body: string): Said => ({ status: 400, body });
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch {
    return plain('Unable to parse request');
  }
  if (!isObject(request) || typeof request.method !== 'string') return plain('Null method');
  const { method } = request;
  const params: unknown = Array.isArray(request.params) ? (request.params[0] ?? {}) : {};
  if (!isObject(params)) return plain('params unparsable');
  const wrapped = (result: Json): Said => ({ status: 200, body: JSON.stringify({ result }) });
  try {
    if (method === 'simulator_order') {
      const done = carryOut(served.network, params);
      save();
      return wrapped({ ...done, status: 'success' });
    }
    const act = methods[method];
    if (!act) throw new Refusal('unknownCmd', 32, 'Unknown method.');
    if (versioned.has(method) && params.api_version !== 2)
      throw new Refusal('invalid_API_version', 6, 'The simulator speaks version 2 alone.');
    const fault = takeFault(served.network.state, method);
    if (fault === 'cut') {
      save();
      return 'cut';
    }
    const asked = { ...served, isHeard: fault !== 'swallow' };
    if (fault === 'duplicate') act(asked, params);
    const result = act(asked, params);
    // Before the answer: what a client was told is there after a kill.
    if (fault || writing.has(method)) save();
    return fault === 'lose_answer' ? 'cut' : wrapped({ ...result, status: 'success' });
  } catch (error) {
    if (error instanceof BadOrder) return plain(error.message);
    if (!(error instanceof Refusal)) throw error;
    const { code, number, message, more } = error;
    const said = { error: code, error_code: number, error_message: message, ...more, status: 'error' };
    return wrapped({ ...said, request: { command: method, ...params } });
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** A simulator of rippled, the server of the XRP Ledger, with a network of its own behind it: JSON-RPC in version 2, as
 *  an administrator's port has it. Decision 0054 says what it does not do. `simulator_order` orders faults. It listens
 *  on this machine alone and runs in the caller's process. */
export async function startXrplSimulator(options: XrplSimulatorOptions): Promise<Part> {
  const file = join(options.dataDir, 'xrpl-simulator.json');
  const open = (): Opened => {
    const { state, save } = openState(file, options.networkId);
    const network = new Network(state);
    const startedAt = Date.now();
    const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      let said: Said;
      try {
        said = answerTo({ network, startedAt, isHeard: true }, await textOf(request), save);
      } catch (error) {
        said = { status: 500, body: (error as Error).message };
      }
      if (said === 'cut') response.destroy();
      else response.writeHead(said.status, { 'content-type': 'application/json' }).end(said.body);
    };
    let closedAt = 0;
    const close = (): void => {
      if (!network.isWaiting && Date.now() - closedAt < (options.idleEveryMs ?? 0)) return;
      closedAt = Date.now();
      network.close();
      save();
    };
    return { tick: close, serve: (request, response) => void serve(request, response) };
  };
  // Its state is on the disk before each answer.
  return startInProcess({ name: 'xrpl-simulator', port: options.port, everyMs: options.closeEveryMs, open });
}
