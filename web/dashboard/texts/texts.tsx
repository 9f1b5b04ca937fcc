import { createContext, useCallback, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import { languages, type Language } from '../../../domain/access/preferences';
import { unturned } from '../../../domain/text';
import { en, type Texts } from './en';
import { unturnedTexts } from './unturned';

/** Language, time zone and theme: choices of this browser. The first two are kept with the account too, which wins. */

export { languages };
/** Each in its own language. */
export const languageNames: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' };
export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
export type Preferences = Readonly<{ language: Language; timeZone: string; theme: Theme }>;

const place = 'dashboard.preferences';
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const isOneOf = <T extends string>(list: readonly T[], value: unknown): value is T =>
  list.some((one) => one === value);

export function isZone(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false; // not a name that this browser knows
  }
}

function stored(): Preferences {
  let kept: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    kept = (JSON.parse(localStorage.getItem(place) ?? '{}') ?? {}) as typeof kept;
  } catch {
    // written by something else, or storage is off: the defaults serve
  }
  const spoken = navigator.language.slice(0, 2);
  return {
    language: isOneOf(languages, kept.language) ? kept.language : isOneOf(languages, spoken) ? spoken : 'en',
    timeZone: isZone(kept.timeZone) ? kept.timeZone : ownZone(),
    theme: isOneOf(themes, kept.theme) ? kept.theme : 'system',
  };
}

/** Turns what the API says in English of a record or a row into the language of its reader. */
type Sentence = (message: string) => string;
type Loaded = Readonly<{ texts: Texts; sentence: Sentence }>;
const english: Loaded = { texts: unturnedTexts(en), sentence: unturned };

type Held = Preferences & Loaded & Readonly<{ change: (change: Partial<Preferences>) => void }>;
const Context = createContext<Held | null>(null);

export function PreferencesProvider({ children }: Readonly<{ children: ReactNode }>) {
  const [preferences, setPreferences] = useState(stored);
  const [loaded, setLoaded] = useState<Loaded | null>(preferences.language === 'en' ? english : null);
  const { language, theme } = preferences;

  useEffect(() => {
    let isCurrent = true;
    document.documentElement.lang = language;
    if (language === 'en') setLoaded(english);
    else
      void import('./de').then(
        ({ de, sentence }) =>
          isCurrent && setLoaded({ texts: unturnedTexts(de), sentence: (message) => sentence(unturned(message)) }),
      );
    return () => {
      isCurrent = false;
    };
  }, [language]);

  useEffect(() => {
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const apply = (): void => {
      document.documentElement.dataset['theme'] = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
    };
    apply();
    dark.addEventListener('change', apply);
    return () => dark.removeEventListener('change', apply);
  }, [theme]);

  const change = useCallback(
    (chosen: Partial<Preferences>) =>
      setPreferences((before) => {
        const next = { ...before, ...chosen };
        try {
          localStorage.setItem(place, JSON.stringify(next));
        } catch {
          // storage is off: the choice holds until the page is left
        }
        return next;
      }),
    [],
  );
  const held = useMemo(
    () =>
      loaded && {
        ...preferences,
        ...loaded,
        change,
      },
    [preferences, loaded, change],
  );
  return held && <Context value={held}>{children}</Context>;
}

export function usePreferences(): Held {
  const held = useContext(Context);
  if (!held) throw new Error('No PreferencesProvider around this component');
  return held;
}

/** Every word of the page, in the language of its reader. */
export const useTexts = (): Texts => usePreferences().texts;
export const useSentence = (): Sentence => usePreferences().sentence;

/** The words of one section, kept beside its pages and fetched with them. */
export const useTextsOf = <T extends object>(catalogues: Readonly<Record<Language, T>>): T =>
  unturnedTexts(catalogues[usePreferences().language]);
