import { Type } from 'typebox';
import { route, type Route } from '../route';
import { parts, type Part } from './parts';
import { answerDocument } from './served';

const summaries: Readonly<Record<Part, string>> = {
  integrators: 'This reference, as OpenAPI 3.1',
  dashboard: 'The reference of what only sessions may call, as OpenAPI 3.1',
  operators: 'The reference of what only operators may call, as OpenAPI 3.1',
};

/** The route of a part of the reference. `routes` gives the routes to describe, this one included. */
export const openApiRoute = (
  name: 'getOpenApi' | 'getDashboardOpenApi' | 'getOperatorsOpenApi',
  part: Part,
  routes: () => readonly Route[],
): Route =>
  route({
    name,
    method: 'get',
    path: parts[part].path,
    summary: summaries[part],
    tag: 'Reference',
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
