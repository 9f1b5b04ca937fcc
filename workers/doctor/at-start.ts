import type { Logger } from 'pino';
import type { Config } from '../../domain/config';
import { checkParts } from './checks';

/** Logs what is not good about the parts of the installation, with what to do. Holds nothing up. */
export async function logFindings(config: Config, log: Logger): Promise<void> {
  try {
    for (const one of await checkParts(config, false)) {
      if (one.state === 'good') continue;
      const { subject, what, fix } = one;
      if (one.state === 'fault') log.error({ subject, fix }, `${subject}: ${what}`);
      else log.warn({ subject, fix }, `${subject}: ${what}`);
    }
  } catch (error) {
    log.error({ err: error }, 'The installation could not be checked');
  }
}
