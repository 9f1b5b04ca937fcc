// Builds the documentation into dist/web/docs: pages from Markdown and from the OpenAPI documents, hashed files, the
// search index, and each of them compressed. Needs the compiled API in dist/. `DOCS_BASE` is the path below which a
// static host serves the site, `DOCS_OUT` another folder to write to.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import Eleventy from '@11ty/eleventy';
import { build as bundle } from 'vite';
import { compress } from '../../sandbox/setup/compress.mjs';
import { openApi } from '../../sandbox/setup/openapi.mjs';
import { configured } from './eleventy.mjs';
import { searchIndex } from './search-index.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const base = process.env.DOCS_BASE ?? '/docs/';
const out = process.env.DOCS_OUT ?? join(root, 'dist', 'web', 'docs');
if (!/^\/([\w.-]+\/)*$/.test(base)) throw new Error(`DOCS_BASE must begin and end with a slash, not ${base}`);

/** The parts of the reference, with recorded examples. */
function documents() {
  const recorded = JSON.parse(readFileSync(join(root, 'api/http/reference/recorded.json'), 'utf8'));
  return {
    integrators: openApi({ part: 'integrators', recorded }),
    dashboard: openApi({ part: 'dashboard', recorded }),
    operators: openApi({ part: 'operators', recorded }),
  };
}

/** Writes an asset under a name with its hash; returns its path from the base. */
function asset(name, text) {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 10);
  const path = `assets/${name.replace(extname(name), `-${hash}${extname(name)}`)}`;
  mkdirSync(join(out, 'assets'), { recursive: true });
  writeFileSync(join(out, path), text);
  return path;
}

/** The styles: the tokens of the dashboard, whose dark theme is taken from the system here, and the site's own. */
function styles() {
  const tokens = readFileSync(join(root, 'web/dashboard/design/tokens.css'), 'utf8');
  const dark = /:root\[data-theme='dark'\] (\{[^}]*\})/;
  if (!dark.test(tokens)) throw new Error('web/dashboard/design/tokens.css has no dark theme any more');
  const own = readFileSync(join(here, 'docs.css'), 'utf8');
  return `${tokens.replace(dark, '@media (prefers-color-scheme: dark) { :root $1 }')}\n${own}`;
}

async function script() {
  const { output } = await bundle({
    root: here,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rollupOptions: { input: join(here, 'client', 'docs.js'), output: { format: 'iife' } },
    },
  });
  return output[0].code;
}

rmSync(out, { recursive: true, force: true });
const taken = [];
const options = {
  root,
  base,
  documents: documents(),
  icon: asset('icon.svg', readFileSync(join(here, 'icon.svg'), 'utf8')),
  style: asset('docs.css', styles()),
  script: asset('docs.js', await script()),
  taken,
};
process.chdir(here); // Eleventy reads and writes below the working directory
const site = new Eleventy('site', relative(here, out), {
  quietMode: true,
  configPath: null,
  config: configured(options),
});
await site.write();
writeFileSync(join(out, 'search.json'), searchIndex(taken));
compress(out, 9);
