import { useMemo } from 'react';
import { encode } from 'uqr';
import { useTexts, usePreferences } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';
import { useToast } from './feedback';

/** A value with a button that copies it. */
export function Copy({ value, label }: Readonly<{ value: string; label: string }>) {
  const t = useTexts();
  const toast = useToast();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      toast(t.copied(label));
    } catch {
      toast(t.notCopied);
    }
  };
  return (
    <span className={css.row}>
      <span className={css.code} dir="ltr">
        {value}
      </span>
      <Button look="link" label={t.copyOf(label)} onClick={() => void copy()}>
        {t.copy}
      </Button>
    </span>
  );
}

/** A QR code, dark on light in both themes. */
export function Qr({ text, label }: Readonly<{ text: string; label: string }>) {
  const { size, path } = useMemo(() => {
    const { data, size } = encode(text, { border: 2 });
    const path = data.flatMap((line, y) => line.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
    return { size, path };
  }, [text]);
  return (
    <svg className={css.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} fill="#000" />
    </svg>
  );
}

type Exact = string | number;

/** A number as it is, with the signs of the language; decimal strings keep every digit. */
export function useNumbers() {
  const { language } = usePreferences();
  return useMemo(() => {
    const whole = new Intl.NumberFormat(language);
    const exact = new Intl.NumberFormat(language, { maximumFractionDigits: 18 });
    const signed = new Intl.NumberFormat(language, { maximumFractionDigits: 18, signDisplay: 'exceptZero' });
    const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 4 });
    const rough = new Intl.NumberFormat(language, { style: 'percent' });
    const fiats = new Map<string, Intl.NumberFormat>();
    const fiat = (value: Exact, currency: string): string => {
      const format = fiats.get(currency) ?? new Intl.NumberFormat(language, { style: 'currency', currency });
      fiats.set(currency, format);
      return format.format(value as number);
    };
    return {
      count: (value: number) => whole.format(value),
      crypto: (value: Exact, currency: string) => `${exact.format(value as number)} ${currency}`,
      /** A share: 0.004 is 0.4 %. */
      percent: (share: number) => percent.format(share),
      wholePercent: (share: number) => rough.format(share),
      /** A change of a balance. */
      signed: (value: Exact, currency: string) => `${signed.format(value as number)} ${currency}`,
      fiat,
    };
  }, [language]);
}
