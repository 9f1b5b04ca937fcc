import { newId } from '../../domain/ids';
import { logoBytes } from '../../domain/branding/bounds';
import { logoFile, logoTypeOf } from '../../domain/branding/logo';
import { DomainError } from '../../domain/errors';
import type { Logo } from '../../db/branding/branding';
import { cleanSvg } from './clean-svg';

/** The logo that a file in base64 becomes: a PNG as it is, an SVG without what can run or load. Throws INVALID_LOGO. */
export async function logoFrom(base64: string): Promise<Logo> {
  const file = logoFile(base64);
  const type = logoTypeOf(file);
  const content = type === 'image/png' ? file : await cleanSvg(file);
  if (content.length > logoBytes) throw new DomainError('INVALID_LOGO', `The logo has more than ${logoBytes} bytes`);
  return { id: newId(), type, content };
}
