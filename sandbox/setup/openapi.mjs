import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './places.mjs';

/** The OpenAPI document as the compiled API in `dist/` describes itself, without recorded examples. `part`: of the
 *  integrators, the dashboard or the operators alone. */
export function openApi({ part, recorded } = {}) {
  const require = createRequire(import.meta.url);
  const { routes } = require(join(root, 'dist/api/routes.js'));
  const { openApiDocument } = require(join(root, 'dist/api/http/openapi.js'));
  return openApiDocument(routes, { API_URL: 'https://api.example' }, recorded, part);
}
