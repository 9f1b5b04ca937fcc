import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { filled, guideFiles, guides } from './guides-page';

/** `npm run docs:guides`: writes the made parts of docs/guides anew. */
for (const name of guideFiles()) {
  const file = join(guides, name);
  const before = readFileSync(file, 'utf8');
  const after = filled(before);
  if (after !== before) writeFileSync(file, after);
  console.log(`${name}: ${after === before ? 'as it was' : 'written'}`);
}
