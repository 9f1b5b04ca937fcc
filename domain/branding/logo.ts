import { DomainError } from '../errors';
import { logoBytes } from './bounds';

/** Which files may be a logo. */

/** Of a PNG: few bytes can unfold to more than a browser has memory for. */
const longestSide = 2048;
export type LogoType = 'image/png' | 'image/svg+xml';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const refused = (message: string): DomainError => new DomainError('INVALID_LOGO', message);

/** What kind of file it is, by its bytes. Throws INVALID_LOGO. */
export function logoTypeOf(file: Buffer): LogoType {
  if (file.length === 0) throw refused('The logo is empty');
  if (file.length > logoBytes) throw refused(`The logo has more than ${logoBytes} bytes`);
  if (!file.subarray(0, 8).equals(signature)) return 'image/svg+xml';
  if (file.length < 33 || file.toString('latin1', 12, 16) !== 'IHDR') throw refused('The PNG file is not whole');
  const sides = [file.readUInt32BE(16), file.readUInt32BE(20)];
  if (sides.some((side) => side < 1 || side > longestSide))
    throw refused(`A PNG logo has at most ${longestSide} pixels on a side`);
  return 'image/png';
}

/** The file behind base64. Throws INVALID_LOGO. */
export function logoFile(base64: string): Buffer {
  const file = Buffer.from(base64, 'base64');
  if (file.toString('base64').replace(/=+$/, '') !== base64.replace(/=+$/, '')) throw refused('image is not base64');
  return file;
}
