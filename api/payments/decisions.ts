import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { paymentJson } from '../../domain/payments/payment-view';
import { type PaymentRow } from '../../domain/payments/payment';
import { keepDecider } from '../../db/payments/deciders';
import { callerOf, type Caller } from '../access/users';
import { type ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { paymentSchema } from '../http/schemas';
import { tag, paymentParams, ownPayment } from './payments';

/** What a payment that is out of the ordinary waits for: somebody's decision. Contract: G2. */

const confirmed = Type.Object({ confirm: Type.Literal(true) });
const decided = { status: 200, schema: paymentSchema, description: 'The payment as it is now.' } as const;
const refusals = ['PAYMENT_NOT_FOUND', 'INVALID_STATE', 'OUTCOME_UNKNOWN'] as const;

type Asked = Caller & Readonly<{ merchant: { id: string }; params: { paymentId: string } }>;

/** Asks the payment's workflow, and answers with the payment. Who asks is in the audit log with the decision. */
async function decide(
  deps: ApiDeps,
  { merchant, params: { paymentId }, ...caller }: Asked,
  ask: (row: PaymentRow, deciderId: string) => Promise<unknown>,
): Promise<{ json: string }> {
  if (!isId(paymentId)) throw new DomainError('PAYMENT_NOT_FOUND');
  const { row } = await ownPayment(deps, merchant.id, paymentId, 'PAYMENT_NOT_FOUND');
  await ask(row, await keepDecider(deps.db, row.id, callerOf(caller)));
  const after = await ownPayment(deps, merchant.id, paymentId, 'PAYMENT_NOT_FOUND');
  return { json: paymentJson(after.row, after.now) };
}

export const acceptUnderpaid = route({
  name: 'acceptUnderpaid',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/accept-underpaid',
  summary: 'Take what arrived as enough',
  description: 'Where the payment has failed already, each deposit that it holds becomes a child payment of its own.',
  tag,
  envelope: 'A',
  params: paymentParams,
  body: confirmed,
  success: decided,
  errors: refusals,
  answer: (call, deps) => decide(deps, call, (row, deciderId) => deps.commands.acceptUnderpaid(row, deciderId)),
});

export const acceptCrossChain = route({
  name: 'acceptCrossChain',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/accept-cross-chain',
  summary: 'Take another currency that arrived',
  description: 'At the rate of the moment it was noticed; needs an active wallet of that currency.',
  tag,
  envelope: 'A',
  params: paymentParams,
  body: confirmed,
  success: decided,
  errors: refusals,
  answer: (call, deps) => decide(deps, call, (row, deciderId) => deps.commands.acceptCrossChain(row, deciderId)),
});

export const rejectCrossChain = route({
  name: 'rejectCrossChain',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/reject-cross-chain',
  summary: 'Do not take another currency that arrived',
  description: 'What arrived is held, owed to nobody yet.',
  tag,
  envelope: 'A',
  params: paymentParams,
  success: decided,
  errors: refusals,
  answer: (call, deps) => decide(deps, call, (row, deciderId) => deps.commands.rejectCrossChain(row, deciderId)),
});
