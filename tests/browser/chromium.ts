import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const executablePath = [
  process.env.CHROME_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path && existsSync(path));
if (!executablePath && process.env.CI)
  throw new Error('No Chromium for the browser tests: set CHROME_PATH, or install the chromium package');

/** `describe` where there is a Chromium; skips without. */
export const withBrowser = executablePath ? describe : describe.skip;

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
