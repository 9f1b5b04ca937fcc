import { generateSecret, generateURI, verify } from 'otplib';
import type { EntityManager } from 'typeorm';
import { renderSVG } from 'uqr';

/** RFC 6238 with SHA-1, six digits, thirty seconds. Contract: 4.1, 5.4. */

const stepSeconds = 30;

export const newTotpSecret = (): string => generateSecret({ length: 20 });

/** What an authenticator scans: an SVG image as a data URL. */
export function qrCodeOf(secret: string, email: string, issuer: string): string {
  const svg = renderSVG(generateURI({ issuer, label: email, secret }));
  return `data:image/svg+xml;base64,${Buffer.from(svg, 'utf8').toString('base64')}`;
}

/** The time step of a right code, by the database's clock, one step either side; null where it is wrong or not newer
 *  than `lastStep`. Whoever takes it has to use the step up. */
export async function stepOfCode(
  tx: EntityManager,
  secret: string,
  code: string,
  lastStep: number,
): Promise<number | null> {
  const [row] = await tx.query<Array<{ epoch: string }>>(
    'SELECT floor(extract(epoch FROM clock_timestamp()))::bigint::text AS epoch',
  );
  const epoch = parseInt(row!.epoch, 10);
  // The clock has stepped back: every step that a code could be of is used.
  if (lastStep > Math.floor(epoch / stepSeconds) + 1) return null;
  const answer = await verify({
    secret,
    token: code,
    epoch,
    epochTolerance: stepSeconds,
    ...(lastStep > 0 ? { afterTimeStep: lastStep } : {}),
  });
  return answer.valid && 'timeStep' in answer ? answer.timeStep : null;
}
