import { Client } from 'pg';
import { connectionTo } from '../connection';

/** Hears one channel of PostgreSQL's notifications. A lost connection is made again at the next wait, which counts as
 *  rung: nobody knows what was missed. */
export class Bell {
  private client: Client | undefined;
  private isRung = false;
  private wake: () => void = () => undefined;

  constructor(
    private readonly url: string,
    private readonly channel: string,
  ) {}

  /** Returns when it was rung since the last wait, after `ms`, or when `signal` aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    await this.listen().catch(() => undefined);
    if (!this.isRung && !signal.aborted)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal.addEventListener('abort', done);
        this.wake = done;
      });
    this.isRung = false;
  }

  async close(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async listen(): Promise<void> {
    if (this.client) return;
    const client = new Client({
      ...connectionTo(this.url),
      application_name: this.channel,
      connectionTimeoutMillis: 2000,
      keepAlive: true,
    });
    const lost = (): void => {
      if (this.client === client) this.client = undefined;
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', () => {
      this.isRung = true;
      this.wake();
    });
    await client.connect();
    await client.query(`LISTEN ${this.channel}`);
    this.client = client;
    this.isRung = true;
  }
}
