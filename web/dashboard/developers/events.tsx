import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import css from '../design/design.module.css';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { Table } from '../design/table';
import { eventTypesQuery } from './data';
import { eventFilterOf, type EventFilter } from './event-filter';
import { DevelopersFrame } from './frame';
import { useDeveloperTexts } from './texts/use';

const read = ({ types }: EventFilter, after: string) =>
  payload(client.GET('/api/v1/events', { params: { query: { after, ...(types ? { types } : {}), limit: 50 } } }));
type Event = Awaited<ReturnType<typeof read>>['items'][number];

/** The stream that webhooks are made of, in its order; what is new appears at its end by itself. */
export function EventsPage() {
  const t = useDeveloperTexts();
  const filter = useSearch({ from: '/signed-in/developers/events', select: eventFilterOf });
  const query = useInfiniteQuery({
    queryKey: ['events', filter],
    queryFn: ({ pageParam }) => read(filter, pageParam),
    initialPageParam: filter.after ?? '0',
    getNextPageParam: (last) => (last.hasMore ? last.nextCursor : undefined),
    refetchInterval: 5000,
  });
  return (
    <DevelopersFrame>
      <EventFilters key={JSON.stringify(filter)} filter={filter} />
      <section className={css.card} aria-labelledby="events">
        <h2 id="events">{t.events.title}</h2>
        <p className={css.soft}>{t.events.why}</p>
        <More query={query} none={<p className={css.empty}>{t.events.none}</p>}>
          {(events) => <Rows events={events} />}
        </More>
      </section>
    </DevelopersFrame>
  );
}

function EventFilters({ filter }: Readonly<{ filter: EventFilter }>) {
  const t = useDeveloperTexts();
  const navigate = useNavigate();
  const types = useQuery(eventTypesQuery);
  const [after, setAfter] = useState(filter.after ?? '');
  const apply = (change: EventFilter): void =>
    void navigate({ to: '/developers/events', search: { ...filter, ...change } });
  const areas = [...new Set((types.data ?? []).map(({ type }) => `${type.split('.')[0]}.*`))];
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => apply({ after: /^[1-9]\d{0,17}$/.test(after.trim()) ? after.trim() : undefined })}
      onClear={() => void navigate({ to: '/developers/events', search: {} })}
    >
      <Choice
        label={t.events.types}
        value={filter.types ?? ''}
        options={[
          ['', t.deliveries.any],
          ...areas.map((area) => [area, t.webhooks.area(area)] as const),
          ...(types.data ?? []).map(({ type }) => [type, type] as const),
        ]}
        onChange={(chosen) => apply({ types: chosen || undefined })}
      />
      <Field
        label={t.events.after}
        hint={t.events.afterHint}
        inputMode="numeric"
        value={after}
        onChange={(event) => setAfter(event.target.value)}
      />
    </Filters>
  );
}

function Rows({ events }: Readonly<{ events: readonly Event[] }>) {
  const t = useDeveloperTexts();
  const columns = [
    { name: t.events.seq, isAmount: true },
    { name: t.deliveries.event },
    { name: t.events.at },
    { name: t.events.content },
  ];
  return (
    <Table label={t.events.title} columns={columns}>
      {events.map((event) => (
        <tr key={event.id}>
          <td className={css.end}>{event.seq}</td>
          <td>
            {event.type}
            <div className={css.code}>
              <Link to="/developers/deliveries" search={{ eventId: event.id }}>
                {event.id}
              </Link>
            </div>
          </td>
          <td>
            <Moment at={event.timestamp} />
          </td>
          <td>
            <details>
              <summary>{t.events.content}</summary>
              <pre className={css.pre} tabIndex={0} aria-label={t.events.contentOf(event.seq)}>
                {JSON.stringify({ data: event.data, previous: event.previous }, null, 1)}
              </pre>
            </details>
          </td>
        </tr>
      ))}
    </Table>
  );
}
