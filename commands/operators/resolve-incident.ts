import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { endIncident, lockIncident, type Incident } from '../../db/operators/incidents';
import { notNow } from './act';
import { runbookFor } from './runbooks';

/** An operator says that an incident is over. What is still so opens it again where the service looks again; an
 *  incident that a request of two operators ends is ended by that alone. Throws INCIDENT_NOT_FOUND, INCIDENT_RESOLVED,
 *  ACT_REFUSED. */
export async function resolveByHand(tx: EntityManager, actor: Actor, id: string, reason: string): Promise<Incident> {
  const incident = await lockIncident(tx, id);
  if (!incident) throw new DomainError('INCIDENT_NOT_FOUND');
  if (incident.resolvedAt !== null) throw new DomainError('INCIDENT_RESOLVED');
  const { endedBy } = runbookFor(incident);
  if (endedBy !== 'service' && endedBy !== 'operator')
    throw notNow(`The request ${endedBy} of two operators ends this incident`);
  await endIncident(tx, id, { by: actor.name, reason });
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'incident.resolved',
    target: id,
    after: { kind: incident.kind, subject: `${incident.subjectKind}/${incident.subjectId}`, reason },
  });
  return (await lockIncident(tx, id))!;
}
