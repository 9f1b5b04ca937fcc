import { useQuery } from '@tanstack/react-query';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { currenciesQuery, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton, useToast } from '../design/feedback';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { useTexts } from '../texts/texts';
import { paceOf, renewPayment, type Payment } from './data';
import { Status } from './status';
import { Transaction } from './transaction';

const read = (paymentId: string) =>
  payload(client.GET('/api/v1/payments/{paymentId}/timeline', { params: { path: { paymentId } } }));
type Item = Awaited<ReturnType<typeof read>>['items'][number];

/** What happened, oldest first: every change and every attempt to deliver its event. */
export function Timeline({ payment, me }: Readonly<{ payment: Payment; me: Me }>) {
  const t = useTexts();
  const currencies = useQuery(currenciesQuery);
  const timeline = useQuery({
    queryKey: ['timeline', payment._id, payment.stateVersion],
    queryFn: () => read(payment._id),
    placeholderData: (before) => before,
    refetchInterval: paceOf(payment) * 4,
  });
  const explorer = currencies.data?.find(({ currency }) => currency === payment.currency)?.explorerTxUrl;
  return (
    <section className={css.card} aria-labelledby="timeline">
      <h2 id="timeline">{t.timeline.title}</h2>
      {timeline.isPending && <Skeleton lines={4} />}
      {timeline.isError && <ErrorNotice error={timeline.error} onRetry={() => void timeline.refetch()} />}
      <ol className={css.timeline}>
        {timeline.data?.items.map((item, at) => (
          <li key={at}>
            {item.kind === 'change' ? (
              <Change change={item} explorer={explorer} />
            ) : (
              <Delivery delivery={item} me={me} />
            )}
            <Moment at={item.at} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Change(props: Readonly<{ change: Extract<Item, { kind: 'change' }>; explorer: string | null | undefined }>) {
  const { change, explorer } = props;
  const t = useTexts();
  const numbers = useNumbers();
  return (
    <>
      <span className={css.row}>
        <Status status={change.to} />
        {change.from === change.to && <span>{t.timeline.updated}</span>}
        <span className={css.soft}>{t.timeline.causes[change.cause] ?? change.cause}</span>
      </span>
      {change.by && <span className={css.anywhere}>{t.timeline.by(t.timeline.roles[change.by] ?? change.by)}</span>}
      {change.reason && <span className={css.anywhere}>{t.timeline.reason(change.reason)}</span>}
      {change.rate && (
        <span>
          {t.timeline.rate} {t.payment.rateOf(numbers.rate(change.rate.value, change.rate.fiat), change.rate.currency)}
        </span>
      )}
      {change.txIds.map((txId) => (
        <Transaction key={txId} txId={txId} explorer={explorer} />
      ))}
    </>
  );
}

function Delivery({ delivery, me }: Readonly<{ delivery: Extract<Item, { kind: 'delivery' }>; me: Me }>) {
  const t = useTexts();
  const toast = useToast();
  const again = useAct(async () => {
    const params = { path: { deliveryId: delivery.deliveryId } };
    await payload(client.POST('/api/v1/webhook-deliveries/{deliveryId}/redeliver', { params }));
    await renewPayment();
    toast(t.timeline.resent);
  });
  const isGood = delivery.statusCode !== null && delivery.statusCode >= 200 && delivery.statusCode < 300;
  return (
    <>
      <span className={css.row}>
        <span className={`${css.badge} ${isGood ? css.good : css.bad}`}>
          {isGood ? t.timeline.delivered : t.timeline.notDelivered}
        </span>
        <span>{t.timeline.delivery(delivery.type, delivery.attempt)}</span>
        <span className={css.soft}>{delivery.statusCode ?? delivery.error}</span>
        <Button
          look="link"
          busy={again.isBusy}
          reason={mayCall(me, access.redeliver.may) ? undefined : t.needs('webhooks:manage')}
          onClick={() => void again.run()}
        >
          {t.timeline.resend}
        </Button>
      </span>
      <ErrorNotice error={again.error} />
    </>
  );
}
