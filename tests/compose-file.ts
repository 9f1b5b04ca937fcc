import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../sandbox/paths';

/** What a file of docker compose says, anchors and merges resolved. Each network has aliases in it, in the service of
 *  the payments worker too: the library's bound of a hundred, which is for files of strangers, is not for ours. */
export const composeFile = (file = 'docker-compose.yml'): unknown =>
  parse(readFileSync(join(root, file), 'utf8'), { merge: true, maxAliasCount: -1 }) as unknown;
