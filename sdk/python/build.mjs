// Makes src/crypto_payment_service/_generated from the OpenAPI document of the compiled API in the repository's dist/.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApi } from '../../sandbox/setup/openapi.mjs';
import { modulesOf } from './generate.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const generated = join(here, 'src', 'crypto_payment_service', '_generated');
rmSync(generated, { recursive: true, force: true });
mkdirSync(generated, { recursive: true });
for (const [name, text] of Object.entries(modulesOf(openApi()))) writeFileSync(join(generated, name), text);
