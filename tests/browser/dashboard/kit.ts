import { password, Person, type Dashboard } from '../person';

/** What the tests of several sections of the dashboard do alike. */

/** A merchant's admin at the home page, whose passkey confirms every act by itself. */
export async function anAdmin(dashboard: Dashboard, name: string): Promise<Person> {
  const person = await Person.sitsDown(dashboard, name);
  await person.joins();
  return person;
}

/** From now on a passkey answers each question for a second factor. */
export async function addPasskey(person: Person): Promise<void> {
  const { page } = person;
  const cdp = await person.context.newCDPSession(page);
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
  await person.goTo('/account');
  await person.press('Add a passkey');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Code from your authenticator').fill(await person.code());
  await person.press('Confirm');
  await person.sees('Passkey added');
}

/** A member of the admin's team, invited with the admin's session, who has enrolled an authenticator. */
export async function aMember(admin: Person, name: string, permissions: readonly string[]): Promise<Person> {
  const member = await Person.sitsDown(admin.dashboard, name);
  const since = Date.now();
  const { origin } = new URL(admin.dashboard.url);
  const answer = await admin.page.request.post(`${origin}/api/v1/team-invitations`, {
    headers: { origin },
    data: { email: member.email, role: 'merchant_member', permissions, totpCode: await admin.code() },
  });
  expect([answer.status(), await answer.text()]).toEqual([201, expect.anything()]);
  await accept(member, since);
  return member;
}

/** Follows the mailed link of an invitation, up to the first page of the dashboard. */
export async function accept(member: Person, since: number): Promise<void> {
  const { page } = member;
  await page.goto(await member.mailed('Books invites you', /(http:\S+)/, since));
  await member.fill('Your name', 'Bob');
  await member.fill('New password', password);
  await member.press('Accept the invitation');
  await page.getByAltText('QR code for your authenticator app').waitFor();
  member.secret = (await page.locator('[dir=ltr]').textContent())!;
  await page.getByLabel('Code from your authenticator').fill(await member.code());
  await member.press('Finish the set-up');
  await member.sees('These codes are shown this once.');
  await page.getByLabel('I have kept these codes in a safe place.').check();
  await member.press('Continue');
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor();
}

/** The answers of the API, called with a secret key. */
export async function callWith(person: Person, key: string, path: string): Promise<number> {
  const { apiUrl } = person.dashboard.world.stack;
  const answer = await fetch(`${apiUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

/** A name that runs where a page takes it for markup. */
export const hostile = '<img src=x onerror=alert(1)>';

/** Whether the page shows a text as text; no picture may have come of it. */
export async function showsAsText(person: Person, text: string): Promise<void> {
  await person.sees(text);
  expect(await person.page.locator('img[src="x"]').count()).toBe(0);
}

/** How often this person's team has given a wrong second factor. */
export async function wrongGuesses(person: Person): Promise<number> {
  const rows = await person.rowsOf(
    'SELECT wrong_factor.id FROM wrong_factor JOIN dashboard_user u ON u.id = user_id WHERE merchant_id = $1',
  );
  return rows.length;
}
