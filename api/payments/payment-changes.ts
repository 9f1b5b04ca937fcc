import { Client } from 'pg';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { connectionTo } from '../../db/connection';
import type { Config } from '../../domain/config';
import { merchantsOf, readInvoicesById, type InvoiceRead } from '../../db/payments/payment-queries';
import { withOwnInvoice } from './own-invoice';

type Listener = (invoice: InvoiceRead) => void;
type Hearer = () => void;

/** Tells watchers of a payment when it changes: PostgreSQL notifies, and a slow look at all that is watched catches
 *  what a notification cannot tell (confirmations) or did (a lost connection). One connection and one query for all
 *  watchers. */
export class PaymentChanges {
  private readonly watched = new Map<string, Set<Listener>>();
  private readonly merchants = new Map<string, Set<Hearer>>();
  private readonly changed = new Set<string>();
  private client: Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private soon: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(
    readonly db: DataSource,
    readonly config: Pick<Config, 'DATABASE_URL' | 'chain'>,
    private readonly logger: Logger,
    private readonly lookMs = 3000,
  ) {}

  /** Calls `listener` with the invoice after each change, until the returned function is called. */
  watch(paymentId: string, listener: Listener): () => void {
    const listeners = this.watched.get(paymentId) ?? new Set();
    listeners.add(listener);
    this.watched.set(paymentId, listeners);
    if (!this.timer && !this.isClosed) {
      this.timer = setInterval(() => this.lookAt([...this.watched.keys()]), this.lookMs);
      this.timer.unref();
    }
    if (!this.client) this.listen();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.watched.get(paymentId) === listeners) this.watched.delete(paymentId);
    };
  }

  /** Calls `hear` after changes of payments of a merchant, until the returned function is called. */
  watchMerchant(merchantId: string, hear: Hearer): () => void {
    const hearers = this.merchants.get(merchantId) ?? new Set();
    hearers.add(hear);
    this.merchants.set(merchantId, hearers);
    if (!this.client) this.listen();
    return () => {
      hearers.delete(hear);
      if (hearers.size === 0 && this.merchants.get(merchantId) === hearers) this.merchants.delete(merchantId);
    };
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    clearTimeout(this.soon);
    this.watched.clear();
    this.merchants.clear();
    const client = this.client;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private listen(): void {
    const client = new Client({
      ...connectionTo(this.config.DATABASE_URL),
      application_name: 'api-changes',
      connectionTimeoutMillis: 2000,
      keepAlive: true,
    });
    this.client = client;
    const lost = (error: Error) => {
      if (this.client !== client) return;
      this.client = undefined;
      client.removeAllListeners('notification');
      client.end().catch(() => undefined);
      if (this.isClosed) return;
      this.logger.warn({ err: error }, 'Lost the connection that hears of changes; a slow look goes on');
      setTimeout(() => {
        if (!this.client && !this.isClosed && this.watched.size + this.merchants.size) this.listen();
      }, 1000).unref();
    };
    client.on('error', lost);
    client.on('end', () => lost(new Error('Connection ended')));
    client.on('notification', ({ payload }) => {
      if (!payload || !(this.watched.has(payload) || this.merchants.size)) return;
      this.changed.add(payload);
      // Several changes of one commit, or of one block, are one look.
      this.soon ??= setTimeout(() => {
        this.soon = undefined;
        const ids = [...this.changed];
        this.changed.clear();
        this.lookAt(ids.filter((id) => this.watched.has(id)));
        this.notifyMerchants(ids);
      }, 20);
    });
    client
      .connect()
      .then(() => client.query('LISTEN payment_changed'))
      .catch(lost);
  }

  private notifyMerchants(ids: readonly string[]): void {
    if (!this.merchants.size) return;
    merchantsOf(this.db, ids).then(
      (found) => {
        for (const id of found) for (const hear of this.merchants.get(id) ?? []) hear();
      },
      (error: unknown) => this.logger.warn({ err: error }, 'Merchants of changed payments not read'),
    );
  }

  private async read(ids: readonly string[]): Promise<InvoiceRead[]> {
    const reads = await readInvoicesById(this.db, ids);
    return Promise.all(reads.map((read) => withOwnInvoice(this, read)));
  }

  private lookAt(ids: string[]): void {
    if (!ids.length) return;
    this.read(ids).then(
      (invoices) => {
        for (const invoice of invoices)
          for (const listener of this.watched.get(invoice.row.id) ?? []) listener(invoice);
      },
      (error: unknown) => this.logger.warn({ err: error }, 'Watched payments not read'),
    );
  }
}
