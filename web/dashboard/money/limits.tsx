import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { queryClient, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { ErrorNotice, Notice, Skeleton, useToast } from '../design/feedback';
import { Field } from '../design/field';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { isAmountText } from './data';
import { changedLimits, isCount, typedOf } from './typed-limits';
import { MoneyPage, useMoneyTexts } from './section';

const read = () => payload(client.GET('/api/v1/settings/egress-limits'));
type Limits = Awaited<ReturnType<typeof read>>;
const queryKey = ['egress-limits'];

/** What may be sent at the most, and above which sum a second person decides. */
export function LimitsPage() {
  const words = useMoneyTexts().limits;
  return (
    <MoneyPage title={words.title} permission="settings:view">
      {(me) => <Shown me={me} />}
    </MoneyPage>
  );
}

function Shown({ me }: Readonly<{ me: Me }>) {
  const words = useMoneyTexts().limits;
  const limits = useQuery({ queryKey, queryFn: read });
  const isLooser = limits.data?.activeAt && Date.parse(limits.data.activeAt) > Date.now();
  return (
    <>
      {limits.isPending && <Skeleton lines={4} />}
      {limits.isError && <ErrorNotice error={limits.error} onRetry={() => void limits.refetch()} />}
      {limits.data && (
        <>
          {limits.data.outgoingHeldSince !== null && (
            <Notice tone="warn">
              {words.held} <Moment at={limits.data.outgoingHeldSince} />
            </Notice>
          )}
          <section className={css.card} aria-labelledby="effective">
            <h2 id="effective">{words.now}</h2>
            <Values limits={limits.data.effective} used={limits.data.used} />
            {isLooser && (
              <Notice tone="warn">
                {words.looser} <Moment at={limits.data.activeAt!} />
              </Notice>
            )}
          </section>
          <Change key={JSON.stringify(limits.data.limits)} limits={limits.data.limits} me={me} />
        </>
      )}
    </>
  );
}

function Values({ limits, used }: Readonly<{ limits: Limits['effective']; used: Limits['used'] }>) {
  const words = useMoneyTexts().limits;
  const numbers = useNumbers();
  const dollars = (value: string | null): string => (value === null ? words.none : numbers.fiat(value, 'USD'));
  return (
    <Facts
      facts={[
        [words.dailyUsd, words.usedOf(numbers.fiat(used.dailyUsd, 'USD'), dollars(limits.dailyUsd))],
        [
          words.hourlyCount,
          words.usedOf(
            numbers.count(used.hourlyCount),
            limits.hourlyCount === null ? words.none : numbers.count(limits.hourlyCount),
          ),
        ],
        [words.approvalUsd, dollars(limits.approvalUsd)],
      ]}
    />
  );
}

function Change({ limits, me }: Readonly<{ limits: Limits['limits']; me: Me }>) {
  const t = useTexts();
  const words = useMoneyTexts().limits;
  const toast = useToast();
  const confirm = useStepUp();
  const [form, setForm] = useState(typedOf(limits));
  const [daily, approval] = [form.dailyUsd.trim(), form.approvalUsd.trim()];
  const wrong = {
    dailyUsd: daily !== '' && !isAmountText(daily),
    hourlyCount: !isCount(form.hourlyCount),
    approvalUsd: approval !== '' && !isAmountText(approval),
  };
  const act = useAct(async () => {
    const body = changedLimits(form, limits);
    const changed = await confirm('egress_limits', (factor) =>
      payload(client.PATCH('/api/v1/settings/egress-limits', { body: { ...body, ...factor } })),
    );
    if (!changed) return;
    await queryClient.invalidateQueries({ queryKey });
    toast(t.saved);
  });
  const reason = !mayCall(me, access.changeEgressLimits.may)
    ? t.needs('settings:manage')
    : Object.values(wrong).includes(true)
      ? words.wrong
      : undefined;
  const field = (name: keyof typeof form, error: string) => (
    <Field
      label={words[name]}
      hint={words.hints[name]}
      inputMode="decimal"
      autoComplete="off"
      value={form[name]}
      error={wrong[name] ? error : undefined}
      onChange={(event) => setForm({ ...form, [name]: event.target.value })}
    />
  );
  return (
    <form
      className={css.card}
      aria-labelledby="change-limits"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) void act.run();
      }}
    >
      <h2 id="change-limits">{words.change}</h2>
      <p className={css.soft}>{words.why}</p>
      <ErrorNotice error={act.error} />
      <div className={css.grid}>
        {field('dailyUsd', words.dollarsWrong)}
        {field('hourlyCount', words.countWrong)}
        {field('approvalUsd', words.dollarsWrong)}
      </div>
      <div>
        <Button type="submit" look="primary" busy={act.isBusy} reason={reason}>
          {t.save}
        </Button>
      </div>
    </form>
  );
}
