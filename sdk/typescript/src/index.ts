import { Core, type ClientOptions } from './core.js';
import * as resources from './generated/resources.js';
import { unwrap } from './webhooks.js';

/** The API with a secret key, by resource: `client.payments.create(…)`. */
export class CryptoPayments {
  readonly payments: resources.Payments;
  readonly refunds: resources.Refunds;
  readonly conversions: resources.Conversions;
  readonly currencies: resources.Currencies;
  readonly wallets: resources.Wallets;
  readonly ledger: resources.Ledger;
  readonly withdrawals: resources.Withdrawals;
  readonly massPayouts: resources.MassPayouts;
  readonly webhookEndpoints: resources.Webhooks;
  readonly events: resources.Events;
  readonly diagnostics: resources.Diagnostics;
  /** Of test instances alone. */
  readonly testMode: resources.TestMode;
  /** Verifies webhooks; needs no client: `CryptoPayments.webhooks`. */
  readonly webhooks = { unwrap };
  static readonly webhooks = { unwrap };

  constructor(options: ClientOptions) {
    const core = new Core(options, resources.codesByText);
    this.payments = new resources.Payments(core);
    this.refunds = new resources.Refunds(core);
    this.conversions = new resources.Conversions(core);
    this.currencies = new resources.Currencies(core);
    this.wallets = new resources.Wallets(core);
    this.ledger = new resources.Ledger(core);
    this.withdrawals = new resources.Withdrawals(core);
    this.massPayouts = new resources.MassPayouts(core);
    this.webhookEndpoints = new resources.Webhooks(core);
    this.events = new resources.Events(core);
    this.diagnostics = new resources.Diagnostics(core);
    this.testMode = new resources.TestMode(core);
  }
}

export const webhooks = { unwrap };
export type { ClientOptions, Fetch, RequestOptions, PageRequest } from './core.js';
export * from './errors.js';
export { unwrap, WebhookVerificationError, type UnwrapOptions } from './webhooks.js';
export type * from './generated/resources.js';
