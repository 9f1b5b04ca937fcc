import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';
import type { Mail } from '../../domain/mail/mail';
import type { Queryable } from '../query';
import { openSealed, seal } from '../sealing';
import { requestStart } from '../temporal/temporal-requests';
import { workflowIds } from '../../domain/workflow-ids';

/** Mail that waits to be sent. Its text is sealed: workflows know it by its id alone. */

async function store(tx: EntityManager, secretsKey: string, mail: Mail): Promise<string> {
  const id = newId();
  await tx.query('INSERT INTO mail (id, recipient, template, sealed) VALUES ($1, $2, $3, $4)', [
    id,
    mail.to,
    mail.template,
    seal(secretsKey, JSON.stringify({ subject: mail.subject, text: mail.text })),
  ]);
  return id;
}

/** Puts a mail into the transaction that calls for it; a workflow sends it after the commit, and tries until it is
 *  taken. Returns its id. */
export async function queueMail(tx: EntityManager, secretsKey: string, mail: Mail): Promise<string> {
  const id = await store(tx, secretsKey, mail);
  await requestStart(tx, { workflow: 'mail', workflowId: workflowIds.mail(id), args: [id], attributes: {} });
  return id;
}

/** The same for a mail that its caller sends, who has to know whether it went. */
export const storeMail = store;

/** The text of a mail that waits; null once it is sent. */
export async function waitingMail(
  db: Queryable,
  secretsKey: string,
  id: string,
): Promise<{ to: string; subject: string; text: string } | null> {
  const [row] = await db.query<Array<{ recipient: string; sealed: string | null }>>(
    'SELECT recipient, sealed FROM mail WHERE id = $1',
    [id],
  );
  if (!row?.sealed) return null;
  return {
    to: row.recipient,
    ...(JSON.parse(openSealed(secretsKey, row.sealed)) as { subject: string; text: string }),
  };
}

export const markSent = (db: Queryable, id: string): Promise<unknown> =>
  db.query('UPDATE mail SET sealed = NULL, sent_at = now(), last_error = NULL WHERE id = $1 AND sent_at IS NULL', [id]);

export const markUnsent = (db: Queryable, id: string, error: string): Promise<unknown> =>
  db.query('UPDATE mail SET last_error = $2 WHERE id = $1 AND sent_at IS NULL', [id, error.slice(0, 500)]);

/** Forgets a mail that nobody needs any more. */
export const dropMail = (db: Queryable, id: string): Promise<unknown> =>
  db.query('DELETE FROM mail WHERE id = $1 AND sent_at IS NULL', [id]);
