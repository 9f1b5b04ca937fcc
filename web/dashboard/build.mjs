// Builds the dashboard into dist/web/dashboard: types of the API from its own OpenAPI document, hashed files, and
// each of them compressed. Needs the compiled API in dist/. Does nothing where nothing it is made of has changed. The
// runbooks of incidents come from their Markdown.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compress } from '../../sandbox/setup/compress.mjs';
import { openApi } from '../../sandbox/setup/openapi.mjs';
import { runbookPage, runbookSections } from './runbooks.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const out = join(root, 'dist', 'web', 'dashboard');
const marker = join(root, 'dist', '.dashboard-built-from');
const types = join(here, 'generated', 'api.ts');

const hashOf = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]));
}

async function writeTypes(document) {
  const text = JSON.stringify(document);
  const first = `// Made from the OpenAPI document ${hashOf(text)}\n`;
  if (existsSync(types) && readFileSync(types, 'utf8').startsWith(first)) return;
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  mkdirSync(dirname(types), { recursive: true });
  writeFileSync(types, first + astToString(await openapiTS(text, { alphabetize: false })));
}

function writeRunbooks() {
  const sections = JSON.stringify(runbookSections(root), null, 1);
  const text = `/** A text, or an element with what is in it. 'href': below the documentation, or whole. */
export type Piece = string | Readonly<{ tag: string; href?: string; children: readonly Piece[] }>;
export const runbookPage = '${runbookPage}';
/** By language and kind of incident: 'de/fee-cap'. */
export const runbooks: Readonly<Record<string, readonly Piece[]>> = ${sections};
`;
  const file = join(here, 'generated', 'runbooks.ts');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
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

const document = openApi();
await writeTypes(document);
writeRunbooks();
const made = hashOf(
  ...[...filesBelow(here), ...filesBelow(join(root, 'domain')), join(root, 'package-lock.json')].flatMap((file) => [
    relative(root, file),
    readFileSync(file),
  ]),
);
if (!existsSync(marker) || readFileSync(marker, 'utf8') !== made || !existsSync(join(out, 'index.html'))) {
  await bundle();
  compress(join(out, 'assets'), 11);
  writeFileSync(marker, made);
}
