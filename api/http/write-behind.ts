/** Why rows were never written. */
export type LossReason = 'full' | 'failed';

type Settings<Row> = Readonly<{
  write: (rows: readonly Row[]) => Promise<unknown>;
  /** Told of every loss; `error`: what refused the group. */
  onLost: (count: number, reason: LossReason, error?: unknown) => void;
  /** Most rows of one write. */
  groupSize?: number;
  /** Longest wait of a row, in milliseconds, while none is being written. */
  everyMs?: number;
  /** Most rows that wait: the oldest give way. */
  capacity?: number;
}>;

/** Rows that are written in groups, behind the requests that they tell of: adding one never waits and never throws. */
export class WriteBehind<Row> {
  private readonly waiting: Row[] = [];
  private readonly settings: Required<Settings<Row>>;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;

  constructor(settings: Settings<Row>) {
    this.settings = { groupSize: 500, everyMs: 1000, capacity: 10_000, ...settings };
  }

  add(row: Row): void {
    const { capacity, onLost } = this.settings;
    if (this.waiting.length >= capacity) {
      this.waiting.shift();
      onLost(1, 'full');
    }
    this.waiting.push(row);
    this.next();
  }

  /** Writes what waits; resolves when every row so far is written or lost. */
  async flush(): Promise<void> {
    while (this.writing || this.waiting.length) await (this.writing ?? this.begin());
  }

  /** A whole group is written at once, a smaller one a little later. */
  private next(): void {
    if (this.writing || !this.waiting.length) return;
    if (this.waiting.length >= this.settings.groupSize) void this.begin();
    else this.timer ??= setTimeout(() => void this.begin(), this.settings.everyMs).unref();
  }

  private begin(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing ??= this.writeGroup().finally(() => {
      this.writing = undefined;
      this.next();
    });
    return this.writing;
  }

  private async writeGroup(): Promise<void> {
    const group = this.waiting.splice(0, this.settings.groupSize);
    try {
      await this.settings.write(group);
    } catch (error) {
      this.settings.onLost(group.length, 'failed', error);
    }
  }
}
