// Builds the dashboard into dist/web/dashboard: types of the API from its own OpenAPI document, hashed files, and
// each of them compressed. Needs the compiled API in dist/. Does nothing where nothing it is made of has changed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const out = join(root, 'dist', 'web', 'dashboard');
const marker = join(root, 'dist', '.dashboard-built-from');
const types = join(here, 'generated', 'api.ts');
const require = createRequire(import.meta.url);

const hashOf = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]));
}

/** The reference of the API, as its own code describes it. */
function openApi() {
  const { routes } = require(join(root, 'dist/api/routes.js'));
  const { openApiDocument } = require(join(root, 'dist/api/http/openapi.js'));
  return openApiDocument(routes, { API_URL: 'https://api.example' });
}

async function writeTypes(document) {
  const text = JSON.stringify(document);
  const first = `// Made from the OpenAPI document ${hashOf(text)}\n`;
  if (existsSync(types) && readFileSync(types, 'utf8').startsWith(first)) return;
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  mkdirSync(dirname(types), { recursive: true });
  writeFileSync(types, first + astToString(await openapiTS(text, { alphabetize: false })));
}

async function bundle() {
  const { build } = await import('vite');
  rmSync(out, { recursive: true, force: true });
  await build({
    root: here,
    base: '/dashboard/',
    configFile: false,
    logLevel: 'error',
    css: { modules: { localsConvention: 'camelCaseOnly' } },
    build: {
      outDir: out,
      emptyOutDir: true,
      target: 'es2022',
      // No inline script or image: the policy of the page lets neither through.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: true,
      reportCompressedSize: false,
    },
  });
}

/** Beside each file, what a browser is sent in its place. */
function compress() {
  for (const file of filesBelow(join(out, 'assets'))) {
    const content = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}

const document = openApi();
await writeTypes(document);
const made = hashOf(
  ...[...filesBelow(here), ...filesBelow(join(root, 'domain')), join(root, 'package-lock.json')].flatMap((file) => [
    relative(root, file),
    readFileSync(file),
  ]),
);
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== made || !existsSync(join(out, 'index.html'))) {
  await bundle();
  compress();
  writeFileSync(marker, made);
}
