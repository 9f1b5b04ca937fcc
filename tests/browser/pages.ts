import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

const files = ['routes.tsx', 'operators/routes.tsx'];
const router = files.map((file) => readFileSync(join(root, 'web/dashboard', file), 'utf8')).join('');
const pathsBy = (pattern: RegExp): string[] => [...router.matchAll(pattern)].map(([, path]) => path!);

/** The dashboard's pages, as its router names them: those of guests first. */
export const pages = pathsBy(/(?:\bpath: |guest\(\s*)'(\/[\w/$-]*)'/g);
export const guestPages = ['/sign-in', ...pathsBy(/guest\(\s*'(\/[\w/$-]*)'/g)];
