import type { DataSource, EntityManager, EntitySubscriberInterface, QueryRunner } from 'typeorm';
import type { EventType } from '../../domain/webhooks/event-types';
import { eventLine } from '../../domain/webhooks/event-line';
import { originNow } from '../origin';

/** An event that is committed. */
export type Emitted = Readonly<{
  id: string;
  type: EventType;
  merchantId: string;
  entityId: string;
  /** The request that it goes back to. */
  requestId: string | null;
  /** The trace that it belongs to. */
  traceparent: string | null;
  /** The workflow whose activity has emitted it. */
  workflowId?: string | undefined;
  /** The resource as JSON text. */
  data: string;
}>;

type Log = Readonly<{ info(fields: object, text: string): void }>;
const logs = new WeakMap<DataSource, Log>();

/** What the transaction of a connection has emitted so far, and how much of it before each savepoint that is open. */
type Pending = { events: Emitted[]; marks: number[] };
const pendings = new WeakMap<QueryRunner, Pending>();
const pendingOf = (runner: QueryRunner): Pending => {
  const pending = pendings.get(runner) ?? { events: [], marks: [] };
  pendings.set(runner, pending);
  return pending;
};

/** The one place where business steps are logged: a line for each event that is emitted through `db`, once it is
 *  committed. What is rolled back leaves none. Call after `db.initialize()`, which would forget it. */
export function logEvents(db: DataSource, log: Log): void {
  logs.set(db, log);
  const subscriber: EntitySubscriberInterface = {
    afterTransactionStart: ({ queryRunner }) => {
      const { events, marks } = pendingOf(queryRunner);
      marks.push(events.length);
    },
    afterTransactionCommit: ({ queryRunner }) => {
      const { events, marks } = pendingOf(queryRunner);
      marks.pop();
      if (!queryRunner.isTransactionActive) for (const emitted of events.splice(0)) logEvent(log, emitted);
    },
    afterTransactionRollback: ({ queryRunner }) => {
      const { events, marks } = pendingOf(queryRunner);
      events.length = marks.pop() ?? 0;
    },
  };
  db.subscribers.push(subscriber);
}

/** Notes an event that `tx` has emitted. */
export function noteEmitted({ queryRunner }: EntityManager, emitted: Emitted): void {
  if (queryRunner && logs.has(queryRunner.dataSource))
    pendingOf(queryRunner).events.push({ ...emitted, workflowId: originNow().workflowId });
}

/** Notes an event that a statement of its own has emitted: it is committed. */
export function noteCommitted(db: DataSource, emitted: Emitted): void {
  const log = logs.get(db);
  if (log) logEvent(log, emitted);
}

function logEvent(log: Log, emitted: Emitted): void {
  const { fields, text } = eventLine(emitted);
  log.info(fields, text);
}
