import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isByLightning } from '../../../domain/lightning/currency';
import { currenciesQuery } from '../api/queries';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Notice } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy, useNumbers } from '../design/show';
import { useTexts } from '../texts/texts';
import type { Payment } from './data';
import { Transaction } from './transaction';

/** What a payment came to: in its currency, and in the currency of its price. */
export function Money({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const numbers = useNumbers();
  const { currency } = payment;
  if (!currency)
    return (
      <section className={css.card} aria-labelledby="money">
        <h2 id="money">{t.payment.money}</h2>
        <p>{t.payment.noCurrency}</p>
      </section>
    );
  // Gross is what the fee was taken from: the price, and in the end what arrived.
  const isSettled = payment.basis === 'settled';
  const crypto = (value: number | string | undefined) => value !== undefined && numbers.crypto(value, currency);
  const both = (value: number | undefined, worth: number | undefined) =>
    value !== undefined && (
      <>
        {numbers.crypto(value, currency)}
        {worth !== undefined && <span className={css.soft}> {numbers.fiat(worth, payment.fiatCurrency)}</span>}
      </>
    );
  return (
    <section className={css.card} aria-labelledby="money">
      <h2 id="money">{t.payment.money}</h2>
      <Facts
        facts={[
          [t.payment.amount, both(payment.amount, isSettled ? undefined : payment.grossFiat)],
          [t.payments.received, both(payment.amountPaid, isSettled ? payment.grossFiat : undefined)],
          [t.payment.remaining, crypto(payment.amountRemaining)],
          [t.payment.overpaid, crypto(payment.overpaidAmount)],
          [t.payment.commission, both(payment.commissionAmount, payment.commissionFiat)],
          [t.payment.networkFee, both(payment.sweepCostCrypto, payment.networkFeeFiat)],
          [t.payment.fee, both(payment.feeAmount, payment.feeFiat)],
          [t.payment.net, both(payment.netAmount, payment.netFiat)],
          [t.payment.basis, t.payment.bases[payment.basis]],
          [t.payment.feeBearer, t.payment.feeBearers[payment.feeBearer]],
          [t.payment.refunded, payment.refundedAmount !== '0' && crypto(payment.refundedAmount)],
          [
            t.payment.rate,
            payment.exchangeRate !== undefined &&
              t.payment.rateOf(numbers.rate(payment.exchangeRate, payment.fiatCurrency), currency),
          ],
        ]}
      />
      {payment.receivedOther.length > 0 && <Other payment={payment} />}
    </section>
  );
}

/** What came in other coins, and what happens of itself unless somebody decides. */
function Other({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const numbers = useNumbers();
  const { crossChainAutoAcceptAt: accepted, crossChainRejectAt: rejected } = payment;
  return (
    <Notice tone="warn">
      <p>
        {t.payment.other}{' '}
        {payment.receivedOther.map(({ amount, currency }) => numbers.crypto(amount, currency)).join(', ')}
      </p>
      {payment.status === 'CROSS_CHAIN_PENDING' && accepted && (
        <p>
          {t.payment.acceptedAt} <Moment at={accepted} />
        </p>
      )}
      {payment.status === 'CROSS_CHAIN_PENDING' && rejected && (
        <p>
          {t.payment.rejectedAt} <Moment at={rejected} />
        </p>
      )}
    </Notice>
  );
}

/** What belongs to a payment: whose it is, where it went, what it came from and what it brought forth. */
export function Details({ payment }: Readonly<{ payment: Payment }>) {
  const t = useTexts();
  const currencies = useQuery(currenciesQuery);
  const explorer = currencies.data?.find(({ currency }) => currency === payment.currency)?.explorerTxUrl;
  const copied = (name: string, value: string | undefined) =>
    [name, value && <Copy value={value} label={name} />] as const;
  return (
    <section className={css.card} aria-labelledby="details">
      <h2 id="details">{t.payment.details}</h2>
      <Facts
        facts={[
          copied(t.payment.id, payment._id),
          [t.payment.description, payment.description],
          copied(
            payment.currency && isByLightning(payment.currency) ? t.payment.lightningInvoice : t.payment.address,
            payment.publicKey,
          ),
          copied(t.payment.tag, payment.destinationTag),
          copied(t.payments.order, payment.merchantOrderId),
          copied(t.payment.customer, payment.customerId),
          copied(t.payment.extra, payment.extraId),
          copied(t.payment.settlement, payment.merchantSettlementAddress),
          [t.created, <Moment at={payment.createdAt} />],
          [t.payment.source, t.payment.sources[payment.source]],
          [t.payment.screen, payment.aml && <Screen aml={payment.aml} />],
          [t.payment.parent, payment.parentPaymentId && <Others ids={[payment.parentPaymentId]} />],
          [
            t.payment.children,
            payment.repeatDepositChildIds.length > 0 && <Others ids={payment.repeatDepositChildIds} />,
          ],
          [
            t.payment.transactions,
            payment.txIds.length > 0 &&
              payment.txIds.map((txId) => <Transaction key={txId} txId={txId} explorer={explorer} />),
          ],
        ]}
      />
      {payment.metadata !== undefined && (
        <details>
          <summary>{t.payment.metadata}</summary>
          <pre className={css.code}>{JSON.stringify(payment.metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

function Screen({ aml }: Readonly<{ aml: NonNullable<Payment['aml']> }>) {
  const t = useTexts();
  return (
    <>
      {t.payment.screens[aml.status] ?? aml.status}
      {aml.riskScore !== undefined && ` (${t.payment.score(aml.riskScore)})`} <Moment at={aml.checkedAt} />
    </>
  );
}

const Others = ({ ids }: Readonly<{ ids: readonly string[] }>) =>
  ids.map((paymentId) => (
    <p key={paymentId}>
      <Link to="/payments/$paymentId" params={{ paymentId }} className={css.code}>
        {paymentId}
      </Link>
    </p>
  ));
