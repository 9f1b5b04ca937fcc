import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { readPayment } from '../../db/payments/payment-queries';
import { lastScreen } from '../../db/screening/screening';
import { route } from '../http/route';
import { screenSchema } from '../http/schemas';

export const screenPayment = route({
  name: 'screenPayment',
  method: 'post',
  path: '/api/v1/payments/{paymentId}/aml-screen',
  summary: 'Screen where the money of a payment came from',
  description:
    'Runs the screen again and answers the stored result. It is also made by itself when a payment is credited. It ' +
    'never blocks or moves funds. `unavailable` is a normal outcome: do not ask in a loop.',
  tag: 'Payments',
  envelope: 'A',
  params: Type.Object({ paymentId: Type.String({ description: '24-hex payment id.' }) }),
  success: { status: 200, schema: screenSchema, description: 'The newest result.' },
  errors: ['PAYMENT_NOT_FOUND', 'OUTCOME_UNKNOWN'],
  async answer({ merchant, params }, { db, commands }) {
    const found = isId(params.paymentId) ? await readPayment(db, merchant.id, params.paymentId) : null;
    if (!found) throw new DomainError('PAYMENT_NOT_FOUND');
    try {
      return { data: await commands.screen(found.row) };
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'OUTCOME_UNKNOWN') throw error;
      const stored = await lastScreen(db, found.row.id);
      if (!stored) throw error;
      return { data: stored };
    }
  },
});
