import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './places.mjs';

const built = join(root, 'dist', 'web', 'dashboard');
/** Of the scripts that any page needs, compressed by gzip. */
const mostBytes = 200 * 1024;

/** Files that the entry of a manifest imports, itself first: what a browser fetches before anything is shown. */
function firstLoad(manifest, entry = Object.keys(manifest).find((name) => manifest[name].isEntry)) {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const imported of manifest[name].imports ?? []) add(imported);
  };
  add(entry);
  return [...found].map((name) => manifest[name].file);
}

/** How many bytes of script the dashboard loads first. Throws where it is not built. */
function firstLoadBytes() {
  const file = join(built, '.vite', 'manifest.json');
  if (!existsSync(file)) throw new Error('The dashboard is not built: npm run build');
  return firstLoad(JSON.parse(readFileSync(file, 'utf8')))
    .filter((name) => name.endsWith('.js'))
    .reduce((sum, name) => sum + statSync(join(built, `${name}.gz`)).size, 0);
}

/** A line that says the size; throws where it is too large. */
export function checkDashboardSize() {
  const bytes = firstLoadBytes();
  const line = `bytes   ${'dashboard, first load'.padEnd(24)} ${String(bytes).padStart(6)} of ${mostBytes}`;
  if (bytes > mostBytes) throw new Error(line);
  return line;
}
