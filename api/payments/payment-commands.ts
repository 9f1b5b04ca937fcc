import { Connection, Client, WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowIdConflictPolicy } from '@temporalio/common';
import type { UpdateDefinition } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Config } from '../../domain/config';
import { DomainError, errorTable, type ErrorCode } from '../../domain/errors';
import { newId } from '../../domain/ids';
import type { Outcome, PaymentRow } from '../../domain/payments/payment';
import type { Screen, ScreenCause } from '../../domain/screening/screening';
import { isTracing } from '../../domain/tracing';
import { operatorView } from '../../commands/payments/create';
import {
  acceptCrossChainUpdate,
  acceptUnderpaidUpdate,
  refreshQuoteUpdate,
  rejectCrossChainUpdate,
} from '../../workflows/messages';
import { startOptions } from '../../workflows/start-options';
import { workflowIds } from '../../domain/workflow-ids';
import { traceInterceptor } from '../../workers/tracing/client';

/** What a request waits for an answer of the payment's workflow. Invariants: 1.6. */
const deadlineMs = 5000;

/** What changes a payment by its own workflow, so that it has one writer. Each throws OUTCOME_UNKNOWN where no answer
 *  came in time, and the code of the refusal where it was refused. */
export class PaymentCommands {
  private readonly connection: Connection;
  private readonly client: Client;

  /** Connects at the first command: the API starts, and creates payments, while Temporal is away. */
  constructor(
    config: Pick<Config, 'TEMPORAL_ADDRESS' | 'TEMPORAL_NAMESPACE' | 'TEMPORAL_API_KEY' | 'TEMPORAL_TLS'>,
    private readonly logger: Logger,
  ) {
    this.connection = Connection.lazy({
      address: config.TEMPORAL_ADDRESS || '127.0.0.1:7233',
      tls: config.TEMPORAL_TLS || config.TEMPORAL_API_KEY !== '',
      connectTimeout: deadlineMs,
      ...(config.TEMPORAL_API_KEY ? { apiKey: config.TEMPORAL_API_KEY } : {}),
    });
    this.client = new Client({
      connection: this.connection,
      namespace: config.TEMPORAL_NAMESPACE,
      interceptors: { workflow: isTracing() ? [traceInterceptor] : [] },
    });
  }

  refreshQuote(payment: PaymentRow): Promise<Outcome> {
    return this.update(payment, refreshQuoteUpdate, []);
  }

  /** `deciderId`, here and below: who asks, as `keepDecider` has kept them. */
  acceptUnderpaid(payment: PaymentRow, deciderId: string): Promise<Outcome> {
    return this.update(payment, acceptUnderpaidUpdate, [deciderId]);
  }

  acceptCrossChain(payment: PaymentRow, deciderId: string): Promise<Outcome> {
    return this.update(payment, acceptCrossChainUpdate, [deciderId]);
  }

  rejectCrossChain(payment: PaymentRow, deciderId: string): Promise<Outcome> {
    return this.update(payment, rejectCrossChainUpdate, [deciderId]);
  }

  /** Asks for a screen and waits for it; who asks while one runs waits for the same. */
  async screen(payment: PaymentRow): Promise<Screen> {
    try {
      return await this.connection.withDeadline(Date.now() + deadlineMs, () =>
        this.client.workflow.execute<(id: string, cause: ScreenCause) => Promise<Screen>>('screening', {
          ...startOptions('screening', {
            MerchantId: payment.merchant_id,
            PaymentId: payment.id,
            summary: `Screening of payment ${payment.id} that its merchant asked for`,
          }),
          workflowId: workflowIds.askedScreening(payment.id),
          args: [payment.id, 'merchant'],
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
          workflowExecutionTimeout: '2m',
        }),
      );
    } catch (error) {
      throw this.explain(error, payment.id, 'screen');
    }
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private async update<Args extends unknown[]>(
    payment: PaymentRow,
    definition: UpdateDefinition<Outcome, Args>,
    args: Args,
  ): Promise<Outcome> {
    const start = new WithStartWorkflowOperation('payment', {
      ...startOptions('payment', operatorView(payment)),
      workflowId: workflowIds.payment(payment.id),
      args: [payment.id, payment.status],
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    });
    let outcome: Outcome;
    try {
      outcome = await this.connection.withDeadline(Date.now() + deadlineMs, () =>
        this.client.workflow.executeUpdateWithStart(definition, {
          args,
          updateId: newId(),
          startWorkflowOperation: start,
        } as never),
      );
    } catch (error) {
      throw this.explain(error, payment.id, definition.name);
    }
    if (outcome.refused) throw new DomainError(outcome.refused);
    return outcome;
  }

  /** A refusal that the workflow named, or no answer. */
  private explain(error: unknown, paymentId: string, update: string): DomainError {
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    const code = cause instanceof ApplicationFailure ? cause.type : undefined;
    if (code && code in errorTable) return new DomainError(code as ErrorCode);
    this.logger.warn({ err: error, paymentId, update }, 'No answer from the workflow');
    return new DomainError('OUTCOME_UNKNOWN');
  }
}
