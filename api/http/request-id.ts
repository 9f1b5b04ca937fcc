import { newId } from '../../domain/ids';

/** The caller's own id where it is harmless to repeat in headers, logs and rows; else a new one. */
export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[A-Za-z0-9._-]{8,64}$/.test(given) ? given : newId();
