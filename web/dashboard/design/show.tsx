import { useMemo } from 'react';
import { encode } from 'uqr';
import { useTexts, usePreferences } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';
import { useToast } from './feedback';

/** What is longer is a Lightning invoice, which nobody reads whole. */
const longest = 200;
/** How much of it is shown at its beginning and at its end. */
const [first, last] = [24, 12];

/** A code from left to right. Of a long one the ends are shown; selected, all of it is copied. */
export function Code({ value }: Readonly<{ value: string }>) {
  const isLong = value.length > longest;
  return (
    <span className={css.code} dir="ltr">
      {isLong ? (
        <>
          {value.slice(0, first)}
          <span className={css.middle}>{value.slice(first, -last)}</span>
          {value.slice(-last)}
        </>
      ) : (
        value
      )}
    </span>
  );
}

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
      <Code value={value} />
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

/** Making a format costs more than to draw a whole row of a list: each is made once, when it is first used. */
const made = new Map<string, Intl.NumberFormat>();

function formatOf(language: string, name: string, options?: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${name}`;
  const format = made.get(key) ?? new Intl.NumberFormat(language, options);
  made.set(key, format);
  return format;
}

/** A number as it is, with the signs of the language; decimal strings keep every digit. */
export function useNumbers() {
  const { language } = usePreferences();
  return useMemo(() => {
    const whole = (value: Exact): string => formatOf(language, 'whole').format(value as number);
    const exact = (value: Exact): string =>
      formatOf(language, 'exact', { maximumFractionDigits: 18 }).format(value as number);
    const signed = (value: Exact): string =>
      formatOf(language, 'signed', { maximumFractionDigits: 18, signDisplay: 'exceptZero' }).format(value as number);
    const percent = { style: 'percent', maximumFractionDigits: 4 } as const;
    return {
      count: (value: number) => whole(value),
      crypto: (value: Exact, currency: string) => `${exact(value)} ${currency}`,
      /** A share: 0.004 is 0.4 %. */
      percent: (share: number) => formatOf(language, 'percent', percent).format(share),
      wholePercent: (share: number) => formatOf(language, 'rough', { style: 'percent' }).format(share),
      /** A change of a balance. */
      signed: (value: Exact, currency: string) => `${signed(value)} ${currency}`,
      /** What a unit costs, with every digit. */
      rate: (value: Exact, currency: string): string =>
        formatOf(language, `rate ${currency}`, { style: 'currency', currency, maximumFractionDigits: 18 }).format(
          value as number,
        ),
      fiat: (value: Exact, currency: string): string =>
        formatOf(language, currency, { style: 'currency', currency }).format(value as number),
    };
  }, [language]);
}
