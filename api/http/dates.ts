import { DomainError } from '../../domain/errors';

const bareDate = /^\d{4}-\d{2}-\d{2}$/;
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A moment in a query: ISO 8601 with an offset, or a bare date, which is the start of that UTC day. Throws
 *  VALIDATION_ERROR. */
export function momentOf(text: string | undefined, property: string): Date | undefined {
  if (text === undefined) return undefined;
  const time = bareDate.test(text) || dateTime.test(text) ? new Date(text) : null;
  // The parser rolls a day that no month has over into the next month.
  const isOnCalendar = new Date(`${text.slice(0, 10)}T00:00:00Z`).toJSON()?.startsWith(text.slice(0, 10));
  if (!time || !isOnCalendar || Number.isNaN(time.getTime()))
    throw new DomainError('VALIDATION_ERROR', `${property} must be an ISO 8601 date or date-time`);
  return time;
}
