import { settingBounds } from '../../../domain/access/setting-bounds';

/** How long an invoice is open, which the API has in seconds and people in minutes. */

const { least, most } = settingBounds.defaultExpiresIn;

/** With so many decimals that every whole second comes back. */
export const minutesOf = (seconds: number | null): string =>
  seconds === null ? '' : String(Math.round((seconds / 60) * 10_000) / 10_000);

/** null where nothing was typed. */
export const secondsOf = (typed: string): number | null =>
  typed.trim() === '' ? null : Math.round(Number.parseFloat(typed.trim()) * 60);

/** Whether what was typed is a time that the API takes, or empty. */
export function isMinutes(typed: string): boolean {
  const seconds = secondsOf(typed);
  return seconds === null || (/^\d{1,4}(\.\d{1,4})?$/.test(typed.trim()) && seconds >= least && seconds <= most);
}
