import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { recordAct, type Actor } from '../../db/access/audit-log';
import {
  endRequest,
  findRequest,
  insertConfirmation,
  insertRequest,
  lockRequest,
  sameOpenRequest,
  type OperatorRequest,
} from '../../db/operators/requests';
import { invalid, type OperatorAct, type Payload } from './act';
import { actOf } from './index';

/** Acts of operators on money: somebody asks, two operators confirm, and the second confirmation executes. */

/** So many operators confirm a request. */
export const confirmationsNeeded = 2;
/** A request that is not confirmed within so many hours is never executed. */
export const requestHours = 24;
/** An operator confirms nothing within so many hours after the account was made: who can make operators could
 *  otherwise make two, and confirm for both. */
export const operatorCoolingHours = 24;

/** An operator at a session. */
export type Operator = Readonly<{ userId: string; sessionId: string; createdAt: Date; actor: Actor }>;

const known = (kind: string): OperatorAct => {
  const act = actOf(kind);
  if (!act) throw invalid(`No act '${kind}'`);
  return act;
};

/** Exactly the fields of the act, each a text. */
function fieldsOf(act: OperatorAct, payload: Readonly<Record<string, unknown>>): Payload {
  const fields: Record<string, string> = {};
  for (const name of Object.keys(act.fields)) {
    const value = payload[name];
    if (typeof value !== 'string' || value === '' || value.length > 200)
      throw invalid(`${act.kind}: payload.${name} must be a text of 1 to 200 characters`);
    fields[name] = value;
  }
  return fields;
}

/** Files a request; nothing is executed. Throws VALIDATION_ERROR, ACT_REFUSED, OPERATOR_REQUEST_OPEN. */
export async function fileRequest(
  tx: EntityManager,
  actor: Actor,
  asked: Readonly<{ kind: string; payload: Readonly<Record<string, unknown>>; reason: string }>,
): Promise<OperatorRequest> {
  const act = known(asked.kind);
  const reason = asked.reason.trim();
  if (reason === '') throw invalid('reason must not be empty');
  const payload = await act.validate(tx, fieldsOf(act, asked.payload));
  const other = await sameOpenRequest(tx, act.kind, payload);
  if (other) throw new DomainError('OPERATOR_REQUEST_OPEN', `Request ${other} asks for the same`);
  const id = newId();
  const summary = await act.describe(tx, payload);
  await insertRequest(tx, {
    id,
    kind: act.kind,
    payload,
    summary,
    reason,
    askedBy: actor.kind === 'user' ? actor.id : null,
    askedByName: actor.name,
    hours: requestHours,
  });
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'operator_request.filed',
    target: id,
    after: { kind: act.kind, payload, summary, reason },
  });
  return (await findRequest(tx, id))!;
}

/** Confirms a request; with the second confirmation it is executed, in the same transaction. Throws
 *  OPERATOR_REQUEST_NOT_FOUND, OPERATOR_REQUEST_ENDED, CONFIRMATION_REFUSED, ACT_REFUSED. */
export async function confirmRequest(tx: EntityManager, operator: Operator, id: string): Promise<OperatorRequest> {
  const request = await openRequest(tx, id);
  if (isNew(operator, Date.now()))
    throw new DomainError(
      'CONFIRMATION_REFUSED',
      `An operator confirms nothing within ${operatorCoolingHours} hours after the account was made`,
    );
  if (request.confirmations.some((one) => one.userId === operator.userId || one.sessionId === operator.sessionId))
    throw new DomainError('CONFIRMATION_REFUSED', 'You have confirmed this request; another operator must do so too');
  const { actor, userId, sessionId } = operator;
  await insertConfirmation(tx, id, { userId, sessionId, name: actor.name });
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'operator_request.confirmed',
    target: id,
    after: { kind: request.kind, summary: request.summary },
  });
  if (request.confirmations.length + 1 >= confirmationsNeeded) await execute(tx, request, actor);
  return (await findRequest(tx, id))!;
}

/** Ends a request that was not executed. Throws OPERATOR_REQUEST_NOT_FOUND, OPERATOR_REQUEST_ENDED. */
export async function cancelRequest(
  tx: EntityManager,
  actor: Actor,
  id: string,
  reason: string,
): Promise<OperatorRequest> {
  const request = await openRequest(tx, id);
  await endRequest(tx, id, { state: 'cancelled', outcome: reason, by: actor.name });
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'operator_request.cancelled',
    target: id,
    after: { kind: request.kind, reason },
  });
  return (await findRequest(tx, id))!;
}

const isNew = ({ createdAt }: Operator, now: number): boolean =>
  now - createdAt.getTime() < operatorCoolingHours * 3_600_000;

async function openRequest(tx: EntityManager, id: string): Promise<OperatorRequest> {
  const request = await lockRequest(tx, id);
  if (!request) throw new DomainError('OPERATOR_REQUEST_NOT_FOUND');
  if (request.state !== 'open') throw new DomainError('OPERATOR_REQUEST_ENDED');
  return request;
}

async function execute(tx: EntityManager, request: OperatorRequest, actor: Actor): Promise<void> {
  const { id, kind, payload, reason } = request;
  const outcome = await known(kind).execute(tx, payload, { requestId: id, reason, actor });
  await endRequest(tx, id, { state: 'executed', outcome, by: actor.name });
  await recordAct(tx, actor, { merchantId: null, action: 'operator_request.executed', target: id, after: { outcome } });
}
