// Builds the package: types and resources from the OpenAPI document of the API, then ES modules and CommonJS in dist/.
// Needs the compiled API in the repository's dist/.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openApi } from '../../sandbox/setup/openapi.mjs';
import { resourcesOf } from './generate.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const generated = join(here, 'src', 'generated');
const compiler = join(root, 'node_modules', 'typescript7', 'bin', 'tsc');

const document = openApi();
const { source, schemas } = resourcesOf(document);
const { default: openapiTS, astToString } = await import('openapi-typescript');
const { info, openapi } = document;
const ast = await openapiTS(JSON.stringify({ openapi, info, paths: {}, components: { schemas } }), {
  alphabetize: false,
});
mkdirSync(generated, { recursive: true });
writeFileSync(join(generated, 'types.ts'), `// Made from the OpenAPI document.\n${astToString(ast)}`);
writeFileSync(join(generated, 'resources.ts'), source);

const compile = (...options) =>
  execFileSync(process.execPath, [compiler, '-p', join(here, 'tsconfig.json'), ...options], { stdio: 'inherit' });
rmSync(join(here, 'dist'), { recursive: true, force: true });
compile();
compile('--outDir', join(here, 'dist', 'cjs'), '--module', 'commonjs', '--moduleResolution', 'bundler');
writeFileSync(join(here, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
