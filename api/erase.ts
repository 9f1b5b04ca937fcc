import { hostname, userInfo } from 'node:os';
import { readFileSync } from 'node:fs';
import type { DataSource } from 'typeorm';
import { parseConfig, type Config } from '../domain/config';
import { isId } from '../domain/ids';
import { createDataSource } from '../db/data-source';
import { erasePayers, type Payers } from '../db/payments/erase-payers';

/** `erase`: deletes what one payer said of themselves. A process of its own, because the role that it connects as may
 *  do nothing else. docs/operations/personal-data.md */

const eraseUsage = `Usage: erase payment <payment id> <reason>
       erase customer <merchant id> <customer id> <reason>
       erase email <address> <reason>`;

export class EraseError extends Error {}

function payersIn([by, first = '', ...rest]: readonly string[]): Readonly<{ payers: Payers; reason: string }> {
  if (by === 'payment' && isId(first)) return { payers: { by, paymentId: first }, reason: rest.join(' ') };
  if (by === 'email' && first.includes('@')) return { payers: { by, email: first }, reason: rest.join(' ') };
  if (by === 'customer' && isId(first) && rest[0])
    return { payers: { by, merchantId: first, customerId: rest[0] }, reason: rest.slice(1).join(' ') };
  throw new EraseError(eraseUsage);
}

/** Carries it out and answers what to print. Throws EraseError. */
export async function erase(
  db: Pick<DataSource, 'transaction'>,
  args: readonly string[],
  actor = `${userInfo().username}@${hostname()}`,
): Promise<string> {
  const { payers, reason } = payersIn(args);
  if (!reason) throw new EraseError(eraseUsage);
  const found = await db.transaction((tx) => erasePayers(tx, payers, { actor, reason }));
  if (!found.length) return 'No such payment';
  const words = { erased: 'erased', nothing: 'nothing was there', open: 'is open: erase it once it is over' };
  return found.map(({ payment_id, outcome }) => `${payment_id}  ${words[outcome]}`).join('\n');
}

/** Runs it against the database of `config`; resolves to the exit code. */
export async function runErase(config: Pick<Config, 'DATABASE_URL'>, args: readonly string[]): Promise<number> {
  const db = createDataSource(config.DATABASE_URL, { pool: 1, name: 'erase' });
  await db.initialize();
  try {
    console.log(await erase(db, args));
    return 0;
  } catch (error) {
    if (!(error instanceof EraseError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    await db.destroy();
  }
}

if (require.main === module) {
  const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), 'operator');
  runErase(config, process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
}
