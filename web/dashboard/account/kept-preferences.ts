import { useEffect } from 'react';
import type { Me } from '../api/queries';
import { isOneOf, isZone, languages, usePreferences } from '../texts/texts';

/** The language and the time zone that are kept with the account take the place of the browser's. */
export function useKeptPreferences(me: Me | null | undefined): void {
  const { change } = usePreferences();
  const language = me?.language;
  const timeZone = me?.timeZone;
  useEffect(() => {
    if (isOneOf(languages, language)) change({ language });
  }, [language, change]);
  useEffect(() => {
    if (isZone(timeZone)) change({ timeZone });
  }, [timeZone, change]);
}
