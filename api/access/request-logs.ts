import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { readRefusal } from '../../db/access/request-log';
import { route } from '../http/route';
import { time } from '../http/schemas';

export const getRequestLog = route({
  name: 'getRequestLog',
  method: 'get',
  path: '/api/v1/request-logs/{requestId}',
  summary: 'Why a creation was refused',
  description: 'The reason behind a generic refusal, for the merchant who sent the request.',
  tag: 'Diagnostics',
  envelope: 'A',
  params: Type.Object({ requestId: Type.String({ description: 'X-Request-Id of the refused request.' }) }),
  success: {
    status: 200,
    schema: Type.Object({
      requestId: Type.String(),
      reason: Type.String({
        examples: ['UNKNOWN_CURRENCY', 'NO_WALLET', 'QUOTA_REACHED', 'BELOW_MINIMUM', 'CALLBACK_HOST_NOT_ALLOWED'],
      }),
      details: Type.Unknown(),
      createdAt: time,
    }),
    description: 'The reason.',
  },
  errors: ['NOT_FOUND'],
  async answer({ merchant, params }, { db }) {
    const isSane = /^[A-Za-z0-9._-]{8,64}$/.test(params.requestId);
    const refusal = isSane ? await readRefusal(db, merchant.id, params.requestId) : null;
    if (!refusal) throw new DomainError('NOT_FOUND');
    return { data: refusal };
  },
});
