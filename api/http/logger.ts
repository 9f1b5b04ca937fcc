import pino, { type Logger } from 'pino';
import { logOptions } from '../../domain/log';

/** JSON lines on standard output. */
export const createLogger = (level: string): Logger => pino(logOptions(level, { service: 'api' }));
