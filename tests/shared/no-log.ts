import pino from 'pino';

/** A log that nobody reads. */
export const noLog = pino({ level: 'silent' });
