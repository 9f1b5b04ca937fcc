import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { Badge } from '../design/badge';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Loaded } from '../design/loaded';
import { AskForAct, kindOf, type FieldName } from './ask';
import { incidentQuery, type Incident } from './data';
import { OperatorsFrame } from './frame';
import { ReasonDialog } from './reason-dialog';
import { RunbookText } from './runbook';
import { useOperatorTexts } from './texts/use';
import { Moment } from '../design/moment';

export function IncidentPage() {
  const t = useOperatorTexts().incidents;
  const { incidentId } = useParams({ from: '/signed-in/operators/incidents/$incidentId' });
  const query = useQuery(incidentQuery(incidentId));
  return (
    <OperatorsFrame>
      <p>
        <Link to="/operators/incidents" search={{}}>
          {t.back}
        </Link>
      </p>
      <Loaded query={query} lines={6}>
        {(incident) => <One incident={incident} />}
      </Loaded>
    </OperatorsFrame>
  );
}

/** Subjects that the search knows by their ids. */
const findable = ['payment', 'intent', 'withdrawal', 'refund', 'payout-batch', 'payout-line', 'conversion'];

function One({ incident }: Readonly<{ incident: Incident }>) {
  const t = useOperatorTexts().incidents;
  const [isResolving, setResolving] = useState(false);
  const isOpen = incident.resolvedAt === null;
  const { subject } = incident;
  return (
    <>
      <section className={css.card} aria-label={t.one(incident.kind)}>
        <div className={`${css.row} ${css.between}`}>
          <h2>{t.one(incident.kind)}</h2>
          <Badge tone={isOpen ? 'bad' : 'good'} text={t.states[isOpen ? 'open' : 'resolved']} />
        </div>
        <Facts
          facts={[
            [t.about, `${subject.kind} ${subject.id}`],
            [t.at, <Moment key="at" at={incident.createdAt} />],
            [t.resolved, incident.resolvedAt && <Moment at={incident.resolvedAt} />],
            [t.by, !isOpen && (incident.resolvedBy ?? t.service)],
            [t.resolution, incident.resolution],
          ]}
        />
        {findable.includes(subject.kind) && (
          <p>
            <Link to="/operators/find" search={{ q: subject.id }}>
              {t.find}
            </Link>
          </p>
        )}
        <h3>{t.details}</h3>
        <pre className={css.pre} tabIndex={0} aria-label={t.details}>
          {JSON.stringify(incident.details, null, 1)}
        </pre>
      </section>
      <Runbook incident={incident} onResolve={() => setResolving(true)} />
      {isResolving && <Resolve incident={incident} onEnd={() => setResolving(false)} />}
    </>
  );
}

/** What to do about it, beside the acts that end it. */
function Runbook({ incident, onResolve }: Readonly<{ incident: Incident; onResolve: () => void }>) {
  const t = useOperatorTexts().incidents;
  const { endedBy, act } = incident.runbook;
  const isByHand = endedBy === 'service' || endedBy === 'operator';
  const request = kindOf(isByHand ? act : endedBy);
  const [isAsking, setAsking] = useState(false);
  return (
    <section className={css.card} aria-label={t.runbook}>
      <h2>{t.runbook}</h2>
      <RunbookText kind={incident.kind} />
      <p>{isByHand ? t.ends[endedBy] : t.endsBy(endedBy)}</p>
      {isByHand && act !== null && <p>{t.needs(act)}</p>}
      <div className={css.row}>
        {request && <Button onClick={() => setAsking(true)}>{t.ask}</Button>}
        {incident.resolvedAt === null && (
          <Button look="primary" reason={isByHand ? undefined : t.endsBy(endedBy)} onClick={onResolve}>
            {t.resolve}
          </Button>
        )}
      </div>
      {isAsking && request && <AskForAct kind={request} about={aboutOf(incident)} onEnd={() => setAsking(false)} />}
    </section>
  );
}

/** What an incident knows of the act that ends it. */
function aboutOf({ subject, details }: Incident): Partial<Record<FieldName, string>> {
  const texts = Object.fromEntries(
    Object.entries(details ?? {}).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
  const [network, address] = subject.id.split('/');
  const known: Readonly<Record<string, Partial<Record<FieldName, string>>>> = {
    asset: { currency: subject.id },
    conversion: { conversionId: subject.id },
    deposit: { depositId: subject.id },
    intent: { intentId: subject.id },
    payment: { paymentId: subject.id },
    wallet: { ...(network && address ? { network, address } : {}) },
  };
  return { ...texts, ...known[subject.kind] };
}

function Resolve({ incident, onEnd }: Readonly<{ incident: Incident; onEnd: () => void }>) {
  const t = useOperatorTexts().incidents;
  const params = { path: { incident: incident.id } };
  return (
    <ReasonDialog
      title={`${t.resolve}: ${incident.kind}`}
      sure={t.resolveSure}
      submit={t.resolve}
      act={async (reason, factor) => {
        await payload(
          client.POST('/api/v1/platform/incidents/{incident}/resolve', { params, body: { reason, ...factor } }),
        );
        return t.resolved;
      }}
      onEnd={onEnd}
    />
  );
}
