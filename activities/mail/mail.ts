import type { DataSource } from 'typeorm';
import type { Config } from '../../domain/config';
import { failPoint } from '../../db/fail-point';
import { markSent, markUnsent, waitingMail } from '../../db/mail/mail';
import type { Mailer } from '../../commands/mail/mailer';

export type MailDeps = Readonly<{ db: DataSource; config: Config; mailer: Mailer }>;

export const mailActivities = ({ db, config, mailer }: MailDeps) => ({
  /** Sends a mail that waits; nothing where it is sent. A process that dies after the server took it sends it again,
   *  with the same Message-ID. Throws where the server does not take it (retried). */
  async sendMail(id: string): Promise<void> {
    const mail = await waitingMail(db, config.SECRETS_KEY, id);
    if (!mail) return;
    try {
      await mailer.send({ id, ...mail });
    } catch (error) {
      await markUnsent(db, id, (error as Error).message);
      throw error;
    }
    await failPoint('mail.afterSend');
    await markSent(db, id);
  },
});
