import { useSyncExternalStore } from 'react';
import { usePreferences } from '../texts/texts';
import css from './design.module.css';

/** A moment, as a person of this language and time zone reads it, and how long ago it is. */
export function Moment({ at }: Readonly<{ at: string }>) {
  const { language, timeZone } = usePreferences();
  useSyncExternalStore(onTick, ticksSoFar);
  const { absolute, relative } = formatsFor(language, timeZone);
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toISOString()}>
      {absolute.format(date)} <span className={css.soft}>({ago(date.getTime() - Date.now(), relative)})</span>
    </time>
  );
}

type Formats = Readonly<{ absolute: Intl.DateTimeFormat; relative: Intl.RelativeTimeFormat }>;

const made = new Map<string, Formats>();

/** Making a format costs more than to draw a whole row of a list. */
function formatsFor(language: string, timeZone: string): Formats {
  const key = `${language} ${timeZone}`;
  const formats = made.get(key) ?? {
    absolute: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone }),
    relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
  };
  made.set(key, formats);
  return formats;
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

function ago(ms: number, format: Intl.RelativeTimeFormat): string {
  const [unit, size] = units.find(([, length]) => Math.abs(ms) >= length) ?? units[3];
  return format.format(Math.round(ms / size), unit);
}

/** One clock for all moments of a page: each is drawn again every half a minute. */
const listeners = new Set<() => void>();
let ticks = 0;
let timer: ReturnType<typeof setInterval> | undefined;
const ticksSoFar = (): number => ticks;

function onTick(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    ticks += 1;
    for (const one of listeners) one();
  }, 30_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size) return;
    clearInterval(timer);
    timer = undefined;
  };
}
