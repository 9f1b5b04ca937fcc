import { useQuery } from '@tanstack/react-query';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice } from '../design/feedback';
import { Facts } from '../design/facts';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { useTexts } from '../texts/texts';
import { readReason, type LoggedRequest } from './data';
import { useDeveloperTexts } from './texts/use';

type Props = Readonly<{ request: LoggedRequest; keyName: string | undefined; onEnd: () => void }>;

/** One request with all that is known of it. */
export function RequestDialog({ request, keyName, onEnd }: Props) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const { errorCode } = request;
  return (
    <Dialog title={`${request.method} ${request.path}`} onClose={onEnd}>
      <Facts
        facts={[
          [t.requests.answer, [request.status, errorCode].filter(Boolean).join(' ')],
          [t.requests.meaning, errorCode && all.refusals[errorCode]],
          [t.requests.id, <Copy key="id" value={request.requestId} label={t.requests.id} />],
          [t.requests.at, <Moment key="at" at={request.createdAt} />],
          [t.requests.duration, t.requests.ms(request.durationMs)],
          [t.requests.key, keyName ?? request.apiKeyId],
          [t.requests.from, request.ip],
          [t.requests.idempotent, request.idempotencyKeyUsed ? t.requests.used : t.requests.notUsed],
        ]}
      />
      {request.status >= 400 && <Reason requestId={request.requestId} heading="h3" />}
      <div>
        <Button onClick={onEnd}>{all.back}</Button>
      </div>
    </Dialog>
  );
}

/** Why a request was refused in general words, where a reason is kept. */
export function Reason({ requestId, heading: Heading }: Readonly<{ requestId: string; heading: 'h2' | 'h3' }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const { data, error, refetch } = useQuery({
    queryKey: ['refusal-reason', requestId],
    queryFn: () => readReason(requestId),
    staleTime: Infinity,
  });
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { reason, details, createdAt } = data;
  return (
    <section className={css.card} aria-label={t.requests.refused}>
      <Heading>{t.requests.refused}</Heading>
      <Facts
        facts={[
          [
            t.requests.reason,
            <span key="reason">
              {all.createPayment.reasons[reason] ?? reason} <span className={css.code}>({reason})</span>
            </span>,
          ],
          [t.requests.at, <Moment key="at" at={createdAt} />],
        ]}
      />
      <pre className={css.pre} tabIndex={0} aria-label={t.requests.details}>
        {JSON.stringify(details, null, 1)}
      </pre>
    </section>
  );
}
