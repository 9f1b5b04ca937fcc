import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { closed, listening } from './listening';
import type { Part } from './part';

export type MailOptions = Readonly<{
  /** Messages go to `<dataDir>/mail.jsonl`. */
  dataDir: string;
  smtpPort: number;
  /** Of the page with the messages. */
  port: number;
}>;

export type CaughtMail = Readonly<{
  id: number;
  /** ISO 8601, UTC. */
  receivedAt: string;
  from: string;
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
  messageId: string;
}>;

const shown = 500;

/** Catches every mail that the service sends. The page at `url` shows the newest 500, `/messages.json` gives them to
 *  tests (`?to=<address>` narrows). */
export async function startMail(options: MailOptions): Promise<Part & { smtpUrl: string }> {
  const { smtpPort, port } = options;
  const file = join(options.dataDir, 'mail.jsonl');
  mkdirSync(options.dataDir, { recursive: true });
  const messages: CaughtMail[] = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as CaughtMail)
    : [];

  const keep = async (raw: Buffer, to: string[]): Promise<void> => {
    const mail = await PostalMime.parse(raw);
    const caught: CaughtMail = {
      id: (messages.at(-1)?.id ?? 0) + 1,
      receivedAt: new Date().toISOString(),
      from: mail.from?.address ?? '',
      to,
      subject: mail.subject ?? '',
      text: mail.text ?? '',
      html: mail.html ?? '',
      messageId: mail.messageId ?? '',
    };
    messages.push(caught);
    appendFileSync(file, `${JSON.stringify(caught)}\n`);
  };

  let smtp: SMTPServer | undefined;
  let page: Server | undefined;
  const start = async (): Promise<void> => {
    if (smtp) return;
    const catcher = catcherOf(keep);
    const server = createServer((request, response) => answer(messages, request, response));
    await new Promise<void>((resolve, reject) => {
      catcher.server.once('error', reject);
      catcher.listen(smtpPort, '127.0.0.1', resolve);
    });
    await listening(server, port);
    smtp = catcher;
    page = server;
  };
  const stop = async (): Promise<void> => {
    const [catcher, server] = [smtp, page];
    smtp = page = undefined;
    if (!catcher || !server) return;
    await new Promise<void>((resolve) => catcher.close(() => resolve()));
    await closed(server);
  };
  await start();
  return {
    name: 'mail',
    url: `http://127.0.0.1:${port}`,
    smtpUrl: `smtp://127.0.0.1:${smtpPort}`,
    pid: () => (smtp ? process.pid : undefined),
    start,
    stop,
    kill9: stop, // it lives in our own process: to its clients it is gone all the same
  };
}

/** Takes every mail, and acknowledges what `keep` has kept. */
function catcherOf(keep: (raw: Buffer, to: string[]) => Promise<void>): SMTPServer {
  const catcher = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        keep(
          Buffer.concat(parts),
          session.envelope.rcptTo.map(({ address }) => address),
        ).then(
          () => done(),
          (error: Error) => done(error),
        );
      });
    },
  });
  catcher.on('error', () => {}); // a client that hung up; the catcher goes on
  return catcher;
}

/** The newest messages, as a page or as JSON. */
function answer(messages: readonly CaughtMail[], request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://mail');
  const to = searchParams.get('to');
  const newest = messages
    .filter((mail) => !to || mail.to.includes(to))
    .slice(-shown)
    .reverse();
  if (pathname === '/messages.json') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(newest));
  } else if (pathname === '/') {
    response
      .setHeader('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(pageOf(newest));
  } else {
    response.statusCode = 404;
    response.end();
  }
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const pageOf = (mails: readonly CaughtMail[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>Mail of the sandbox</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
  article { border-top: 1px solid #8888; padding: 1rem 0 }
  h2 { margin: 0; font-size: 1.1rem }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit }
</style>
<h1>Mail of the sandbox</h1>
${mails.length ? '' : '<p>No message yet. Whatever the service sends arrives here.</p>'}
${mails
  .map(
    (mail) => `<article>
  <h2>${escape(mail.subject)}</h2>
  <p>To ${escape(mail.to.join(', '))}, from ${escape(mail.from)}, <time>${mail.receivedAt}</time></p>
  <pre>${escape(mail.text || mail.html)}</pre>
</article>`,
  )
  .join('\n')}
</html>`;
