import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { findIncident, listIncidents as list, type Incident, type IncidentFilter } from '../../db/operators/incidents';
import { resolveByHand } from '../../commands/operators/resolve-incident';
import { runbookFor, runbookOf, runbooks } from '../../commands/operators/runbooks';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { route } from '../http/route';
import { limit, line, named, nullable, pageOf, time } from '../http/schemas';

/** What operators must look at, and how it ends. */

const tag = 'Platform';
const incidentSchema = named('Incident', {
  id: Type.String({ description: 'Decimal number.' }),
  kind: Type.String({ enum: Object.keys(runbooks) }),
  subject: Type.Object({ kind: Type.String(), id: Type.String() }),
  details: Type.Unknown({ description: 'What was seen; its properties depend on the kind.' }),
  createdAt: time,
  resolvedAt: nullable(time),
  resolvedBy: nullable(Type.String({ description: 'Who resolved it by hand; null: the service did, or nobody.' })),
  resolution: nullable(Type.String()),
  runbook: Type.Object({
    page: Type.String({ description: 'The section of the documentation that says what to do, below `docs/`.' }),
    endedBy: Type.String({
      description:
        '`service`: ends when the condition is over. `operator`: is resolved by hand. Else the request of two ' +
        'operators that ends it.',
    }),
    act: nullable(Type.String({ description: 'The request that is mostly needed before it is resolved by hand.' })),
  }),
});
const present = (row: Incident) => {
  const { endedBy, act = null } = runbookFor(row);
  return {
    id: row.id,
    kind: row.kind,
    subject: { kind: row.subjectKind, id: row.subjectId },
    details: row.details,
    createdAt: row.createdAt.toISOString(),
    resolvedAt: row.resolvedAt?.toISOString() ?? null,
    resolvedBy: row.resolvedBy,
    resolution: row.resolution,
    runbook: { page: runbookOf(row.kind), endedBy, act },
  };
};

const cursor = Type.String({ pattern: '^[0-9]{1,18}$' });
export const listIncidents = route({
  name: 'listIncidents',
  method: 'get',
  path: '/api/v1/platform/incidents',
  summary: 'List incidents',
  tag,
  envelope: 'A',
  query: Type.Object({
    state: Type.Optional(Type.String({ enum: ['open', 'resolved'] })),
    kind: Type.Optional(Type.String({ enum: Object.keys(runbooks) })),
    cursor: Type.Optional(cursor),
    limit,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(incidentSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { state, kind, cursor, limit } = pageOf(query);
    const rows = await list(db, {
      state: (state as IncidentFilter['state'] | undefined) ?? null,
      kind: kind ?? null,
      cursor: cursor ?? null,
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    return { data: { items: items.map(present), nextCursor: rows.length > limit ? items.at(-1)!.id : null } };
  },
});

const params = Type.Object({ incident: Type.String({ description: 'Its id, a decimal number.' }) });
/** The id of a path; what is no number is of no incident. */
const known = (id: string): string => {
  if (!/^[0-9]{1,18}$/.test(id)) throw new DomainError('INCIDENT_NOT_FOUND');
  return id;
};

export const getIncident = route({
  name: 'getIncident',
  method: 'get',
  path: '/api/v1/platform/incidents/{incident}',
  summary: 'Get an incident',
  tag,
  envelope: 'A',
  params,
  success: { status: 200, schema: incidentSchema, description: 'The incident.' },
  errors: ['INCIDENT_NOT_FOUND'],
  async answer({ params: { incident } }, { db }) {
    const row = await findIncident(db, known(incident));
    if (!row) throw new DomainError('INCIDENT_NOT_FOUND');
    return { data: present(row) };
  },
});

export const resolveIncident = route({
  name: 'resolveIncident',
  method: 'post',
  path: '/api/v1/platform/incidents/{incident}/resolve',
  summary: 'Resolve an incident by hand',
  description:
    'What the service still sees opens it again. An incident that a request of two operators ends is refused: ' +
    '`runbook.endedBy` names the request.',
  tag,
  envelope: 'A',
  params,
  body: Type.Object({ reason: line(500, 'Kept with the incident and in the audit log.'), ...factorProps }),
  success: { status: 200, schema: incidentSchema, description: 'The incident.' },
  errors: ['INCIDENT_NOT_FOUND', 'INCIDENT_RESOLVED', 'ACT_REFUSED'],
  async answer({ params: { incident }, body: fields, user, ...from }, deps) {
    const row = await withFactor(deps, user, 'platform', fields, (tx) =>
      resolveByHand(tx, actorOf(user, from), known(incident), fields.reason),
    );
    return { data: present(row) };
  },
});
