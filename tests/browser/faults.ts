import type { BrowserContext, ConsoleMessage } from 'playwright-core';

/** What no page may do, noted of every page of a context: to break its policy, to throw, or to write an error into the
 *  console. */
export class Faults {
  private noted: string[] = [];
  private expected: RegExp[] = [];

  async watch(context: BrowserContext): Promise<void> {
    await context.exposeBinding('noteViolation', ({ page }, text: string) => this.note(page.url(), text));
    await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
      noteViolation(event.violatedDirective + ': ' + event.blockedURI + ' ' + event.sample))`);
    context.on('weberror', (error) => this.note(error.page()?.url() ?? '', String(error.error())));
    context.on('console', (message) => {
      if (message.type() === 'error' && !isRefusal(message))
        this.note(message.page()?.url() ?? '', `${message.text()} ${message.location().url}`);
    });
  }

  /** What this test, or the part of it that is under way, does on purpose. */
  expects(pattern: RegExp): void {
    this.expected.push(pattern);
  }

  /** Fails with what was noted since it was last asked. */
  areNone(): void {
    const { noted, expected } = this;
    this.noted = [];
    this.expected = [];
    expect(noted.filter((one) => !expected.some((pattern) => pattern.test(one)))).toEqual([]);
  }

  private note(url: string, text: string): void {
    this.noted.push(`${url}: ${text}`);
  }
}

/** Chromium writes each answer of 400 or more into the console. What the API refuses is for the page to show; an answer
 *  of 500 or more, and a file of the page that is not there, is a fault. */
const isRefusal = (message: ConsoleMessage): boolean =>
  /status of 4\d\d/.test(message.text()) && /^\/api\/v1\//.test(new URL(message.location().url).pathname);
