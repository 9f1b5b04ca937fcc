import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { endpointLimit } from '../../../domain/webhooks/webhook-endpoint';
import { meQuery } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { SecretOnce } from '../design/once';
import { RowLink } from '../design/row-link';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { endpointsQuery, type Endpoint } from './data';
import { CreateEndpoint } from './edit-endpoint';
import { DevelopersFrame } from './frame';
import { useDeveloperTexts } from './texts/use';

export function WebhooksPage() {
  const t = useDeveloperTexts();
  const all = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const list = useQuery(endpointsQuery);
  if (!me) return null;
  const isFull = (list.data?.total ?? 0) >= endpointLimit;
  const reason = !mayCall(me, access.createWebhookEndpoint.may)
    ? all.needs('webhooks:manage')
    : isFull
      ? t.webhooks.full(endpointLimit)
      : undefined;
  return (
    <DevelopersFrame
      acts={
        <Button look="primary" reason={reason} onClick={() => setCreating(true)}>
          {t.webhooks.create}
        </Button>
      }
    >
      <section className={css.card} aria-labelledby="endpoints">
        <h2 id="endpoints">{t.webhooks.title}</h2>
        <p className={css.soft}>{t.webhooks.why}</p>
        <Loaded query={list}>
          {({ items }) =>
            items.length ? <Endpoints endpoints={items} /> : <p className={css.empty}>{t.webhooks.none}</p>
          }
        </Loaded>
      </section>
      {isCreating && (
        <CreateEndpoint
          onMade={(made) => {
            setCreating(false);
            setSecret(made);
          }}
          onEnd={() => setCreating(false)}
        />
      )}
      {secret && (
        <SecretOnce title={t.webhooks.fresh} label={t.webhooks.secret} secret={secret} onDone={() => setSecret(null)} />
      )}
    </DevelopersFrame>
  );
}

function Endpoints({ endpoints }: Readonly<{ endpoints: readonly Endpoint[] }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const names = [t.webhooks.url, t.webhooks.events, t.webhooks.status, all.created];
  return (
    <Table label={t.webhooks.title} columns={names.map((name) => ({ name }))}>
      {endpoints.map((endpoint) => (
        <tr key={endpoint.id}>
          <td>
            <RowLink to="/developers/webhooks" id={endpoint.id}>
              {endpoint.url}
            </RowLink>
            {endpoint.description && <div className={css.hint}>{endpoint.description}</div>}
          </td>
          <td>
            <EventNames names={endpoint.enabledEvents} />
          </td>
          <td>
            <EndpointStatus endpoint={endpoint} />
          </td>
          <td>
            <Moment at={endpoint.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function EventNames({ names }: Readonly<{ names: readonly string[] }>) {
  const t = useDeveloperTexts();
  return (
    <span className={css.row}>
      {names.map((name) => (
        <span key={name} className={css.badge}>
          {name === '*' ? t.webhooks.allEvents : name}
        </span>
      ))}
    </span>
  );
}

export function EndpointStatus({ endpoint }: Readonly<{ endpoint: Endpoint }>) {
  const t = useDeveloperTexts();
  if (endpoint.isActive) return <span className={`${css.badge} ${css.good}`}>{t.webhooks.on}</span>;
  return (
    <>
      <span className={`${css.badge} ${css.warn}`}>{t.webhooks.off}</span>
      {endpoint.disabledReason && <div className={css.hint}>{t.webhooks.disabled[endpoint.disabledReason]}</div>}
    </>
  );
}
