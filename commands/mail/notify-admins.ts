import type { EntityManager } from 'typeorm';
import type { Config } from '../../domain/config';
import type { Mail } from '../../domain/mail/mail';
import { queueMail } from '../../db/mail/mail';
import { adminEmails } from '../../db/access/users';

/** Mail to every admin of a merchant, sent once the transaction is there. */
export async function notifyAdmins(
  tx: EntityManager,
  { config }: Readonly<{ config: Pick<Config, 'SECRETS_KEY'> }>,
  merchantId: string,
  mailTo: (email: string) => Mail,
): Promise<void> {
  for (const email of await adminEmails(tx, merchantId)) await queueMail(tx, config.SECRETS_KEY, mailTo(email));
}
