import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { holds } from '../../../domain/access/access';
import { checkoutUrl } from '../api/places';
import { currenciesQuery, meQuery } from '../api/queries';
import css from '../design/design.module.css';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy, Qr, useNumbers } from '../design/show';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';
import { PaymentActs } from './acts';
import { paceOf, readPayment, type Payment } from './data';
import { Refunds } from './refunds';
import { isFinal, Status } from './status';
import { Timeline } from './timeline';
import { Transaction } from './transaction';

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
          </div>
          <Refunds payment={payment} me={me} />
          <Timeline payment={payment} />
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

function Money({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const numbers = useNumbers();
  const { currency } = payment;
  const rows: Array<readonly [string, number | string | undefined]> = [
    [t.payment.amount, payment.amount],
    [t.payments.received, payment.amountPaid],
    [t.payment.remaining, payment.amountRemaining],
    [t.payment.overpaid, payment.overpaidAmount],
    [t.payment.fee, payment.feeAmount],
    [t.payment.net, payment.netAmount],
    [t.payment.refunded, payment.refundedAmount === '0' ? undefined : payment.refundedAmount],
  ];
  return (
    <section className={css.card} aria-labelledby="money">
      <h2 id="money">{t.payment.money}</h2>
      {currency ? (
        <dl className={css.facts}>
          {rows.map(
            ([name, value]) =>
              value !== undefined && (
                <div key={name} className={css.pair}>
                  <dt>{name}</dt>
                  <dd>{numbers.crypto(value, currency)}</dd>
                </div>
              ),
          )}
          {payment.exchangeRate !== undefined && (
            <div className={css.pair}>
              <dt>{t.payment.rate}</dt>
              <dd>{t.payment.rateOf(numbers.fiat(payment.exchangeRate, payment.fiatCurrency), currency)}</dd>
            </div>
          )}
          <div className={css.pair}>
            <dt>{t.payment.basis}</dt>
            <dd>{t.payment.bases[payment.basis]}</dd>
          </div>
        </dl>
      ) : (
        <p>{t.payment.noCurrency}</p>
      )}
      {payment.receivedOther.length > 0 && (
        <Notice tone="warn">
          {t.payment.other}{' '}
          {payment.receivedOther.map(({ amount, currency: other }) => numbers.crypto(amount, other)).join(', ')}
        </Notice>
      )}
    </section>
  );
}

function Details({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const currencies = useQuery(currenciesQuery);
  const explorer = currencies.data?.find(({ currency }) => currency === payment.currency)?.explorerTxUrl;
  const texts: Array<readonly [string, string | undefined]> = [
    [t.payment.id, payment._id],
    [t.payment.address, payment.publicKey],
    [t.payment.tag, payment.destinationTag],
    [t.payments.order, payment.merchantOrderId],
    [t.payment.customer, payment.customerId],
    [t.payment.extra, payment.extraId],
    [t.payment.settlement, payment.merchantSettlementAddress],
  ];
  return (
    <section className={css.card} aria-labelledby="details">
      <h2 id="details">{t.payment.details}</h2>
      <dl className={css.facts}>
        {texts.map(
          ([name, value]) =>
            value && (
              <div key={name} className={css.pair}>
                <dt>{name}</dt>
                <dd>
                  <Copy value={value} label={name} />
                </dd>
              </div>
            ),
        )}
        <div className={css.pair}>
          <dt>{t.created}</dt>
          <dd>
            <Moment at={payment.createdAt} />
          </dd>
        </div>
        <div className={css.pair}>
          <dt>{t.payment.source}</dt>
          <dd>{t.payment.sources[payment.source]}</dd>
        </div>
        {payment.txIds.length > 0 && (
          <div className={css.pair}>
            <dt>{t.payment.transactions}</dt>
            <dd>
              {payment.txIds.map((txId) => (
                <Transaction key={txId} txId={txId} explorer={explorer} />
              ))}
            </dd>
          </div>
        )}
      </dl>
      {payment.metadata !== undefined && (
        <details>
          <summary>{t.payment.metadata}</summary>
          <pre className={css.code}>{JSON.stringify(payment.metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}
