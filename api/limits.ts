import type { Limit } from '../db/rate-limits';

/** How often one caller (merchant, or address where nobody is known) may call one route. Spec: 8. */
export const rateClasses = {
  /** Routes without a limit of their own; the number is configuration. */
  standard: { points: 600, seconds: 60 },
  /** What the specification calls the global default. */
  global: { points: 60, seconds: 60 },
  /** Pages that wait for news. */
  poll: { points: 600, seconds: 60 },
  /** The payer's choices: each may cost an update of the workflow. */
  choice: { points: 20, seconds: 60 },
  cancel: { points: 3, seconds: 60 },
  /** Wrong credentials, per address. */
  unauthorised: { points: 60, seconds: 60 },
} as const satisfies Record<string, Limit>;
export type RateClass = Exclude<keyof typeof rateClasses, 'unauthorised'>;
