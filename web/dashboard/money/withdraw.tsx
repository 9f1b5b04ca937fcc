import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { holds } from '../../../domain/access/access';
import { isByLightning } from '../../../domain/lightning/currency';
import type { FeeMode } from '../../../domain/withdrawals/withdrawal';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { Facts } from '../design/facts';
import { ErrorNotice, Notice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { useNumbers } from '../design/show';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { isAmountText, renewMoney } from './data';
import { useMoneyTexts } from './section';
import { picksEntry, usePayable, WithdrawTarget } from './withdraw-target';

type Form = Readonly<{
  currency: string;
  amount: string;
  feeMode: FeeMode;
  target: string;
  tag: string;
  note: string;
}>;

const estimateOf = (body: Pick<Form, 'currency' | 'amount' | 'feeMode'>) =>
  payload(client.POST('/api/v1/withdrawals/estimate', { body }));

/** The figures of what is typed, asked for once the typing rests. */
function useEstimate({ currency, amount, feeMode }: Form) {
  const [asked, setAsked] = useState({ currency, amount, feeMode });
  useEffect(() => {
    const timer = setTimeout(() => setAsked({ currency, amount, feeMode }), 300);
    return () => clearTimeout(timer);
  }, [currency, amount, feeMode]);
  const estimate = useQuery({
    queryKey: ['withdrawal-estimate', asked],
    queryFn: () => estimateOf(asked),
    enabled: asked.currency !== '' && isAmountText(asked.amount),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
  const isCurrent =
    !estimate.isPlaceholderData && asked.currency === currency && asked.amount === amount && asked.feeMode === feeMode;
  return { estimate, isCurrent };
}

type Estimated = ReturnType<typeof useEstimate>;

/** A withdrawal: to an address of the whitelist, with what it costs as one types. The key makes a repeat after a lost
 *  answer find the first one. */
export function Withdraw({ me, onEnd }: Readonly<{ me: Me; onEnd: () => void }>) {
  const t = useTexts();
  const words = useMoneyTexts().withdraw;
  const navigate = useNavigate();
  const toast = useToast();
  const confirm = useStepUp();
  const payable = usePayable();
  const [typed, setForm] = useState<Form>({
    currency: '',
    amount: '',
    feeMode: 'deduct',
    target: '',
    tag: '',
    note: '',
  });
  const currency = typed.currency || (payable[0]?.currency ?? '');
  // An invoice names what arrives.
  const form: Form = { ...typed, currency, feeMode: isByLightning(currency) ? 'add' : typed.feeMode };
  const [key] = useState(() => crypto.randomUUID());
  const { estimate, isCurrent } = useEstimate(form);
  const mayPick = holds(me, 'whitelist:view');
  const act = useAct(async () => {
    const { amount, feeMode, target, tag, note } = form;
    const behind = tag.trim() ? { destinationTag: tag.trim() } : {};
    const to = picksEntry(form, mayPick) ? { whitelistId: target } : { address: target.trim(), ...behind };
    const body = {
      currency,
      amount,
      feeMode,
      ...to,
      idempotencyKey: key,
      ...(note.trim() ? { note: note.trim() } : {}),
    };
    const made = await confirm('withdrawal', (factor) =>
      payload(client.POST('/api/v1/withdrawals', { body: { ...body, ...factor } })),
    );
    if (!made) return;
    await renewMoney('withdrawals');
    toast(words.done);
    await navigate({ to: '/money/withdrawals/$withdrawalId', params: { withdrawalId: made.value._id } });
  });
  const covered = estimate.data?.covered;
  const reason =
    (!isAmountText(form.amount) && words.amountMissing) ||
    (!form.target.trim() && words.targetMissing) ||
    (isCurrent && covered === false && words.notCovered) ||
    undefined;
  return (
    <Dialog title={words.title} onClose={() => !act.isBusy && onEnd()}>
      <form
        className={css.stack}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void act.run();
        }}
      >
        <ErrorNotice error={act.error} />
        <Fields form={form} me={me} estimate={estimate} isCurrent={isCurrent} onChange={setForm} />
        <div className={css.row}>
          <Button type="submit" look="primary" busy={act.isBusy} reason={reason}>
            {words.submit}
          </Button>
          <Button onClick={() => !act.isBusy && onEnd()}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Fields(
  props: Readonly<{
    form: Form;
    me: Me;
    estimate: Estimated['estimate'];
    isCurrent: boolean;
    onChange: (form: Form) => void;
  }>,
) {
  const { form, me, estimate, isCurrent, onChange } = props;
  const t = useTexts();
  const words = useMoneyTexts().withdraw;
  const payable = usePayable();
  return (
    <>
      <Choice
        label={t.payments.currency}
        value={form.currency}
        options={payable.map(({ currency, name, networkName }) => [currency, `${name} (${networkName})`] as const)}
        onChange={(currency) => onChange({ ...form, currency, target: '', tag: '' })}
      />
      <WithdrawTarget
        value={form}
        mayPick={holds(me, 'whitelist:view')}
        onChange={(change) => onChange({ ...form, ...change })}
      />
      <Field
        label={words.amount(form.currency)}
        hint={words.amountHint}
        inputMode="decimal"
        autoComplete="off"
        value={form.amount}
        error={form.amount && !isAmountText(form.amount) ? words.amountWrong : undefined}
        onChange={(event) => onChange({ ...form, amount: event.target.value.trim() })}
      />
      {!isByLightning(form.currency) && (
        <Choice
          label={words.feeMode}
          value={form.feeMode}
          options={(['deduct', 'add'] as const).map((mode) => [mode, words.feeModes[mode]] as const)}
          onChange={(feeMode) => onChange({ ...form, feeMode })}
        />
      )}
      <Estimate query={estimate} isCurrent={isCurrent} onAll={(amount) => onChange({ ...form, amount })} />
      <Field
        label={words.note}
        hint={t.payment.reasonHint}
        maxLength={256}
        value={form.note}
        onChange={(event) => onChange({ ...form, note: event.target.value })}
      />
    </>
  );
}

function Estimate(
  props: Readonly<{
    query: Estimated['estimate'];
    isCurrent: boolean;
    onAll: (amount: string) => void;
  }>,
) {
  const { query, isCurrent, onAll } = props;
  const words = useMoneyTexts().withdraw;
  const numbers = useNumbers();
  const { data } = query;
  if (query.isError) return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!data) return <p className={css.soft}>{query.isFetching ? words.estimating : words.estimateWhy}</p>;
  return (
    <div className={css.stack} aria-busy={!isCurrent || undefined} aria-live="polite">
      <Facts
        facts={[
          [words.fee, numbers.crypto(data.networkFee, data.currency)],
          [words.gets, numbers.crypto(data.netToDestination, data.currency)],
          [words.available, numbers.crypto(data.available, data.currency)],
        ]}
      />
      {!data.covered && <Notice tone="bad">{words.notCovered}</Notice>}
      {data.maxAmount !== '0' && (
        <div>
          <Button look="link" onClick={() => onAll(data.maxAmount)}>
            {words.all(numbers.crypto(data.maxAmount, data.currency))}
          </Button>
        </div>
      )}
    </div>
  );
}
