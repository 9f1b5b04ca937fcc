import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { holds } from '../../../domain/access/access';
import { client, payload } from '../api/client';
import { currenciesQuery, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice } from '../design/feedback';
import { isByLightning } from '../../../domain/lightning/currency';
import { Choice, Field } from '../design/field';
import { useNumbers } from '../design/show';
import { useTexts } from '../texts/texts';
import { AcceptQuote } from './convert-accept';
import { BestRoute } from './convert-routes';
import { quoteOf, type ConversionAsk, type Quoted } from './convert-data';
import { balancesQuery, isAmountText } from './data';
import { useMoneyTexts } from './section';

const isSame = (a: ConversionAsk, b: ConversionAsk): boolean =>
  a.fromCurrency === b.fromCurrency && a.toCurrency === b.toCurrency && a.fromAmount === b.fromAmount;

/** What came by Lightning converts to bitcoin alone, and nothing converts into it. */
const canReceive = (from: string, to: string): boolean =>
  to !== from && !isByLightning(to) && (!isByLightning(from) || to === 'BTC');

export function Convert({ me }: Readonly<{ me: Me }>) {
  const words = useMoneyTexts().convert;
  const [typed, setForm] = useState<ConversionAsk>({ fromCurrency: '', toCurrency: '', fromAmount: '' });
  const [quoted, setQuoted] = useState<Quoted | null>(null);
  const [isShown, setShown] = useState(false);
  const currencies = (useQuery(currenciesQuery).data ?? []).filter(({ convert }) => convert);
  const fromCurrency = typed.fromCurrency || (currencies[0]?.currency ?? '');
  const others = currencies.filter(({ currency }) => canReceive(fromCurrency, currency));
  const toCurrency = others.some(({ currency }) => currency === typed.toCurrency)
    ? typed.toCurrency
    : (others[0]?.currency ?? '');
  const form = { fromCurrency, toCurrency, fromAmount: typed.fromAmount };
  const act = useAct(async (ask: ConversionAsk) => {
    const quote = await quoteOf(ask);
    const key = quoted && isSame(quoted.ask, ask) ? quoted.key : crypto.randomUUID();
    setQuoted({ ask, quote, at: Date.now(), key });
    setShown(true);
  });
  const enabled = useQuery({
    queryKey: ['conversions-enabled'],
    queryFn: () => payload(client.GET('/api/v1/conversions/enabled')),
  });
  const reason =
    (enabled.data?.enabled === false && words.disabled) ||
    (!isAmountText(form.fromAmount) && words.amountMissing) ||
    undefined;
  const ask = (next: ConversionAsk): void => {
    setForm(next);
    void act.run(next);
  };
  if (isShown && quoted)
    return (
      <section className={css.card} aria-labelledby="convert">
        <h2 id="convert">{words.title}</h2>
        <ErrorNotice error={act.error} />
        <AcceptQuote
          quoted={quoted}
          me={me}
          isAsking={act.isBusy}
          onQuote={(quote) => setQuoted({ ...quoted, quote, at: Date.now() })}
          onAsk={ask}
          onBack={() => setShown(false)}
        />
      </section>
    );
  return (
    <section className={css.card} aria-labelledby="convert">
      <h2 id="convert">{words.title}</h2>
      {enabled.data?.enabled === false && <Notice tone="warn">{words.disabled}</Notice>}
      <form
        className={css.stack}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void act.run(form);
        }}
      >
        <ErrorNotice error={act.error} />
        <Fields
          form={form}
          me={me}
          from={currencies.map(({ currency }) => currency)}
          to={others.map(({ currency }) => currency)}
          onChange={setForm}
        />
        <div className={css.row}>
          <Button type="submit" look="primary" busy={act.isBusy} reason={reason}>
            {words.quote}
          </Button>
        </div>
      </form>
      {toCurrency && enabled.data?.enabled && <BestRoute toCurrency={toCurrency} onChoose={ask} />}
    </section>
  );
}

function Fields(
  props: Readonly<{
    form: ConversionAsk;
    me: Me;
    from: readonly string[];
    to: readonly string[];
    onChange: (form: ConversionAsk) => void;
  }>,
) {
  const { form, me, from, to, onChange } = props;
  const t = useTexts();
  const words = useMoneyTexts();
  const numbers = useNumbers();
  const balances = useQuery({ ...balancesQuery, enabled: holds(me, 'balances:view') });
  const available = balances.data?.balances.find(({ currency }) => currency === form.fromCurrency)?.available;
  return (
    <div className={css.grid}>
      <Choice
        label={words.convert.from}
        value={form.fromCurrency}
        options={from.map((one) => [one, one] as const)}
        onChange={(fromCurrency) => onChange({ ...form, fromCurrency })}
      />
      <div className={css.stack}>
        <Field
          label={t.payment.amount}
          hint={words.withdraw.amountHint}
          inputMode="decimal"
          autoComplete="off"
          value={form.fromAmount}
          error={form.fromAmount && !isAmountText(form.fromAmount) ? words.withdraw.amountWrong : undefined}
          onChange={(event) => onChange({ ...form, fromAmount: event.target.value.trim() })}
        />
        {available !== undefined && available !== '0' && (
          <Button look="link" onClick={() => onChange({ ...form, fromAmount: available })}>
            {words.convert.all(numbers.crypto(available, form.fromCurrency))}
          </Button>
        )}
      </div>
      <Choice
        label={words.convert.to}
        value={form.toCurrency}
        options={to.map((one) => [one, one] as const)}
        onChange={(toCurrency) => onChange({ ...form, toCurrency })}
      />
    </div>
  );
}
