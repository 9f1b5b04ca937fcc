import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/browser';

/** What the browser's own dialog for passkeys answers. The library is fetched when it is needed. */

export type Challenge = Readonly<{ options?: unknown; challengeKey: string }>;
type Answered<T> = Readonly<{ passkeyResponse: T & Record<string, never>; challengeKey: string }>;

export const canUsePasskeys = (): boolean => typeof window.PublicKeyCredential === 'function';

/** A person who closed the browser's dialog, or took too long. */
export class PasskeyDeclined extends Error {}

async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new PasskeyDeclined(String(error));
  }
}

export async function answerPasskey({
  options,
  challengeKey,
}: Challenge): Promise<Answered<AuthenticationResponseJSON>> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const response = await asked(() => startAuthentication({ optionsJSON: options as never }));
  return { passkeyResponse: response as never, challengeKey };
}

export async function makePasskey({ options, challengeKey }: Challenge): Promise<Answered<RegistrationResponseJSON>> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const response = await asked(() => startRegistration({ optionsJSON: options as never }));
  return { passkeyResponse: response as never, challengeKey };
}
