import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import { currenciesQuery, queryClient } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { useTexts } from '../texts/texts';

type Form = { amount: string; merchantOrderId: string };

/** A payment made by hand: its invoice link is on its page. The key makes a repeat after a lost answer find the first
 *  one. */
export function CreatePayment({ onEnd }: Readonly<{ onEnd: () => void }>) {
  const t = useTexts();
  const navigate = useNavigate();
  const currencies = useQuery(currenciesQuery);
  const [currency, setCurrency] = useState('');
  const [key] = useState(() => crypto.randomUUID());
  const { register, handleSubmit, formState } = useForm<Form>();
  const act = useAct(async ({ amount, merchantOrderId }: Form) => {
    const made = await payload(
      client.POST('/api/v1/payments', {
        params: { header: { 'Idempotency-Key': key } },
        body: {
          // The API takes the price as a JSON number, in whole minor units.
          amount: JSON.parse(amount.trim()) as number,
          ...(currency ? { currency } : {}),
          ...(merchantOrderId.trim() ? { merchantOrderId: merchantOrderId.trim() } : {}),
        },
      }),
    );
    await queryClient.invalidateQueries({ queryKey: ['payments'] });
    await queryClient.invalidateQueries({ queryKey: ['payment-counts'] });
    await navigate({ to: '/payments/$paymentId', params: { paymentId: made.paymentId } });
  });
  return (
    <Dialog title={t.createPayment.title} onClose={() => !act.isBusy && onEnd()}>
      <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
        <ErrorNotice error={act.error} />
        <WhyRefused error={act.error} />
        <Field
          label={t.createPayment.amount}
          hint={t.createPayment.amountHint}
          inputMode="decimal"
          error={formState.errors.amount && t.createPayment.amountWrong}
          {...register('amount', { pattern: /^\s*(0|[1-9]\d{0,11})(\.\d{1,2})?\s*$/, required: true })}
        />
        <Choice
          label={t.payments.currency}
          value={currency}
          options={[
            ['', t.createPayment.payerChooses],
            ...(currencies.data ?? [])
              .filter(({ payin }) => payin)
              .map(({ currency: one, name, networkName }) => [one, `${name} (${networkName})`] as const),
          ]}
          onChange={setCurrency}
        />
        <Field label={t.payments.order} maxLength={256} {...register('merchantOrderId')} />
        <div className={css.row}>
          <Button type="submit" look="primary" busy={act.isBusy}>
            {t.createPayment.submit}
          </Button>
          <Button onClick={() => !act.isBusy && onEnd()}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A generic refusal keeps its reason under the request's id, for the merchant alone. */
function WhyRefused({ error }: Readonly<{ error: unknown }>) {
  const t = useTexts();
  const requestId = error instanceof ApiError && error.message === 'Payment creation failed' ? error.requestId : null;
  const log = useQuery({
    queryKey: ['request-log', requestId],
    queryFn: () =>
      payload(client.GET('/api/v1/request-logs/{requestId}', { params: { path: { requestId: requestId! } } })),
    enabled: requestId !== null,
    staleTime: Infinity,
  });
  if (!requestId || !log.data) return null;
  return (
    <Notice tone="warn">
      {t.createPayment.why} {t.createPayment.reasons[log.data.reason] ?? log.data.reason}
    </Notice>
  );
}
