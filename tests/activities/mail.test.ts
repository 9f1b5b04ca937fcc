import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { mailActivities } from '../../activities/mail/mail';
import { createMailer, type Mailer } from '../../commands/mail/mailer';
import { armFailPoints } from '../../db/fail-point';
import { queueMail, waitingMail } from '../../db/mail/mail';
import { parseConfig, type Config } from '../../domain/config';
import { startMail, type CaughtMail } from '../../sandbox/parts/mail';
import { freePort } from '../../sandbox/ports';
import { connectionsTo, freshDatabase } from '../setup/postgres';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let catcher: Awaited<ReturnType<typeof startMail>>;
let config: Config;
let mailer: Mailer;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  catcher = await startMail({
    dataDir: mkdtempSync(join(tmpdir(), 'mail-')),
    smtpPort: await freePort(),
    port: await freePort(),
  });
  config = parseConfig({ SMTP_URL: catcher.smtpUrl, MAIL_FROM: 'shop@example.com', SECRETS_KEY: 'ab'.repeat(32) });
  mailer = createMailer(config);
  armFailPoints(db);
});
afterAll(async () => {
  mailer.close();
  await catcher.stop();
  await db.destroy();
  await database.drop();
});

async function queue(to: string): Promise<string> {
  await db.transaction((tx) =>
    queueMail(tx, config.SECRETS_KEY, { to, template: 'factor', subject: 'Your code', text: 'It is 123456.\n' }),
  );
  const [row] = (await db.query('SELECT id FROM mail WHERE recipient = $1', [to])) as Array<{ id: string }>;
  return row!.id;
}
const caught = async (to: string): Promise<CaughtMail[]> =>
  (await fetch(`${catcher.url}/messages.json?to=${to}`)).json() as Promise<CaughtMail[]>;

it('sends what waits, once, and keeps no text of it', async () => {
  const id = await queue('ann@example.com');
  const [row] = (await db.query('SELECT * FROM mail WHERE id = $1', [id])) as unknown[];
  expect(JSON.stringify(row)).not.toContain('123456');
  const [request] = (await db.query(`SELECT * FROM temporal_request WHERE workflow_id = $1`, [
    `mail/${id}`,
  ])) as unknown[];
  expect(JSON.stringify(request)).not.toContain('123456');

  const { sendMail } = mailActivities({ db, config, mailer });
  await sendMail(id);
  await sendMail(id);
  expect(await caught('ann@example.com')).toMatchObject([
    { from: 'shop@example.com', subject: 'Your code', text: 'It is 123456.\n' },
  ]);
  expect(await waitingMail(db, config.SECRETS_KEY, id)).toBeNull();
});

it('lets no name turn around what is written beside it', async () => {
  const mail = {
    to: 'dora@example.com',
    subject: 'Books \u202egnp.exe invites you',
    text: 'As \u2066dora@example.com\n',
  };
  await mailer.send({ id: 'x', ...mail });
  expect(await caught('dora@example.com')).toMatchObject([
    { subject: 'Books \ufffdgnp.exe invites you', text: 'As \ufffddora@example.com\n' },
  ]);
});

it('says in the subject that it is of a test instance', async () => {
  const id = await queue('cora@example.com');
  const ofTest = createMailer({ ...config, MODE: 'test' });
  await mailActivities({ db, config, mailer: ofTest }).sendMail(id);
  ofTest.close();
  expect(await caught('cora@example.com')).toMatchObject([{ subject: '[Test] Your code' }]);
});

it('says why a mail server did not take it, and tries again', async () => {
  const id = await queue('bob@example.com');
  const away = createMailer({ ...config, SMTP_URL: 'smtp://127.0.0.1:1' });
  await expect(mailActivities({ db, config, mailer: away }).sendMail(id)).rejects.toThrow(/ECONNREFUSED/);
  away.close();
  const [row] = (await db.query('SELECT last_error, sent_at FROM mail WHERE id = $1', [id])) as unknown[];
  expect(row).toMatchObject({ last_error: expect.stringContaining('ECONNREFUSED') as string, sent_at: null });
  await mailActivities({ db, config, mailer }).sendMail(id);
  expect(await caught('bob@example.com')).toHaveLength(1);
});

it('sends again, under the same Message-ID, after a death between the server and the row', async () => {
  const id = await queue('cid@example.com');
  await db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ('mail.afterSend', 'throw', 1)`);
  const { sendMail } = mailActivities({ db, config, mailer });
  await expect(sendMail(id)).rejects.toThrow('mail.afterSend');
  await sendMail(id);
  const mails = await caught('cid@example.com');
  expect(mails).toHaveLength(2);
  expect(new Set(mails.map((mail) => mail.messageId))).toEqual(new Set([`<${id}@localhost>`]));
});
