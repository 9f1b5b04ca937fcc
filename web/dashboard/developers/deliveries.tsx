import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { byCursor } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { Table } from '../design/table';
import { endpointsQuery, readDeliveries, type Delivery } from './data';
import { DeliveryDialog } from './delivery';
import { DeliveryStatus } from './delivery-status';
import { deliveryFilterOf, deliveryStatuses, type DeliveryFilter } from './delivery-filter';
import { DevelopersFrame } from './frame';
import { useDeveloperTexts } from './texts/use';

export function DeliveriesPage() {
  const filter = useSearch({ from: '/signed-in/developers/deliveries', select: deliveryFilterOf });
  return (
    <DevelopersFrame>
      <DeliveryFilters filter={filter} />
      <Deliveries filter={filter} />
    </DevelopersFrame>
  );
}

function DeliveryFilters({ filter }: Readonly<{ filter: DeliveryFilter }>) {
  const t = useDeveloperTexts();
  const navigate = useNavigate();
  const endpoints = useQuery(endpointsQuery);
  const [typed, setTyped] = useState({ eventId: filter.eventId ?? '', paymentId: filter.paymentId ?? '' });
  const apply = (change: DeliveryFilter): void =>
    void navigate({ to: '/developers/deliveries', search: { ...filter, ...change } });
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() =>
        apply({ eventId: typed.eventId.trim() || undefined, paymentId: typed.paymentId.trim() || undefined })
      }
      onClear={() => {
        setTyped({ eventId: '', paymentId: '' });
        void navigate({ to: '/developers/deliveries', search: {} });
      }}
    >
      <Choice
        label={t.deliveries.endpoint}
        value={filter.endpointId ?? ''}
        options={[
          ['', t.deliveries.any],
          ['ipn', t.deliveries.ipn],
          ...(endpoints.data?.items ?? []).map(({ id, url }) => [id, url] as const),
        ]}
        onChange={(endpointId) => apply({ endpointId: endpointId || undefined })}
      />
      <Choice
        label={t.deliveries.status}
        value={filter.status ?? ''}
        options={[
          ['', t.deliveries.any],
          ...deliveryStatuses.map((one) => [one, t.deliveries.statuses[one] ?? one] as const),
        ]}
        onChange={(status) => apply({ status: status || undefined })}
      />
      <Field
        label={t.deliveries.eventId}
        type="search"
        value={typed.eventId}
        onChange={(event) => setTyped({ ...typed, eventId: event.target.value })}
      />
      <Field
        label={t.deliveries.paymentId}
        type="search"
        value={typed.paymentId}
        onChange={(event) => setTyped({ ...typed, paymentId: event.target.value })}
      />
    </Filters>
  );
}

/** The deliveries that a filter finds, newest first; one of them opens with its request and its answers. */
export function Deliveries({ filter }: Readonly<{ filter: DeliveryFilter }>) {
  const t = useDeveloperTexts();
  const [open, setOpen] = useState<string | null>(null);
  const query = useInfiniteQuery({
    queryKey: ['deliveries', filter],
    queryFn: ({ pageParam }) => readDeliveries(filter, pageParam),
    ...byCursor,
    refetchInterval: 5000,
  });
  const shown = query.data?.pages.flatMap(({ items }) => items).find(({ id }) => id === open);
  return (
    <section className={css.card} aria-labelledby="deliveries">
      <h2 id="deliveries">{t.deliveries.title}</h2>
      <p className={css.soft}>{t.deliveries.why}</p>
      <More query={query} none={<p className={css.empty}>{t.deliveries.none}</p>}>
        {(items) => <Rows deliveries={items} onOpen={setOpen} />}
      </More>
      {shown && <DeliveryDialog delivery={shown} onEnd={() => setOpen(null)} />}
    </section>
  );
}

function Rows(props: Readonly<{ deliveries: readonly Delivery[]; onOpen: (id: string) => void }>) {
  const t = useDeveloperTexts();
  const names = [t.deliveries.event, t.deliveries.to, t.deliveries.status, t.deliveries.answer, t.deliveries.next];
  return (
    <Table label={t.deliveries.title} columns={names.map((name) => ({ name }))}>
      {props.deliveries.map((delivery) => {
        const last = delivery.attempts.at(-1);
        return (
          <tr key={delivery.id}>
            <td>
              <Button
                look="link"
                label={t.deliveries.openOf(delivery.type, delivery.id)}
                onClick={() => props.onOpen(delivery.id)}
              >
                {delivery.type}
              </Button>
            </td>
            <td>{delivery.endpointId === 'ipn' ? `${t.deliveries.ipn}: ${delivery.url}` : delivery.url}</td>
            <td>
              <DeliveryStatus status={delivery.status} />
            </td>
            <td>
              {last ? (last.statusCode ?? last.error) : '–'}
              {last && (
                <div className={css.soft}>
                  {t.deliveries.attempt(last.n)} <Moment at={last.at} />
                </div>
              )}
            </td>
            <td>{delivery.nextAttemptAt ? <Moment at={delivery.nextAttemptAt} /> : '–'}</td>
          </tr>
        );
      })}
    </Table>
  );
}
