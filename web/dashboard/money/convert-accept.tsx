import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { Facts } from '../design/facts';
import { ErrorNotice, Notice, useToast } from '../design/feedback';
import { useNumbers } from '../design/show';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import type { ConversionAsk, Quote, Quoted } from './convert-data';
import { CheaperTargets } from './convert-routes';
import { renewMoney } from './data';
import { useMoneyTexts } from './section';

/** How long a quote counts, from when it was read: this device's clock may be wrong, its seconds are not. */
const validMs = 60_000;

function useSecondsLeft(at: number): number {
  const left = () => Math.max(0, Math.ceil((at + validMs - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => setSeconds(left()), 500);
    return () => clearInterval(timer);
  }, [at]);
  return seconds;
}

type Drift = Readonly<{ driftPct: number; newQuote: Quote }>;
const driftOf = (error: unknown): Drift | null =>
  error instanceof ApiError && error.code === 'RATE_DRIFT' ? (error.details as unknown as Drift) : null;

/** Executes an accepted quote with a second factor; `drift`: the market has moved, and nothing was done. */
function useConversion(key: string) {
  const words = useMoneyTexts().convert;
  const toast = useToast();
  const navigate = useNavigate();
  const confirm = useStepUp();
  const [drift, setDrift] = useState<Drift | null>(null);
  const act = useAct(async (accepted: Quote) => {
    try {
      const made = await confirm('conversion', ({ totpCode, passkeyResponse, challengeKey }) =>
        payload(
          client.POST('/api/v1/conversions', {
            body: {
              fromCurrency: accepted.fromCurrency,
              toCurrency: accepted.toCurrency,
              fromAmount: accepted.fromAmountStr,
              quotedRate: accepted.exchangeRate,
              quotedToAmount: accepted.toAmountStr,
              idempotencyKey: key,
              ...(totpCode ? { otpCode: totpCode } : { passkeyResponse, challengeKey }),
            },
          }),
        ),
      );
      if (!made) return;
      await renewMoney('conversions');
      toast(words.done);
      await navigate({ to: '/money/conversions/$conversionId', params: { conversionId: made.value._id } });
    } catch (error) {
      const moved = driftOf(error);
      if (!moved) throw error;
      setDrift(moved);
    }
  });
  return { act, drift, setDrift };
}

/** A quote with its time, and its execution by a second factor. Where the market has moved the new quote is shown
 *  first, and nothing happens at terms that were not accepted. */
export function AcceptQuote(
  props: Readonly<{
    quoted: Quoted;
    me: Me;
    isAsking: boolean;
    onQuote: (quote: Quote) => void;
    onAsk: (ask: ConversionAsk) => void;
    onBack: () => void;
  }>,
) {
  const { quoted, me, isAsking, onQuote, onAsk, onBack } = props;
  const { ask, quote, at, key } = quoted;
  const t = useTexts();
  const words = useMoneyTexts().convert;
  const seconds = useSecondsLeft(at);
  const { act, drift, setDrift } = useConversion(key);
  const reason = !mayCall(me, access.executeConversion.may)
    ? t.needs('conversions:manage')
    : seconds === 0
      ? words.expired
      : undefined;
  return (
    <>
      <Terms quote={quote} />
      <Liquidity quote={quote} />
      <p role="timer">{seconds > 0 ? words.validFor(seconds) : words.expired}</p>
      <ErrorNotice error={act.error} />
      <div className={css.row}>
        <Button look="primary" busy={act.isBusy} reason={reason} onClick={() => void act.run(quote)}>
          {words.submit}
        </Button>
        <Button busy={isAsking} onClick={() => onAsk(ask)}>
          {words.again}
        </Button>
        <Button onClick={() => !act.isBusy && onBack()}>{t.back}</Button>
      </div>
      <CheaperTargets ask={ask} onChoose={(toCurrency) => onAsk({ ...ask, toCurrency })} />
      {drift && (
        <Drifted
          quote={quote}
          drift={drift}
          onAccept={() => {
            setDrift(null);
            onQuote(drift.newQuote);
            void act.run(drift.newQuote);
          }}
          onDecline={() => {
            setDrift(null);
            onQuote(drift.newQuote);
          }}
        />
      )}
    </>
  );
}

function Terms({ quote }: Readonly<{ quote: Quote }>) {
  const words = useMoneyTexts().convert;
  const numbers = useNumbers();
  const { fromCurrency, toCurrency, feeBreakdown: parts } = quote;
  return (
    <Facts
      facts={[
        [words.give, numbers.crypto(quote.fromAmountStr, fromCurrency)],
        [
          words.fee,
          `${numbers.crypto(quote.commissionAmount, fromCurrency)} (${numbers.percent(quote.commissionRate)})`,
        ],
        [words.platformFee, parts && numbers.percent(parts.platformFeePct / 100)],
        [words.providerFee, parts && numbers.percent(parts.providerFeePct / 100)],
        [words.net, numbers.crypto(quote.netFromAmount, fromCurrency)],
        [words.rate, words.rateOf(fromCurrency, numbers.crypto(quote.exchangeRate, toCurrency))],
        [
          quote.executionMode === 'external' ? words.getAtLeast : words.get,
          <strong>{numbers.crypto(quote.toAmountStr, toCurrency)}</strong>,
        ],
        [words.protection, quote.priceProtectionPct !== undefined && numbers.percent(quote.priceProtectionPct / 100)],
        [words.takes, quote.estimatedSeconds && words.minutes(Math.ceil(quote.estimatedSeconds / 60))],
        [words.mode, words.modes[quote.executionMode]],
      ]}
    />
  );
}

/** A target that cannot be backed now: said before somebody confirms in vain. */
function Liquidity({ quote }: Readonly<{ quote: Quote }>) {
  const words = useMoneyTexts().convert;
  const known = useQuery({
    queryKey: ['liquidity'],
    queryFn: () => payload(client.GET('/api/v1/conversions/liquidity')),
    staleTime: 30_000,
  });
  if (quote.executionMode !== 'internal' || known.data?.liquidity[quote.toCurrency] !== false) return null;
  return <Notice tone="warn">{words.illiquid(quote.toCurrency)}</Notice>;
}

function Drifted(props: Readonly<{ quote: Quote; drift: Drift; onAccept: () => void; onDecline: () => void }>) {
  const { quote, drift, onAccept, onDecline } = props;
  const words = useMoneyTexts().convert;
  const numbers = useNumbers();
  return (
    <Dialog title={words.moved} onClose={onDecline}>
      <Notice tone="warn">{words.movedBy(numbers.percent(drift.driftPct / 100))}</Notice>
      <Facts
        facts={[
          [words.before, numbers.crypto(quote.toAmountStr, quote.toCurrency)],
          [words.now, <strong>{numbers.crypto(drift.newQuote.toAmountStr, quote.toCurrency)}</strong>],
        ]}
      />
      <div className={css.row}>
        <Button look="primary" onClick={onAccept}>
          {words.acceptNew}
        </Button>
        <Button onClick={onDecline}>{words.decline}</Button>
      </div>
    </Dialog>
  );
}
