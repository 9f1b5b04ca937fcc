import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled, pageFiles } from './guides-page';
import { root } from './paths';

/** `npm run docs:guides`: writes the made parts of the pages of the site anew. */
for (const name of pageFiles()) {
  const file = join(root, name);
  const before = readFileSync(file, 'utf8');
  const after = filled(before);
  if (after !== before) writeFileSync(file, after);
  console.log(`${name}: ${after === before ? 'as it was' : 'written'}`);
}
