import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'otplib';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { assetsOn } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { addWallet } from '../../db/wallets/wallets';
import { createCodecs } from '../../chains/codecs';
import type { CaughtMail } from '../../sandbox/parts/mail';
import { World } from '../world';
import { faintTextOf, violationsButOfColours } from './axe';
import { startBrowser } from './chromium';
import { viewsOn } from './dashboard/views';
import { Faults } from './faults';

/** Who the tests of the dashboard play: people at browsers, against the running service. */

export const password = 'Correct-Horse-7';
const shots = process.env.SHOTS;

/** The running service, its dashboard and a browser. */
export class Dashboard {
  /** How many have come so far: each has an address of their own. */
  people = 0;
  readonly faults = new Faults();
  /** What axe has looked at, in both sizes and both themes. */
  readonly views = new Set<string>();

  private constructor(
    readonly world: World,
    /** Nobody else opens pages: none goes unwatched. */
    private readonly browser: Browser,
    readonly url: string,
  ) {}

  static async open(options: Parameters<typeof World.start>[0] = {}): Promise<Dashboard> {
    // Few of its tests wait for a chain.
    const world = await World.start({ ...options, env: { POLL_INTERVAL_MS: '500', ...options.env } });
    return new Dashboard(world, await startBrowser(), parseConfig(world.stack.env).DASHBOARD_URL);
  }

  /** A browser's window of its own. A test fails where a page in it does what no page may. */
  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext(options);
    await this.faults.watch(context);
    return context;
  }

  /** Closes every page, so that the people of the next section find the screens free. */
  async everybodyLeaves(): Promise<void> {
    for (const context of this.browser.contexts()) await context.close();
    await this.forgetLimits();
  }

  /** All people of a test come from one address, whose registrations and sign-ins are counted. */
  forgetLimits = (): Promise<unknown> => this.world.db.query('DELETE FROM rate_limit');

  async close(): Promise<void> {
    await this.browser.close();
    await this.world.stop();
    this.faults.areNone();
  }
}

/** The running service and its dashboard, for the tests of the block that asks for it. Each of them fails where any
 *  page that is open does what no page may. */
export function aDashboard(options: Parameters<typeof Dashboard.open>[0] = {}): () => Dashboard {
  let dashboard: Dashboard | undefined;
  beforeAll(async () => {
    dashboard = await Dashboard.open(options);
  }, 240_000);
  afterEach(() => dashboard?.faults.areNone());
  afterAll(() => dashboard?.close(), 60_000);
  return () => dashboard!;
}

/** What is done at a step of a way, which has this name. */
type Look = (name: string) => Promise<void>;
const nothing: Look = () => Promise.resolve();

/** A person at a screen, with a mailbox and an authenticator. */
export class Person {
  secret = '';

  private constructor(
    readonly dashboard: Dashboard,
    readonly email: string,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async sitsDown(dashboard: Dashboard, name: string, options: BrowserContextOptions = {}): Promise<Person> {
    const context = await dashboard.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    return new Person(dashboard, `${name}${++dashboard.people}@shop.example`, context, page);
  }

  goTo = (path: string): Promise<unknown> => this.page.goto(`${this.dashboard.url}${path}`);
  press = (name: string | RegExp): Promise<void> => this.page.getByRole('button', { name, exact: true }).click();
  fill = (label: string, value: string): Promise<void> => this.page.getByLabel(label, { exact: true }).fill(value);
  follow = (name: string): Promise<void> => this.page.getByRole('link', { name, exact: true }).click();
  sees = (text: string | RegExp): Promise<void> => this.page.getByText(text).first().waitFor();
  title = (name: string): Promise<void> => this.page.getByRole('heading', { level: 1, name }).waitFor();

  /** What the newest mail of this subject says where `pattern` looks. */
  async mailed(subject: string, pattern: RegExp, since: number): Promise<string> {
    let found = '';
    await this.dashboard.world.until(`the mail "${subject}"`, async () => {
      const answer = await fetch(
        `${this.dashboard.world.stack.mail.url}/messages.json?to=${encodeURIComponent(this.email)}`,
      );
      const mails = (await answer.json()) as CaughtMail[];
      const mail = mails.find((one) => one.subject === subject && Date.parse(one.receivedAt) >= since);
      found = (mail && pattern.exec(mail.text)?.[1]) ?? '';
      return found !== '';
    });
    return found;
  }

  /** A code that the API takes now. An authenticator has one for 30 seconds, and each counts once: that the API has had
   *  the last one is forgotten, so that nobody waits for the next. */
  async code(): Promise<string> {
    await this.dashboard.world.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [this.email]);
    return generate({ secret: this.secret });
  }

  /** Fills the form of the registration in, and sends it. */
  async registers({ shop = 'Books', name = 'Ann' } = {}): Promise<void> {
    await this.goTo('/register');
    await this.fill('Name of your shop or company', shop);
    await this.fill('Your name', name);
    await this.fill('E-mail address', this.email);
    await this.fill('Password', password);
    await this.page.getByLabel('I accept the terms and the privacy notice.').check();
    await this.press('Create the account');
  }

  /** The same as `joins`, by what the pages ask the API, and with no mail to wait for: most tests are about what comes
   *  after. */
  async hasJoined({ shop = 'Books', name = 'Ann' } = {}): Promise<void> {
    const { email, dashboard } = this;
    const names = { merchantName: shop, displayName: name };
    await this.asks('POST', '/api/v1/auth/register', { email, password, acceptedTerms: true, ...names });
    await dashboard.world.db.query('UPDATE dashboard_user SET email_verified_at = now() WHERE email = $1', [email]);
    const { setupToken } = await this.asks('POST', '/api/v1/auth/login', { email, password });
    await this.hasEnrolled(setupToken);
    await this.opens('/', 'Home');
  }

  /** Sets up an authenticator as `enrols` does, by what the page asks the API. */
  private async hasEnrolled(setupToken: string): Promise<void> {
    const { manualKey, confirmToken } = await this.asks('POST', '/api/v1/auth/2fa/setup', { setupToken });
    this.secret = manualKey;
    await this.asks('POST', '/api/v1/auth/2fa/verify-setup', { confirmToken, code: await this.code() });
  }

  /** From nothing to the home page. `look`: at the steps that are seen only then. */
  async joins(names: Parameters<Person['registers']>[0] = {}, look: Look = nothing): Promise<void> {
    const since = Date.now();
    await this.registers(names);
    await this.sees('Confirm your e-mail address');
    await look('verify-email');
    await this.fill('Code from the e-mail', await this.mailed('Confirm your e-mail address', /\b(\d{6})\b/, since));
    await this.press('Confirm');
    await this.sees('Your e-mail address is confirmed. Sign in now.');
    await this.fill('Password', password);
    await this.press('Sign in');
    await this.enrols(look);
    await this.title('Home');
  }

  /** Sets up an authenticator, and keeps the backup codes. */
  private async enrols(look: Look): Promise<void> {
    await this.page.getByAltText('QR code for your authenticator app').waitFor();
    await look('enrol');
    this.secret = (await this.page.locator('[dir=ltr]').textContent())!;
    await this.page.getByLabel('Code from your authenticator').fill(await this.code());
    await this.press('Finish the set-up');
    await this.sees('These codes are shown this once.');
    await look('enrol-codes');
    await this.page.getByLabel('I have kept these codes in a safe place.').check();
    await this.press('Continue');
  }

  /** A device that answers every question for a passkey by itself. */
  async plugsInPasskey(): Promise<void> {
    const cdp = await this.context.newCDPSession(this.page);
    await cdp.send('WebAuthn.enable');
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
  }

  /** A member of the team of `admin` with these permissions, by its mailed invitation and what its page asks
   *  the API. */
  async joinsTeamOf(admin: Person, permissions: readonly string[]): Promise<void> {
    const since = Date.now();
    const data = { email: this.email, role: 'merchant_member', permissions, totpCode: await admin.code() };
    await admin.asks('POST', '/api/v1/team-invitations', data);
    const token = await this.mailed('Books invites you', /token=(\w+)/, since);
    const displayName = this.email.split('@')[0]!;
    const path = '/api/v1/team-invitations/accept';
    await this.hasEnrolled((await this.asks('POST', path, { token, password, displayName })).setupToken);
    await this.goTo('/');
    await this.page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  }

  /** Follows the link of an invitation that was mailed after `since`, up to the first page of the dashboard. */
  async acceptsInvitation(since: number, look: Look = nothing): Promise<void> {
    await this.page.goto(await this.mailed('Books invites you', /(http:\S+)/, since));
    await this.page.getByLabel('Your name', { exact: true }).waitFor();
    await look('accept-invitation');
    await this.fill('Your name', this.email.split('@')[0]!);
    await this.fill('New password', password);
    await this.press('Accept the invitation');
    await this.enrols(look);
    await this.page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
  }

  /** What a page of this session would ask the API, to prepare a test; the payload of its answer. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
  async asks(method: string, path: string, data?: object): Promise<any> {
    const { origin } = new URL(this.dashboard.url);
    const answer = await this.context.request.fetch(origin + path, {
      method,
      headers: { origin },
      ...(data ? { data } : {}),
    });
    const text = await answer.text();
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${text}`);
    const body = JSON.parse(text) as { data?: unknown };
    return body.data ?? body;
  }

  /** `who`: whose account it is, where another browser than theirs is used. */
  async signsIn(who: Person = this): Promise<void> {
    await this.fill('E-mail address', who.email);
    await this.fill('Password', password);
    await this.press('Sign in');
    await this.page.getByLabel('Code from your authenticator').fill(await who.code());
    await this.press('Sign in');
  }

  /** Ends all sessions of this person, after a second look. */
  async signsOut(): Promise<void> {
    await this.press('Sign out everywhere');
    await this.dialog('Sign out everywhere').getByRole('button', { name: 'Sign out everywhere' }).click();
    await this.title('Sign in');
  }

  /** Waits until the page shows what it has asked for. */
  rests(): Promise<void> {
    // Asked from outside: the page's own policy lets nobody evaluate text in it.
    return this.dashboard.world.until(`${this.page.url()} has come to rest`, () =>
      this.page.evaluate<boolean>(`!document.querySelector('[class*=skeleton]')`),
    );
  }

  /** Opens a page and waits for its title. */
  async opens(path: string, title: string): Promise<void> {
    await this.goTo(path);
    await this.title(title);
  }
  row = (text: string): Locator => this.page.locator('tbody tr', { hasText: text }).first();
  dialog = (name: string): Locator => this.page.getByRole('dialog', { name, exact: true });
  /** Why a button may not be used; null where it may. */
  reasonOf = (button: string): Promise<string | null> =>
    this.page.getByRole('button', { name: button, exact: true }).getAttribute('title');
  fact = (name: string): Locator =>
    this.page.locator('dt', { hasText: name }).first().locator('xpath=following-sibling::dd');

  async addsPasskey(): Promise<void> {
    await this.plugsInPasskey();
    await this.goTo('/account');
    await this.press('Add a passkey');
    await this.dialog('Add a passkey').getByRole('button', { name: 'Add a passkey' }).click();
    await this.page.getByLabel('Code from your authenticator').fill(await this.code());
    await this.press('Confirm');
    await this.sees('Passkey added');
  }

  /** The code that the API mails when it is asked at `path`. */
  async mailedCode(path: string, data: object = {}): Promise<string> {
    const since = Date.now();
    await this.asks('POST', path, data);
    return this.mailed('Your confirmation code', /\b(\d{6})\b/, since);
  }

  /** A payment of so many dollars, paid on its chain and settled. */
  async earns(currency: string, amount: number): Promise<void> {
    const { world } = this.dashboard;
    const made = await this.asks('POST', '/api/v1/payments', { amount, currency });
    await world.payer.pay(currency, made.depositAddress, String(made.amount));
    const status = async () => (await this.asks('GET', `/api/v1/payments/${made.paymentId}`)).status;
    await world.until(`the ${currency} is settled`, async () => (await status()) === 'SETTLED', 180_000);
  }
  /** Rows of this person's merchant, by a statement whose $1 is the merchant's id. */
  async rowsOf(statement: string): Promise<object[]> {
    const { merchantId } = await this.asks('GET', '/api/v1/auth/me');
    return (await this.dashboard.world.db.query(statement, [merchantId])) as object[];
  }
  async balance(currency: string): Promise<Record<string, string>> {
    const { balances } = await this.asks('GET', '/api/v1/ledger/balances');
    return balances.find((one: { currency: string }) => one.currency === currency);
  }

  /** A wallet in each currency: what pages for wallets will do. */
  async openShop(): Promise<void> {
    const [{ id }] = (await this.dashboard.world.db.query(
      'SELECT merchant_id AS id FROM dashboard_user WHERE email = $1',
      [this.email],
    )) as [{ id: string }];
    const { chain, networks } = parseConfig(this.dashboard.world.stack.env);
    const codecs = createCodecs(chain);
    for (const { currency, network } of assetsOn(networks))
      await addWallet(this.dashboard.world.db, { merchantId: id, currency }, codecs[network]);
  }

  /** What a script on the page could steal, and what the address tells. */
  async holdings(): Promise<string> {
    return this.page.evaluate(
      `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])`,
    );
  }
}

const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 900 } } as const;
/** Every size in every theme, with as few changes as can be. */
const states = [
  ['desk', 'light'],
  ['phone', 'light'],
  ['phone', 'dark'],
  ['desk', 'dark'],
] as const;

/** What scrolls sideways, by its classes: on a desk the page may not, on a phone no part of it in its place either;
 *  text that is shown as it is may. */
const sideways = {
  desk: `document.documentElement.scrollWidth > window.innerWidth ? ['the page'] : []`,
  phone: `[...(document.documentElement.scrollWidth > window.innerWidth ? ['the page'] : []),
    ...[...document.querySelectorAll('body *:not(pre)')]
      .filter((part) => part.scrollWidth > part.clientWidth + 1)
      .filter((part) => /auto|scroll/.test(getComputedStyle(part).overflowX))
      .map((part) => part.className)]`,
} as const;

/** What axe finds on a page in both sizes and both themes; SHOTS names a folder: each is kept there as a picture. */
export async function inspect(person: Person, name: string): Promise<void> {
  const { page, dashboard } = person;
  if (shots) mkdirSync(shots, { recursive: true });
  for (const [size, colorScheme] of states) {
    await page.setViewportSize(sizes[size]);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor({ state: 'attached' });
    await person.rests();
    if (shots)
      await page.screenshot({ path: join(shots, `${name}-${size}-${colorScheme}.jpg`), quality: 80, fullPage: true });
    // A theme is nothing but colours: in the second one they alone are looked at.
    const found = colorScheme === 'light' ? await violationsButOfColours(page, 'best-practice') : [];
    found.push(...(await faintTextOf(page)));
    expect([name, size, colorScheme, found]).toEqual([name, size, colorScheme, []]);
    const wide = await page.evaluate(sideways[size]);
    expect([name, size, 'scroll sideways', wide]).toEqual([name, size, 'scroll sideways', []]);
  }
  for (const view of await viewsOn(page)) dashboard.views.add(view);
}
