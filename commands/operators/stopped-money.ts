import type { EntityManager } from 'typeorm';

/** One sort of outgoing money, as operators cancel it for a merchant whose outgoing money is stopped. */
export type StoppedMoney = Readonly<{
  /** In the plural. */
  what: string;
  /** What of a merchant is not signed, oldest first. */
  unsigned(tx: EntityManager, merchantId: string): Promise<string[]>;
  /** Puts one of them back into the balance. */
  cancel(tx: EntityManager, merchantId: string, id: string): Promise<unknown>;
}>;
