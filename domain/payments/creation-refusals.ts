import { DomainError } from '../errors';

/** Why a payment is not created. The answer is the one code PAYMENT_CREATION_FAILED; the reason is kept for the
 *  merchant alone, with these details. */
export const creationRefusals = {
  UNKNOWN_CURRENCY: {
    meaning: 'The service has no such currency',
    details: ['currency'],
    advice: 'Take a ticker of `GET /api/v1/currencies`.',
  },
  NO_WALLET: {
    meaning: 'You have no active wallet for this currency',
    details: ['currency'],
    advice: 'Add the wallet in the dashboard, or take a currency of `GET /api/v1/merchant-wallets`.',
  },
  BELOW_MINIMUM: {
    meaning: 'The price is below the least payment of this currency',
    details: ['minimum', 'fiatCurrency', 'currency'],
    advice: 'Ask for at least `minimum`, or offer another currency: `GET /api/v1/min-orders` has the least of each.',
  },
  QUOTA_REACHED: {
    meaning: 'Too many of your payments are open',
    details: [],
    advice: 'Cancel payments that nobody will pay, shorten `expiresIn`, or ask the operator for more.',
  },
  CALLBACK_HOST_NOT_ALLOWED: {
    meaning: 'The host of a callback or redirect address is not in `callbackDomains` of your settings',
    details: ['property'],
    advice: 'Let an admin add the host, or send another address in `property`.',
  },
  CURRENCY_NOT_ALLOWED: {
    meaning: 'The widget does not offer this currency',
    details: ['currency'],
    advice: 'Add the currency to `allowedCurrencies` of the widget.',
  },
  WIDGET_QUOTA_REACHED: {
    meaning: 'Too many unpaid checkouts of this widget are open',
    details: ['widgetId'],
    advice: 'Wait until some have expired; many at once may be an attack on your page.',
  },
} as const satisfies Record<string, Readonly<{ meaning: string; details: readonly string[]; advice: string }>>;
export type CreationRefusal = keyof typeof creationRefusals;

export const creationRefused = (
  reason: CreationRefusal,
  details: Readonly<Record<string, unknown>> = {},
): DomainError => new DomainError('PAYMENT_CREATION_FAILED', undefined, { reason, ...details });
