import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { parts, type Part } from './reference/parts';
import { answerDocument } from './reference/served';
import { route, type Route } from './route';

const tag = 'Reference';

const summaries: Readonly<Record<Part, string>> = {
  integrators: 'This reference, as OpenAPI 3.1',
  dashboard: 'The reference of what only sessions may call, as OpenAPI 3.1',
};

/** The route of a part of the reference. `routes` gives the routes to describe, this one included. */
export const openApiRoute = (
  name: 'getOpenApi' | 'getDashboardOpenApi',
  part: Part,
  routes: () => readonly Route[],
): Route =>
  route({
    name,
    method: 'get',
    path: parts[part].path,
    summary: summaries[part],
    tag,
    envelope: 'B',
    success: {
      status: 200,
      schema: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
      description: 'The document.',
    },
    errors: [],
    answersUnchanged: true,
    answer: ({ header }, { config }) => answerDocument(routes(), config, part, header),
  });

/** What the page may do: nothing from elsewhere, no inline script. Its styles are set by script, which CSP lets through. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<nav><a href="/docs">Payments</a> · <a href="/docs?part=dashboard">Dashboards and operators</a></nav>
<main id="reference"></main>
<noscript>The reference needs JavaScript; the same as files: <a href="${parts.integrators.path}">openapi.json</a>,
<a href="${parts.dashboard.path}">openapi-dashboard.json</a></noscript>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
`;
const start = `const isDashboard = new URLSearchParams(location.search).get('part') === 'dashboard';
window.ui = SwaggerUIBundle({
  url: isDashboard ? '${parts.dashboard.path}' : '${parts.integrators.path}',
  dom_id: '#reference', deepLinking: true, defaultModelsExpandDepth: 0, validatorUrl: null,
});
`;

export const getDocs = route({
  name: 'getDocs',
  method: 'get',
  path: '/docs',
  summary: 'This reference, as a page',
  tag,
  envelope: 'B',
  success: { status: 200, type: 'text/html', description: 'A page.' },
  errors: [],
  answer: () => ({
    text: page,
    type: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': policy, 'Cache-Control': 'public, max-age=60' },
  }),
});

const files: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};
const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
const loaded = new Map<string, Buffer>();

async function load(file: string): Promise<Buffer> {
  const known = loaded.get(file);
  if (known) return known;
  const content = await readFile(join(folder, file));
  loaded.set(file, content);
  return content;
}

export const getDocsAsset = route({
  name: 'getDocsAsset',
  method: 'get',
  path: '/docs/assets/{file}',
  summary: 'Parts of the reference page',
  tag,
  envelope: 'B',
  params: Type.Object({ file: Type.String() }),
  success: { status: 200, type: ['text/javascript', 'text/css'], description: 'A file.' },
  errors: ['NOT_FOUND'],
  async answer({ params: { file } }) {
    const headers = { 'Cache-Control': 'public, max-age=3600' };
    if (file === 'start.js') return { text: start, type: 'text/javascript; charset=utf-8', headers };
    const type = Object.hasOwn(files, file) ? files[file] : undefined;
    if (!type) throw new DomainError('NOT_FOUND');
    return { text: await load(file), type, headers };
  },
});
