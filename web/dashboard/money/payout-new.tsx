import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { isByLightning } from '../../../domain/lightning/currency';
import { client, payload } from '../api/client';
import { save } from '../api/download';
import { ApiError } from '../api/errors';
import { currenciesQuery, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice, useRefusal, useToast } from '../design/feedback';
import { Field, TextArea } from '../design/field';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { renewMoney } from './data';
import { CheckedRows, Totals, validate, type Checked, type PayoutRow } from './payout-check';
import { MoneyPage, useMoneyTexts } from './section';

/** Rows of a file, read by the server, and what it says of each. */
async function check(text: string): Promise<Batch> {
  const { rows } = await payload(
    client.POST('/api/v1/mass-payouts/import', {
      body: text as never,
      bodySerializer: (body) => String(body),
      headers: { 'Content-Type': 'text/csv' },
    }),
  );
  return { rows, checked: await validate(rows) };
}
type Batch = Readonly<{ rows: PayoutRow[]; checked: Checked }>;

async function downloadTemplate(): Promise<void> {
  const blob = await payload(client.GET('/api/v1/mass-payouts/template.csv', { parseAs: 'blob' }));
  save(blob as unknown as Blob, 'mass-payout.csv');
}

/** A mass payout: pasted or uploaded, checked row by row, and queued whole. */
export function NewPayoutPage() {
  const words = useMoneyTexts().payouts;
  const t = useTexts();
  return (
    <MoneyPage title={words.create} permission="mass-payouts:view">
      {(me) => (
        <>
          <p>
            <Link to="/money/payouts" search={{}}>
              {words.back}
            </Link>
          </p>
          {mayCall(me, access.queuePayouts.may) ? (
            <NewPayout me={me} />
          ) : (
            <Notice tone="warn">{t.needs('mass-payouts:manage')}</Notice>
          )}
        </>
      )}
    </MoneyPage>
  );
}

function NewPayout({ me }: Readonly<{ me: Me }>) {
  const words = useMoneyTexts().payouts;
  const currencies = useQuery(currenciesQuery).data ?? [];
  const byLightning = currencies.some(({ currency, payout }) => payout && isByLightning(currency));
  const [text, setText] = useState('');
  const [batch, setBatch] = useState<Batch | null>(null);
  const checking = useAct(async (rows: string) => setBatch(await check(rows)));
  const template = useAct(downloadTemplate);
  const change = (next: string): void => {
    setText(next);
    setBatch(null);
  };
  const reason = text.trim() ? undefined : words.rowsMissing;
  return (
    <>
      <form
        className={css.card}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void checking.run(text);
        }}
      >
        <ErrorNotice error={checking.error ?? template.error} />
        <TextArea
          label={words.rows}
          hint={byLightning ? `${words.rowsHint} ${words.rowsHintLightning}` : words.rowsHint}
          rows={8}
          spellCheck={false}
          value={text}
          onChange={(event) => change(event.target.value)}
        />
        <Field
          label={words.file}
          type="file"
          accept=".csv,text/csv"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) void file.text().then(change);
          }}
        />
        <div className={css.row}>
          <Button type="submit" look={batch ? 'plain' : 'primary'} busy={checking.isBusy} reason={reason}>
            {words.check}
          </Button>
          <Button look="link" busy={template.isBusy} onClick={() => void template.run()}>
            {words.template}
          </Button>
        </div>
      </form>
      {batch && <Send me={me} batch={batch} onChecked={(checked) => setBatch({ ...batch, checked })} />}
    </>
  );
}

/** What was checked, and the act that sends it. The key makes a repeat after a lost answer find the first batch. */
function Send(props: Readonly<{ me: Me; batch: Batch; onChecked: (checked: Checked) => void }>) {
  const { batch, onChecked } = props;
  const { rows, checked } = batch;
  const words = useMoneyTexts().payouts;
  const toast = useToast();
  const navigate = useNavigate();
  const confirm = useStepUp();
  const refusal = useRefusal();
  const [label, setLabel] = useState('');
  const [key] = useState(() => crypto.randomUUID());
  const act = useAct(async () => {
    try {
      const body = { rows, idempotencyKey: key, ...(label.trim() ? { label: label.trim() } : {}) };
      const made = await confirm('mass_payout', (factor) =>
        payload(client.POST('/api/v1/mass-payouts', { body: { ...body, ...factor } })),
      );
      if (!made) return;
      await renewMoney('payouts');
      toast(words.queued);
      await navigate({ to: '/money/payouts/$payoutId', params: { payoutId: made.value._id } });
    } catch (error) {
      // Since the check a row has become wrong: say which.
      if (error instanceof ApiError && error.code === 'BATCH_INVALID' && Array.isArray(error.details['rows']))
        onChecked({ ...checked, rows: error.details['rows'] as Checked['rows'] });
      throw error;
    }
  });
  const wrong = checked.rows.filter(({ valid }) => !valid).length;
  const reason = wrong
    ? words.fixFirst(wrong)
    : checked.overBalanceCurrencies.length
      ? words.overBalance(checked.overBalanceCurrencies.join(', '))
      : checked.reasons.map(refusal).join(' ') || undefined;
  return (
    <section className={css.card} aria-labelledby="checked">
      <h2 id="checked">{words.checked(checked.rows.length)}</h2>
      {reason && <Notice tone="bad">{reason}</Notice>}
      <Totals checked={checked} />
      <CheckedRows rows={checked.rows} />
      <Field
        label={words.label}
        hint={words.labelHint}
        maxLength={100}
        value={label}
        onChange={(event) => setLabel(event.target.value)}
      />
      <ErrorNotice error={act.error} />
      <div>
        <Button look="primary" busy={act.isBusy} reason={reason} onClick={() => void act.run()}>
          {words.submit(checked.rows.length)}
        </Button>
      </div>
    </section>
  );
}
