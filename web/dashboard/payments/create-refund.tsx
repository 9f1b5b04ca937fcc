import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isByLightning } from '../../../domain/lightning/currency';
import { client, payload } from '../api/client';
import { currenciesQuery } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { Facts } from '../design/facts';
import { ErrorNotice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { Code, useNumbers } from '../design/show';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { renewPayment, type Payment } from './data';

const types = ['full', 'partial', 'overpaid', 'underpaid'] as const;
type RefundType = (typeof types)[number];
type Ask = Readonly<{
  type: RefundType;
  amount?: string;
  currency?: string;
  address?: string;
  destinationTag?: string;
  feeBearer: 'merchant' | 'payer';
  reason?: string;
}>;

const preview = (paymentId: string, body: Ask) =>
  payload(client.POST('/api/v1/payments/{paymentId}/refunds/preview', { params: { path: { paymentId } }, body }));
type Preview = Readonly<{ ask: Ask; told: Awaited<ReturnType<typeof preview>> }>;

/** A refund in two steps: what it would be, with its fee, and then the same with a second factor. */
export function CreateRefund({ payment, onEnd }: Readonly<{ payment: Payment; onEnd: () => void }>) {
  const t = useTexts();
  const [shown, setShown] = useState<Preview | null>(null);
  const [form, setForm] = useState<Ask>({ type: firstType(payment), feeBearer: 'merchant' });
  return (
    <Dialog title={t.refunds.create} onClose={onEnd}>
      {shown ? (
        <Confirm payment={payment} preview={shown} onBack={() => setShown(null)} onEnd={onEnd} />
      ) : (
        <Terms payment={payment} form={form} onChange={setForm} onPreview={setShown} onEnd={onEnd} />
      )}
    </Dialog>
  );
}

const firstType = ({ status, exceptions }: Payment): RefundType =>
  status === 'FAILED' || status === 'EXPIRED' || status === 'CANCELLED'
    ? 'underpaid'
    : exceptions.includes('overpaid')
      ? 'overpaid'
      : 'full';

/** What is sent: empty fields are left out. */
const askOf = ({ type, feeBearer, amount, currency, address, destinationTag, reason }: Ask): Ask => ({
  type,
  feeBearer,
  ...(type === 'partial' && amount ? { amount: amount.trim() } : {}),
  ...(currency ? { currency } : {}),
  ...(address?.trim() ? { address: address.trim() } : {}),
  ...(address?.trim() && destinationTag?.trim() ? { destinationTag: destinationTag.trim() } : {}),
  ...(reason?.trim() ? { reason: reason.trim() } : {}),
});

/** By Lightning the payer alone names where it goes. */
function Receiver(props: Readonly<{ form: Ask; currency: string | undefined; onChange: (form: Ask) => void }>) {
  const { form, currency, onChange } = props;
  const t = useTexts();
  if (currency !== undefined && isByLightning(currency)) return <p className={css.hint}>{t.refunds.byInvoice}</p>;
  return (
    <>
      <Field
        label={t.refunds.address}
        hint={t.refunds.addressHint}
        maxLength={120}
        isCode
        value={form.address ?? ''}
        onChange={(event) => onChange({ ...form, address: event.target.value })}
      />
      <TagField form={form} currency={currency} onChange={onChange} />
    </>
  );
}

/** Of assets whose addresses many share. */
function TagField(props: Readonly<{ form: Ask; currency: string | undefined; onChange: (form: Ask) => void }>) {
  const { form, currency, onChange } = props;
  const t = useTexts();
  const { data } = useQuery(currenciesQuery);
  if (!data?.find((one) => one.currency === currency)?.requiresDestinationTag) return null;
  return (
    <Field
      label={t.refunds.tag}
      maxLength={64}
      isCode
      value={form.destinationTag ?? ''}
      onChange={(event) => onChange({ ...form, destinationTag: event.target.value })}
    />
  );
}

function Terms(
  props: Readonly<{
    payment: Payment;
    form: Ask;
    onChange: (form: Ask) => void;
    onPreview: (preview: Preview) => void;
    onEnd: () => void;
  }>,
) {
  const { payment, form, onChange, onPreview, onEnd } = props;
  const t = useTexts();
  const others = payment.receivedOther.map(({ currency }) => currency);
  const currencies = [...new Set([payment.currency, ...others].filter((one) => one !== undefined))];
  const act = useAct(async () => {
    const ask = askOf(form);
    onPreview({ ask, told: await preview(payment._id, ask) });
  });
  return (
    <form
      className={css.stack}
      onSubmit={(event) => {
        event.preventDefault();
        void act.run();
      }}
    >
      <ErrorNotice error={act.error} />
      <Choice
        label={t.refunds.type}
        value={form.type}
        options={types.map((type) => [type, t.refunds.types[type]])}
        onChange={(type) => onChange({ ...form, type })}
      />
      {form.type === 'partial' && (
        <Field
          label={t.refunds.amount(payment.currency ?? '')}
          inputMode="decimal"
          value={form.amount ?? ''}
          onChange={(event) => onChange({ ...form, amount: event.target.value })}
        />
      )}
      {currencies.length > 1 && (
        <Choice
          label={t.payments.currency}
          value={form.currency ?? currencies[0]!}
          options={currencies.map((one) => [one, one])}
          onChange={(currency) => onChange({ ...form, currency })}
        />
      )}
      <Receiver form={form} currency={form.currency ?? currencies[0]} onChange={onChange} />
      <Choice
        label={t.refunds.feeBearer}
        value={form.feeBearer}
        options={(['merchant', 'payer'] as const).map((one) => [one, t.refunds.feeBearers[one]])}
        onChange={(feeBearer) => onChange({ ...form, feeBearer })}
      />
      <Field
        label={t.payment.reason}
        hint={t.payment.reasonHint}
        maxLength={256}
        value={form.reason ?? ''}
        onChange={(event) => onChange({ ...form, reason: event.target.value })}
      />
      <div className={css.row}>
        <Button type="submit" look="primary" busy={act.isBusy}>
          {t.refunds.preview}
        </Button>
        <Button onClick={onEnd}>{t.cancel}</Button>
      </div>
    </form>
  );
}

function Confirm(props: Readonly<{ payment: Payment; preview: Preview; onBack: () => void; onEnd: () => void }>) {
  const { payment, preview, onBack, onEnd } = props;
  const { ask, told } = preview;
  const t = useTexts();
  const toast = useToast();
  const numbers = useNumbers();
  const confirm = useStepUp();
  const [key] = useState(() => crypto.randomUUID());
  const act = useAct(async () => {
    const made = await confirm('refund', (factor) =>
      payload(
        client.POST('/api/v1/payments/{paymentId}/refunds', {
          params: { path: { paymentId: payment._id }, header: { 'Idempotency-Key': key } },
          body: { ...ask, ...factor },
        }),
      ),
    );
    if (!made) return;
    await renewPayment();
    toast(t.refunds.created);
    onEnd();
  });
  return (
    <div className={css.stack}>
      <Facts
        facts={[
          [t.refunds.counts, numbers.crypto(told.amount, told.currency)],
          [t.refunds.fee, numbers.crypto(told.networkFee, told.currency)],
          [t.refunds.gets, numbers.crypto(told.netToDestination, told.currency)],
          [t.refunds.worth, numbers.fiat(told.fiatAmount, told.fiatCurrency)],
          [
            isByLightning(told.currency) ? t.refunds.invoice : t.refunds.address,
            told.address === null ? t.refunds.payerNames : <Code value={told.address} />,
          ],
          [t.refunds.tag, told.destinationTag],
        ]}
      />
      <ErrorNotice error={act.error} />
      <div className={css.row}>
        <Button look="primary" busy={act.isBusy} onClick={() => void act.run()}>
          {t.refunds.submit}
        </Button>
        <Button onClick={() => !act.isBusy && onBack()}>{t.back}</Button>
      </div>
    </div>
  );
}
