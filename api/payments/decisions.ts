import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { paymentJson } from '../../domain/payments/payment-view';
import { type PaymentRow } from '../../domain/payments/payment';
import { type ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { paymentSchema } from '../http/schemas';
import { tag, paymentParams, ownPayment } from './payments';

/** What a payment that is out of the ordinary waits for: somebody's decision. Contract: G2. */

const confirmed = Type.Object({ confirm: Type.Literal(true) });
const decided = { status: 200, schema: paymentSchema, description: 'The payment as it is now.' } as const;
const refusals = ['PAYMENT_NOT_FOUND', 'INVALID_STATE', 'OUTCOME_UNKNOWN'] as const;

/** Asks the payment's workflow, and answers with the payment. */
async function decide(
  deps: ApiDeps,
  merchantId: string,
  paymentId: string,
  ask: (row: PaymentRow) => Promise<unknown>,
): Promise<{ json: string }> {
  if (!isId(paymentId)) throw new DomainError('PAYMENT_NOT_FOUND');
  const { row } = await ownPayment(deps, merchantId, paymentId, 'PAYMENT_NOT_FOUND');
  await ask(row);
  const after = await ownPayment(deps, merchantId, paymentId, 'PAYMENT_NOT_FOUND');
  return { json: paymentJson(after.row, after.now) };
}

export const acceptUnderpaid = route({
  name: 'acceptUnderpaid',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/accept-underpaid',
  summary: 'Take what arrived as enough',
  description: 'Of a payment that has failed already, what it holds becomes payments of its own.',
  tag,
  envelope: 'A',
  params: paymentParams,
  body: confirmed,
  success: decided,
  errors: refusals,
  answer: ({ merchant, params }, deps) =>
    decide(deps, merchant.id, params.paymentId, (row) => deps.commands.acceptUnderpaid(row)),
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
  answer: ({ merchant, params }, deps) =>
    decide(deps, merchant.id, params.paymentId, (row) => deps.commands.acceptCrossChain(row)),
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
  answer: ({ merchant, params }, deps) =>
    decide(deps, merchant.id, params.paymentId, (row) => deps.commands.rejectCrossChain(row)),
});
