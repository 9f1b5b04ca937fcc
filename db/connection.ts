import { Client, type ClientConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';

/** How long a question after a password may take. */
const askMs = 2000;
/** PostgreSQL refuses a password. */
const isRefusal = (error: unknown): boolean => (error as { code?: string }).code === '28P01';

/** The passwords that an address holds, with commas between: while one is changed, processes know the old one and the
 *  new one. A comma of a password itself is written `%2C`. */
const passwordsIn = (url: string): string[] => (URL.canParse(url) ? new URL(url).password.split(',') : []);

/** How a client connects to the database at `url`. Where it holds several passwords, each new connection signs in by
 *  the first that PostgreSQL takes at that moment. docs/operations/secrets.md */
export function connectionTo(url: string): ClientConfig {
  const passwords = passwordsIn(url);
  if (passwords.length < 2) return { connectionString: url };
  const { password: _, ...config } = parseIntoClientConfig(url);
  const decoded = passwords.map((one) => decodeURIComponent(one));
  return { ...config, password: () => firstTaken(config, decoded) };
}

/** Tries all but the last one, which is what is left. Rejects where PostgreSQL does not answer. */
async function firstTaken(config: ClientConfig, passwords: readonly string[]): Promise<string> {
  for (const password of passwords.slice(0, -1)) {
    const client = new Client({ ...config, password, connectionTimeoutMillis: askMs, application_name: 'password' });
    client.on('error', () => undefined); // what matters of it rejects below
    try {
      await client.connect();
      return password;
    } catch (error) {
      if (!isRefusal(error)) throw error;
    } finally {
      await client.end();
    }
  }
  return passwords.at(-1)!;
}
