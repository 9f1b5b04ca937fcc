import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { meQuery } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { ErrorNotice, useToast } from '../design/feedback';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { useTexts } from '../texts/texts';
import { Deliveries } from './deliveries';
import { renewEndpoints, type Endpoint } from './data';
import { EditEndpoint } from './edit-endpoint';
import { DeleteEndpoint, Replay, RotateSecret, TestEndpoint } from './endpoint-acts';
import { DevelopersFrame } from './frame';
import { useDeveloperTexts } from './texts/use';
import { EndpointStatus, EventNames } from './webhooks';

type Asked = 'switchOff' | 'edit' | 'test' | 'rotate' | 'replay' | 'remove';

/** One endpoint: what it is told, what can be done with it, and what it was sent. */
export function EndpointPage() {
  const t = useDeveloperTexts();
  const { endpointId } = useParams({ from: '/signed-in/developers/webhooks/$endpointId' });
  const query = useQuery({
    queryKey: ['webhook-endpoint', endpointId],
    queryFn: () => payload(client.GET('/api/v1/webhook-endpoints/{endpointId}', { params: { path: { endpointId } } })),
  });
  return (
    <DevelopersFrame title={t.webhooks.one}>
      <p>
        <Link to="/developers/webhooks">{t.webhooks.back}</Link>
      </p>
      <Loaded query={query} lines={6}>
        {(endpoint) => (
          <>
            <Facts endpoint={endpoint} />
            <Acts endpoint={endpoint} />
          </>
        )}
      </Loaded>
      {query.data && <Deliveries filter={{ endpointId }} />}
    </DevelopersFrame>
  );
}

function Facts({ endpoint }: Readonly<{ endpoint: Endpoint }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const facts: ReadonlyArray<readonly [string, ReactNode]> = [
    [t.webhooks.url, <Copy key="url" value={endpoint.url} label={t.webhooks.url} />],
    [t.webhooks.description, endpoint.description ?? '–'],
    [t.webhooks.events, <EventNames key="events" names={endpoint.enabledEvents} />],
    [t.webhooks.status, <EndpointStatus key="status" endpoint={endpoint} />],
    [all.created, <Moment key="created" at={endpoint.createdAt} />],
  ];
  return (
    <section className={css.card} aria-label={t.webhooks.one}>
      <dl className={css.facts}>
        {facts.map(([name, value]) => (
          <div key={name} className={css.pair}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Acts({ endpoint }: Readonly<{ endpoint: Endpoint }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const { data: me } = useSuspenseQuery(meQuery);
  const [asked, setAsked] = useState<Asked | null>(null);
  const turn = async (): Promise<void> => {
    const params = { path: { endpointId: endpoint.id } };
    const body = { isActive: !endpoint.isActive };
    await payload(client.PATCH('/api/v1/webhook-endpoints/{endpointId}', { params, body }));
    await renewEndpoints();
    toast(all.saved);
  };
  const switching = useAct(turn);
  const mayManage = me !== null && mayCall(me, access.changeWebhookEndpoint.may);
  const denied = mayManage ? undefined : all.needs('webhooks:manage');
  const idle = denied ?? (endpoint.isActive ? undefined : t.webhooks.switchOnFirst);
  const buttons: ReadonlyArray<readonly [Asked, string, string | undefined]> = [
    ['edit', t.webhooks.edit, denied],
    ['test', t.webhooks.test, idle],
    ['rotate', t.webhooks.rotate, denied],
    ['replay', t.webhooks.replay, idle],
    ['remove', t.webhooks.remove, denied],
  ];
  const onEnd = (): void => setAsked(null);
  return (
    <>
      <div className={css.row}>
        {buttons.map(([act, name, reason]) => (
          <Button key={act} look={act === 'remove' ? 'danger' : 'plain'} reason={reason} onClick={() => setAsked(act)}>
            {name}
          </Button>
        ))}
        <Button
          busy={switching.isBusy}
          reason={denied}
          onClick={() => (endpoint.isActive ? setAsked('switchOff') : void switching.run())}
        >
          {endpoint.isActive ? t.webhooks.switchOff : t.webhooks.switchOn}
        </Button>
      </div>
      <ErrorNotice error={switching.error} />
      {asked === 'switchOff' && (
        <ConfirmDialog
          title={t.webhooks.switchOff}
          sure={t.webhooks.switchOffSure}
          look="danger"
          act={async () => {
            await turn();
            return true;
          }}
          onEnd={onEnd}
        />
      )}
      {asked === 'edit' && <EditEndpoint endpoint={endpoint} onEnd={onEnd} />}
      {asked === 'test' && <TestEndpoint endpoint={endpoint} onEnd={onEnd} />}
      {asked === 'rotate' && <RotateSecret endpoint={endpoint} onEnd={onEnd} />}
      {asked === 'replay' && <Replay endpoint={endpoint} onEnd={onEnd} />}
      {asked === 'remove' && <DeleteEndpoint endpoint={endpoint} onEnd={onEnd} />}
    </>
  );
}
