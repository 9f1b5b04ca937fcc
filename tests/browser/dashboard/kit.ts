import type { Locator } from 'playwright-core';
import { Person, type Dashboard } from '../person';

/** What the tests of several sections of the dashboard do alike. */

/** A merchant's admin at the home page. */
export async function anAdmin(dashboard: Dashboard, name: string): Promise<Person> {
  const person = await Person.sitsDown(dashboard, name);
  await person.hasJoined();
  return person;
}

/** An operator of long standing, at the first page of the section. */
export async function anOperator(dashboard: Dashboard, name: string): Promise<Person> {
  const person = await anAdmin(dashboard, name);
  await dashboard.world.db.query(
    `UPDATE dashboard_user SET role = 'super_admin', merchant_id = NULL, created_at = now() - interval '2 days'
      WHERE email = $1`,
    [person.email],
  );
  await dashboard.world.until('the API knows the operator', async () => {
    const answer = await person.page.request.get(`${new URL(dashboard.url).origin}/api/v1/platform/overview`);
    return answer.status() === 200;
  });
  return person;
}

/** A member of the admin's team with these permissions, at the first page of the dashboard. */
export async function aMember(admin: Person, name: string, permissions: readonly string[]): Promise<Person> {
  const member = await Person.sitsDown(admin.dashboard, name);
  await member.joinsTeamOf(admin, permissions);
  return member;
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

/** The API refuses the next request to this address; its page says so with the id of the request. */
export async function refusesOnce(
  person: Person,
  url: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const error = { code: status === 429 ? 'VERIFICATION_FAILED' : 'BAD_REQUEST', message: 'Not now' };
  await person.page.route(
    url,
    (route) =>
      route.fulfill({
        ...{ status, contentType: 'application/json', headers: { 'X-Request-Id': 'req-of-test', ...headers } },
        body: JSON.stringify({ ok: false, error }),
      }),
    { times: 1 },
  );
}

/** What a page says of a refusal, which names the request. */
export const refusal = (person: Person, text: string): Locator =>
  person.page
    .getByRole('alert')
    .filter({ hasText: text })
    .filter({ hasText: /Request \w/ })
    .first();
