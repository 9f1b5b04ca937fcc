/** What a check of an installation found: a fault keeps money from moving, a warning may one day. Anything but `good`
 *  says what to do. */
export type Finding =
  Readonly<{ state: 'good'; what: string }> | Readonly<{ state: 'warning' | 'fault'; what: string; fix: string }>;

export const good = (what: string): Finding => ({ state: 'good', what });
export const warning = (what: string, fix: string): Finding => ({ state: 'warning', what, fix });
export const fault = (what: string, fix: string): Finding => ({ state: 'fault', what, fix });
