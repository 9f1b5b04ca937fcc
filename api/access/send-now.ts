import { setTimeout as sleep } from 'node:timers/promises';
import type { Mail } from '../../domain/mail/mail';
import { dropMail, markSent, markUnsent } from '../../db/mail/mail';
import type { ApiDeps } from '../http/deps';

/** What a request waits for a mail server. Faults: E, "SMTP slow". */
const budgetMs = 4000;

/** Sends a stored mail whose reader waits for it; false where the server did not take it in time. `onFailure`: what
 *  becomes of the text. */
export async function sendNow(
  { db, mailer, logger }: Pick<ApiDeps, 'db' | 'mailer' | 'logger'>,
  mail: Mail & { id: string },
  onFailure: 'keep' | 'drop',
): Promise<boolean> {
  const tooLate = new AbortController();
  try {
    await Promise.race([
      mailer.send(mail),
      sleep(budgetMs, undefined, { signal: tooLate.signal }).then(() => {
        throw new Error(`The mail server did not answer within ${budgetMs / 1000} s`);
      }),
    ]);
    await markSent(db, mail.id);
    return true;
  } catch (error) {
    logger.error({ err: error, mailId: mail.id, template: mail.template }, 'Mail not sent');
    if (onFailure === 'drop') await dropMail(db, mail.id);
    else await markUnsent(db, mail.id, (error as Error).message);
    return false;
  } finally {
    tooLate.abort();
  }
}
