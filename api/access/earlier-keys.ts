import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { keysOfOthers } from '../../db/access/api-keys';
import { sealAnew } from '../../db/access/sealed-secrets';
import { keysIn } from '../../domain/secrets-key';

/** While SECRETS_KEY holds several keys: seals under the first one what an earlier one has sealed, and tells the log
 *  how many API keys nobody has used since. docs/operations/secrets.md */
export async function leaveEarlierKeys(db: DataSource, secretsKey: string, logger: Logger): Promise<void> {
  if (keysIn(secretsKey).length === 1) return;
  const sealed = await sealAnew(db, secretsKey);
  const apiKeys = await keysOfOthers(db, secretsKey);
  logger.info({ sealed, apiKeys }, 'SECRETS_KEY holds earlier keys: sealed anew, and API keys that wait for their use');
}
