import { apiUrl } from './places';

/** What happens when a session has expired: it is renewed by its refresh cookie, or its person signs in again in
 *  place. */

let underWay: Promise<boolean> | undefined;

/** Renews the session; false where its refresh token is void. Tabs take turns: a token that came back after its
 *  exchange would end the session. */
export function renewed(): Promise<boolean> {
  underWay ??= exchange().finally(() => (underWay = undefined));
  return underWay;
}

async function exchange(): Promise<boolean> {
  const refresh = async (): Promise<boolean> => {
    const answer = await fetch(`${apiUrl}/api/v1/auth/refresh`, { method: 'POST', credentials: 'include' });
    return answer.ok;
  };
  try {
    return 'locks' in navigator ? await navigator.locks.request('refresh', refresh) : await refresh();
  } catch {
    return false; // offline: the request itself says so
  }
}

type Asker = () => Promise<boolean>;
let asker: Asker | undefined;
let asked: Promise<boolean> | undefined;

/** Who asks a person to sign in again; undefined while nobody has been signed in. */
export function askBy(next: Asker | undefined): void {
  asker = next;
}

/** Resolves when the person has signed in again, or has declined. */
export function signedInAgain(): Promise<boolean> {
  if (!asker) return Promise.resolve(false);
  asked ??= asker().finally(() => (asked = undefined));
  return asked;
}
