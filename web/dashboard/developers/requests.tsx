import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Field } from '../design/field';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { useTexts } from '../texts/texts';
import { DevelopersFrame } from './frame';
import { useDeveloperTexts } from './texts/use';

const read = (requestId: string) =>
  payload(client.GET('/api/v1/request-logs/{requestId}', { params: { path: { requestId } } }));

/** Why a request was refused in general words, by the id that its answer named. */
export function RequestsPage() {
  const t = useDeveloperTexts();
  const all = useTexts();
  const navigate = useNavigate();
  const { requestId } = useSearch({ from: '/signed-in/developers/requests' });
  const [typed, setTyped] = useState(requestId ?? '');
  return (
    <DevelopersFrame>
      <section className={css.card} aria-labelledby="requests">
        <h2 id="requests">{t.requests.title}</h2>
        <p className={css.soft}>{t.requests.why}</p>
        <form
          className={css.stack}
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            const wanted = typed.trim();
            void navigate({ to: '/developers/requests', search: wanted ? { requestId: wanted } : {} });
          }}
        >
          <Field
            label={t.requests.id}
            hint={t.requests.idHint}
            isCode
            maxLength={64}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <div>
            <Button type="submit">{all.payments.find}</Button>
          </div>
        </form>
        {requestId && <Found key={requestId} requestId={requestId} />}
      </section>
    </DevelopersFrame>
  );
}

function Found({ requestId }: Readonly<{ requestId: string }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const query = useQuery({ queryKey: ['request-log', requestId], queryFn: () => read(requestId), staleTime: Infinity });
  return (
    <Loaded query={query} lines={2}>
      {({ reason, details, createdAt }) => (
        <>
          <dl className={css.facts}>
            <dt>{t.requests.id}</dt>
            <dd>
              <Copy value={requestId} label={t.requests.id} />
            </dd>
            <dt>{t.requests.reason}</dt>
            <dd>
              {all.createPayment.reasons[reason] ?? reason} <span className={css.code}>({reason})</span>
            </dd>
            <dt>{t.requests.at}</dt>
            <dd>
              <Moment at={createdAt} />
            </dd>
          </dl>
          <pre className={css.pre} tabIndex={0} aria-label={t.requests.details}>
            {JSON.stringify(details, null, 1)}
          </pre>
        </>
      )}
    </Loaded>
  );
}
