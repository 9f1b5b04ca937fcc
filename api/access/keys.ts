import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { findKeyHolder, noteKeyUse, type KeyHolder } from '../../db/access/api-keys';

type Entry = { at: number; holder: Promise<KeyHolder | null> };

/** Looks secret keys up; an answer is kept for a second, so that a revocation takes effect within one on every copy. */
export class Keys {
  private readonly seen = new Map<string, Entry>();
  private readonly used = new Map<string, number>();

  constructor(
    private readonly db: DataSource,
    private readonly secretsKey: string,
    private readonly logger: Logger,
    private readonly keepMs = 1000,
  ) {}

  /** Who holds `apiKey`, or null. Rejects where PostgreSQL does not answer. */
  find(apiKey: string): Promise<KeyHolder | null> {
    const now = Date.now();
    const entry = this.seen.get(apiKey);
    if (entry && now - entry.at < this.keepMs) return entry.holder;
    if (this.seen.size > 5000) this.seen.clear();
    const holder = findKeyHolder(this.db, this.secretsKey, apiKey);
    this.seen.set(apiKey, { at: now, holder });
    holder.catch(() => this.seen.delete(apiKey));
    return holder;
  }

  /** What was just changed is seen at once by this copy. */
  forget(): void {
    this.seen.clear();
  }

  /** Notes a use, at most once a minute, behind the request's back: what it loses is a time of day. */
  noteUse(keyId: string, ip: string): void {
    const now = Date.now();
    if (now - (this.used.get(keyId) ?? 0) < 60_000) return;
    this.used.set(keyId, now);
    noteKeyUse(this.db, keyId, ip).catch((error: unknown) => {
      this.used.delete(keyId);
      this.logger.warn({ err: error, keyId }, 'Last use of a key not noted');
    });
  }
}
