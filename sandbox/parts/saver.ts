/** Saves what a node of the sandbox has, again and again while it runs. */
export class Saver {
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;

  constructor(
    private readonly save: () => Promise<unknown>,
    /** Between two savings, by how long the last one took. */
    private readonly pauseMs: (tookMs: number) => number,
    /** Told of the third failure in a row: one may be the node's end, of which we hear in a moment. */
    private readonly onFailures: (message: string) => void,
  ) {}

  start(): void {
    this.stop();
    this.next(this.pauseMs(0));
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private next(afterMs: number): void {
    const timer = setTimeout(() => {
      const began = Date.now();
      this.save()
        .then(() => (this.failures = 0))
        .catch((error: Error) => {
          this.failures += 1;
          if (this.timer === timer && this.failures === 3) this.onFailures(error.message);
        })
        .finally(() => {
          if (this.timer === timer) this.next(this.pauseMs(Date.now() - began));
        });
    }, afterMs);
    timer.unref();
    this.timer = timer;
  }
}
