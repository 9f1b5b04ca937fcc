import { executablePath } from './chromium';

if (!executablePath && process.env.CI)
  throw new Error('No Chromium for the browser tests: set CHROME_PATH, or install the chromium package');

/** `describe` where there is a Chromium; skips without. */
export const withBrowser = executablePath ? describe : describe.skip;
