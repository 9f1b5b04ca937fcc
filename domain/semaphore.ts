/** Lets `width` acts run at a time, in the order in which they came. Acts that need the same lock wait here, where they
 *  hold no connection. */
export class Semaphore {
  private inside = 0;
  private readonly waiting: Array<() => void> = [];

  constructor(private readonly width: number) {}

  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.inside >= this.width) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.inside += 1;
    try {
      return await act();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.inside -= 1;
    }
  }
}
