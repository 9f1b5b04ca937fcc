import Ajv2020, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import type { TSchema } from 'typebox';
import { DomainError } from '../../domain/errors';

/** Bodies keep their types; what the schema does not name is stripped, not refused. Contract: 2.1. */
const ofBodies = new Ajv2020({
  removeAdditional: 'all',
  useDefaults: true,
  strict: false,
  // JSON.parse makes an infinity of 1e400.
  strictNumbers: true,
  allErrors: false,
});
/** Queries are text: numbers and the like are read from it. */
const ofQueries = new Ajv2020({
  removeAdditional: 'all',
  useDefaults: true,
  coerceTypes: true,
  strict: false,
  strictNumbers: true,
  allErrors: false,
});

/** Throws VALIDATION_ERROR; its message names the property. Changes `value`: strips, fills in defaults. */
export type Check = (value: unknown) => void;

const words = (error: ErrorObject, fallback: string): string => {
  const property = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'required')
    return `${property ? `${property}: ` : ''}missing required property '${String(error.params['missingProperty'])}'`;
  const allowed = error.keyword === 'enum' ? `: ${(error.params['allowedValues'] as unknown[]).join(', ')}` : '';
  const constant = error.keyword === 'const' ? `: ${JSON.stringify(error.params['allowedValue'])}` : '';
  return `${property || fallback} ${error.message ?? 'is invalid'}${allowed}${constant}`;
};

/** What PostgreSQL cannot hold as text: NUL, and half a surrogate pair. */
const isText = (value: string): boolean => !value.includes('\u0000') && value.isWellFormed();

/** Throws VALIDATION_ERROR for text that is none, however deep, which names the property. */
function checkText(value: unknown, property: string): void {
  if (typeof value === 'string' && !isText(value))
    throw new DomainError('VALIDATION_ERROR', `${property} must not contain NUL characters or lone surrogates`);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    checkText(name, property);
    checkText(inner, Array.isArray(value) ? property : `${property}.${name}`);
  }
}

const check =
  (validate: ValidateFunction, fallback: string): Check =>
  (value) => {
    if (!validate(value)) throw new DomainError('VALIDATION_ERROR', words(validate.errors![0]!, fallback));
    // Text like 1e309 is read as an infinity, after which ajv compares it with no limit.
    for (const [property, number] of Object.entries(value as object))
      if (typeof number === 'number' && !Number.isFinite(number))
        throw new DomainError('VALIDATION_ERROR', `${property} must be a finite number`);
  };

/** `kept`: a property that is kept as it came, whatever is in it. */
export function bodyCheck(schema: TSchema, kept?: string): Check {
  const checkShape = check(ofBodies.compile(schema), 'body');
  return (value) => {
    checkShape(value);
    for (const [property, inner] of Object.entries(value as object)) if (property !== kept) checkText(inner, property);
  };
}
export const queryCheck = (schema: TSchema): Check => check(ofQueries.compile(schema), 'query');
