import type { SecuritySchemeObject } from 'openapi3-ts/oas31';

/** Credentials of the API reference. Contract: 5.1. */
export const securitySchemes: Readonly<Record<string, SecuritySchemeObject>> = {
  secretKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A secret key, `svc_live_…` or, of a test instance, `svc_test_…`: server to server only.',
  },
  publishableKey: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A publishable key, `pk_live_…` or `pk_test_…`: pages may hold it. It opens checkouts of widgets and nothing ' +
      'else.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_access',
    description: 'A dashboard session, as its cookie. Writes need an `Origin` of the dashboard.',
  },
  sessionToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The same access token as a header, for scripts: valid for 15 minutes.',
  },
};
