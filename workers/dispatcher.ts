import { WorkflowExecutionAlreadyStartedError, type Client, type WorkflowOptions } from '@temporalio/client';
import type { Logger } from 'pino';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import {
  claimRequests,
  completeRequests,
  postponeRequest,
  type ClaimedRequest,
} from '../db/temporal/temporal-requests';
import { connectionTo } from '../db/connection';
import { prepared } from '../db/query';
import { inSpan } from '../domain/tracing';
import { startOptions, type WorkflowType } from '../workflows/start-options';

const batch = 64;
/** Of those that wait behind all others: who comes meanwhile waits for so few. */
const batchBehind = 4;
const width = 8;
const holdSeconds = 15;
const pollMs = 1000;

/** Hands what Postgres asks for to Temporal: after each commit by notification, and every second for what was missed. A
 *  row goes when Temporal has acknowledged it, so nothing is lost and everything may come twice. Invariants: 1.6. */
export class Dispatcher {
  private stopped = false;
  private wake: () => void = () => undefined;
  private listener: pg.Client | undefined;
  private done: Promise<void> = Promise.resolve();

  constructor(
    private readonly db: DataSource,
    private readonly databaseUrl: string,
    private readonly client: Client,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.done = this.loop();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    await this.done;
    await this.listener?.end().catch(() => undefined);
  }

  private async loop(): Promise<void> {
    while (!this.stopped) {
      let sent = 0;
      try {
        await this.listen();
        sent = await this.dispatch();
      } catch (error) {
        this.log.warn({ error: (error as Error).message }, 'The dispatcher could not read its requests');
      }
      if (sent < batch && !this.stopped) await this.rest(sent ? 5 : pollMs);
    }
  }

  private rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async listen(): Promise<void> {
    if (this.listener) return;
    const listener = new pg.Client({
      ...connectionTo(this.databaseUrl),
      application_name: 'dispatcher',
      keepAlive: true,
    });
    listener.on('notification', () => this.wake());
    listener.on('error', () => {
      this.listener = undefined;
    });
    listener.on('end', () => {
      this.listener = undefined;
    });
    await listener.connect();
    await listener.query('LISTEN temporal_request');
    this.listener = listener;
  }

  private async dispatch(): Promise<number> {
    const claims = prepared(this.db, 'claim-requests');
    const first = await claimRequests(claims, batch, holdSeconds, false);
    const requests = first.length ? first : await claimRequests(claims, batchBehind, holdSeconds, true);
    const acknowledged: string[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < requests.length) {
        const request = requests[next++]!;
        try {
          await this.inTraceOf(request);
          acknowledged.push(request.id);
        } catch (error) {
          this.log.warn(
            { workflowId: request.workflow_id, tries: request.tries, error: (error as Error).message },
            'Temporal did not take a request',
          );
          await postponeRequest(this.db, request.id, (error as Error).message);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(width, requests.length) }, lane));
    if (acknowledged.length) await completeRequests(prepared(this.db, 'complete-requests'), acknowledged);
    return requests.length;
  }

  /** In the trace of what has asked for the workflow. */
  private inTraceOf(request: ClaimedRequest): Promise<void> {
    const { kind, workflow, workflow_id: workflowId, traceparent: parent } = request;
    return inSpan({ name: `${kind} ${workflow}`, kind: 'producer', parent, attributes: { workflowId } }, () =>
      this.send(request),
    );
  }

  private async send(request: ClaimedRequest): Promise<void> {
    const options = {
      ...startOptions(request.workflow as WorkflowType, request.attributes),
      workflowId: request.workflow_id,
      args: request.args,
    } satisfies WorkflowOptions & { args: unknown[] };
    if (request.kind === 'signal') {
      await this.client.workflow.signalWithStart(request.workflow, {
        ...options,
        signal: request.signal!,
        signalArgs: [],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
      return;
    }
    try {
      await this.client.workflow.start(request.workflow, {
        ...options,
        // The signals above end this delay, as commands do; a plain signal would not.
        ...((request.start_delay_ms ?? 0) > 0 ? { startDelay: request.start_delay_ms! } : {}),
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
    } catch (error) {
      // It ran, or runs: what was asked for is there.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}
