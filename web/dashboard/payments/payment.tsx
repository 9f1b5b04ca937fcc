import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { holds } from '../../../domain/access/access';
import { checkoutUrl } from '../api/places';
import { meQuery } from '../api/queries';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy, Qr, useNumbers } from '../design/show';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';
import { PaymentActs } from './acts';
import { paceOf, readPayment, type Payment } from './data';
import { Donor } from './donor';
import { Details, Money } from './facts';
import { Refunds } from './refunds';
import { isFinal, Status } from './status';
import { Timeline } from './timeline';

export function PaymentPage() {
  const t = useTexts();
  const { paymentId } = useParams({ from: '/signed-in/payments/$paymentId' });
  const { data: me } = useSuspenseQuery(meQuery);
  const query = useQuery({
    queryKey: ['payment', paymentId],
    queryFn: () => readPayment(paymentId),
    refetchInterval: ({ state }) => paceOf(state.data),
  });
  const payment = query.data;
  return (
    <Page title={payment ? t.payment.title(payment.shortSlug) : t.payments.payment}>
      <p>
        <Link to="/payments">{t.payment.back}</Link>
      </p>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={8} />}
      {payment && me && (
        <>
          <Summary payment={payment} />
          <PaymentActs payment={payment} mayManage={holds(me, 'payments:manage')} />
          <div className={css.grid}>
            {!isFinal(payment.status) && <Invoice payment={payment} />}
            <Money payment={payment} />
            <Details payment={payment} />
            <Donor payment={payment} />
          </div>
          <Refunds payment={payment} me={me} />
          <Timeline payment={payment} me={me} />
        </>
      )}
    </Page>
  );
}

function Summary({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const numbers = useNumbers();
  return (
    <div className={css.row} aria-live="polite">
      <span className={css.big}>{numbers.fiat(payment.fiatAmount, payment.fiatCurrency)}</span>
      <Status status={payment.status} />
      {payment.exceptions.map((exception) => (
        <span key={exception} className={`${css.badge} ${css.warn}`}>
          {t.exceptions[exception]}
        </span>
      ))}
      {payment.requiredConfirmations !== undefined && payment.status === 'CONFIRMING' && (
        <span>{t.payment.confirmations(payment.confirmations, payment.requiredConfirmations)}</span>
      )}
    </div>
  );
}

function Invoice({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const link = `${checkoutUrl}${payment.invoiceUrl}`;
  return (
    <section className={css.card} aria-labelledby="invoice">
      <h2 id="invoice">{t.payment.invoice}</h2>
      <p className={css.soft}>{t.payment.invoiceWhy}</p>
      <Qr text={link} label={t.payment.invoiceQr} />
      <Copy value={link} label={t.payment.invoiceLink} />
      {payment.expiresAt && (
        <p>
          {t.payment.expires} <Moment at={payment.expiresAt} />
        </p>
      )}
    </section>
  );
}
