import { createTransport } from 'nodemailer';
import type { Config } from '../../domain/config';
import { unturned } from '../../domain/text';

/** Sends one mail over SMTP; rejects where the server does not take it. */
export type Mailer = Readonly<{
  send(mail: Readonly<{ id: string; to: string; subject: string; text: string }>): Promise<void>;
  /** Connects and signs in; sends nothing. Rejects where the server refuses. */
  verify(): Promise<void>;
  close(): void;
}>;

/** A mailer for SMTP_URL. The id of a mail is the same on every attempt, so that servers can tell a repeat. Mails of a
 *  test instance say so in their subject. No name turns around what is written beside it. */
export function createMailer(config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'DASHBOARD_URL' | 'MODE'>): Mailer {
  const transport = createTransport({
    url: config.SMTP_URL,
    pool: true,
    maxConnections: 4,
    connectionTimeout: 5000,
    greetingTimeout: 5000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const of = config.MODE === 'test' ? '[Test] ' : '';
  const host = new URL(config.DASHBOARD_URL).hostname;
  return {
    async send({ id, to, subject, text }) {
      await transport.sendMail({
        messageId: `<${id}@${host}>`,
        from: config.MAIL_FROM,
        to,
        subject: `${of}${unturned(subject)}`,
        text: unturned(text),
      });
    },
    async verify() {
      await transport.verify();
    },
    close: () => transport.close(),
  };
}
