/** So many requests in so many seconds. */
export type Limit = Readonly<{ points: number; seconds: number }>;
const minutes = 60;

/** How often one caller (merchant, user, or address where nobody is known) may call one route. Contract: 8. */
export const rateClasses = {
  /** Routes without a limit of their own; the number is configuration. */
  standard: { points: 600, seconds: minutes },
  /** What the specification calls the global default. */
  global: { points: 60, seconds: minutes },
  /** Pages that wait for news. */
  poll: { points: 600, seconds: minutes },
  /** The payer's choices: each may cost an update of the workflow. */
  choice: { points: 20, seconds: minutes },
  cancel: { points: 3, seconds: minutes },
  convert: { points: 5, seconds: minutes },
  quote: { points: 30, seconds: minutes },
  /** Several quotes each. */
  routes: { points: 3, seconds: minutes },
  /** Addresses that a payer tries for a refund. */
  claim: { points: 10, seconds: minutes },
  /** Each may cost questions to a provider. */
  screen: { points: 10, seconds: minutes },
  /** An operator's search: each reads the whole story of several records. */
  find: { points: 60, seconds: minutes },
  /** Changes that a person makes by hand. */
  change: { points: 30, seconds: minutes },
  /** Changes of where money may go. */
  whitelist: { points: 10, seconds: minutes },
  /** Changes of widgets, all together. */
  widget: { points: 20, seconds: minutes },
  /** Checkouts that pages open, per address. */
  checkout: { points: 20, seconds: minutes },
  payoutQueue: { points: 6, seconds: minutes },
  payoutCheck: { points: 30, seconds: minutes },
  payoutCancel: { points: 10, seconds: minutes },
  /** Wrong credentials, per address. */
  unauthorised: { points: 60, seconds: minutes },

  register: { points: 3, seconds: minutes },
  verifyEmail: { points: 5, seconds: 15 * minutes },
  /** Whatever sends mail to somebody who asked for it without a session. */
  mail: { points: 3, seconds: 15 * minutes },
  login: { points: 5, seconds: minutes },
  /** The second step of a login, and enrolment. */
  secondStep: { points: 20, seconds: minutes },
  refresh: { points: 10, seconds: minutes },
  resetPassword: { points: 5, seconds: 15 * minutes },
  invitation: { points: 20, seconds: minutes },
  emailCode: { points: 3, seconds: 15 * minutes },
} as const satisfies Record<string, Limit>;
export type RateClass = Exclude<keyof typeof rateClasses, 'unauthorised'>;

/** Checkouts of one widget, from all addresses: what stands above it costs no lock of the merchant's rows. */
export const checkoutsPerWidget: Limit = { points: 300, seconds: minutes };
/** Checkouts of one widget from one address, in the time that an unpaid one stays open. */
export const checkoutsPerAddress: Limit = { points: 60, seconds: 120 * minutes };

/** Wrong passwords for one e-mail address, known or not, from one network address or one known browser, before it has
 *  to wait there. */
export const passwordGuesses: Limit = { points: 20, seconds: 15 * minutes };
/** Wrong passwords for one e-mail address from all browsers that are not known to it, before all of these have to
 *  wait. */
export const strangersGuesses: Limit = { points: 100, seconds: 24 * 60 * minutes };
/** Wrong second factors of one user, over every endpoint, before any is looked at again. */
export const factorGuesses = {
  shortTerm: { points: 10, seconds: 15 * minutes },
  daily: { points: 50, seconds: 24 * 60 * minutes },
} as const satisfies Record<string, Limit>;
/** Wrong guesses that one mailed code stands. Contract: 8. */
export const guessesPerCode = 5;
