/** What a user has chosen for the dashboard, kept with the account. */

export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** null: not chosen; then the browser's counts. */
export type Preferences = Readonly<{ language: Language | null; timeZone: string | null }>;

/** Whether a name is one of the IANA time zones. Offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (name.length > 64 || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
