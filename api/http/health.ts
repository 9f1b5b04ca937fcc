import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { route } from './route';

const tag = 'Operations';

export const getHealth = route({
  name: 'getHealth',
  method: 'get',
  path: '/healthz',
  summary: 'Whether the process lives',
  tag,
  envelope: 'B',
  success: { status: 200, schema: Type.Object({ status: Type.Literal('ok') }), description: 'It does.' },
  errors: [],
  answer: () => ({ data: { status: 'ok' } }),
});

export const getReadiness = route({
  name: 'getReadiness',
  method: 'get',
  path: '/readyz',
  summary: 'Whether requests can be served',
  tag,
  envelope: 'B',
  success: { status: 200, schema: Type.Object({ status: Type.Literal('ready') }), description: 'PostgreSQL answers.' },
  errors: ['UPSTREAM_UNAVAILABLE'],
  async answer(_, { db, lifecycle }) {
    if (lifecycle.isDraining) throw new DomainError('UPSTREAM_UNAVAILABLE');
    await db.query('SELECT FROM merchant LIMIT 1');
    return { data: { status: 'ready' } };
  },
});
