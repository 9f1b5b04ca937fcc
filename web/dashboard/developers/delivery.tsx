import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { meQuery, queryClient } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, useToast } from '../design/feedback';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { useTexts } from '../texts/texts';
import type { Delivery } from './data';
import { DeliveryStatus } from './delivery-status';
import { useDeveloperTexts } from './texts/use';

/** The body as it is sent, byte for byte: the event as the API answers it, without the envelope around it. */
async function bodyOf(eventId: string): Promise<string> {
  const params = { path: { eventId } };
  const text = (await payload(
    client.GET('/api/v1/events/{eventId}', { params, parseAs: 'text' }),
  )) as unknown as string;
  return text.replace(/^\{"ok":true,"data":/, '').replace(/\}$/, '');
}

/** One delivery: what is sent, what was answered each time, and another try now. */
export function DeliveryDialog({ delivery, onEnd }: Readonly<{ delivery: Delivery; onEnd: () => void }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const { data: me } = useSuspenseQuery(meQuery);
  const body = useQuery({
    queryKey: ['event-body', delivery.eventId],
    queryFn: () => bodyOf(delivery.eventId),
    staleTime: Infinity,
  });
  const again = useAct(async () => {
    const params = { path: { deliveryId: delivery.id } };
    await payload(client.POST('/api/v1/webhook-deliveries/{deliveryId}/redeliver', { params }));
    await queryClient.invalidateQueries({ queryKey: ['deliveries'] });
    toast(t.deliveries.sent);
  });
  const mayResend = me !== null && mayCall(me, access.redeliver.may);
  return (
    <Dialog title={delivery.type} onClose={onEnd}>
      <div className={css.row}>
        <DeliveryStatus status={delivery.status} />
        {delivery.nextAttemptAt && (
          <span>
            {t.deliveries.next}: <Moment at={delivery.nextAttemptAt} />
          </span>
        )}
      </div>
      <h3>{t.deliveries.request}</h3>
      <p className={css.code}>POST {delivery.url}</p>
      <div className={css.row}>
        <span>webhook-id:</span> <Copy value={delivery.eventId} label="webhook-id" />
      </div>
      <p className={css.hint}>{t.deliveries.headers}</p>
      <Loaded query={body}>
        {(text) => (
          <pre className={css.pre} tabIndex={0} aria-label={t.deliveries.request}>
            {text}
          </pre>
        )}
      </Loaded>
      <h3>{t.deliveries.answers}</h3>
      {delivery.attempts.length === 0 && <p className={css.soft}>{t.deliveries.noAttempt}</p>}
      <ol className={css.timeline}>
        {delivery.attempts.toReversed().map((attempt) => (
          <li key={attempt.n}>
            <span>
              {t.deliveries.attempt(attempt.n)}: <strong>{attempt.statusCode ?? attempt.error}</strong>{' '}
              <span className={css.soft}>{t.deliveries.took(attempt.durationMs)}</span>
            </span>
            <Moment at={attempt.at} />
            {attempt.responseBody && (
              <pre className={css.pre} tabIndex={0} aria-label={t.deliveries.attempt(attempt.n)}>
                {attempt.responseBody}
              </pre>
            )}
          </li>
        ))}
      </ol>
      <ErrorNotice error={again.error} />
      <div className={css.row}>
        <Button
          look="primary"
          busy={again.isBusy}
          reason={mayResend ? undefined : all.needs('webhooks:manage')}
          onClick={() => void again.run()}
        >
          {t.deliveries.redeliver}
        </Button>
        <Button onClick={onEnd}>{all.back}</Button>
      </div>
    </Dialog>
  );
}
