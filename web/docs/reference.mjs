import { html, raw } from './html.mjs';
import { codeBlock } from './markdown.mjs';

/** Pages of a part of the API reference: all operations by name, one page per tag with its operations, and one with
 *  every schema. */

const slug = (name) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const code = (text) => html`<code>${text}</code>`;
const joined = (parts, word) => parts.flatMap((part, at) => (at ? [` ${word} `, part] : [part]));

/** The scope that a key needs for an operation, which its description names; undefined where no key may call it. */
const scopeOf = ({ description }) => /Secret key with scope `([^`]+)`/.exec(description ?? '')?.[1];

class Part {
  /** `folder`: its address, from the site's base. `errors`: the address of the page of error codes. */
  constructor(document, { folder, base, markdown }) {
    Object.assign(this, { document, folder, base, markdown });
  }

  found(value) {
    if (!value?.$ref) return value;
    const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(value.$ref);
    return this.document.components[kind][name];
  }

  link(ref) {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    return html`<a href="${this.base}${this.folder}/schemas/#${name}">${name}</a>`;
  }

  type(schema) {
    if (schema.$ref) return this.link(schema.$ref);
    if ('const' in schema) return code(JSON.stringify(schema.const));
    if (schema.enum)
      return html`one of
      ${joined(
        schema.enum.map((one) => (one === '' ? 'empty' : code(one))),
        'or',
      )}`;
    const choice = schema.oneOf ?? schema.anyOf;
    if (choice)
      return html`${joined(
        choice.map((one) => this.type(one)),
        'or',
      )}`;
    if (schema.allOf)
      return html`${joined(
        schema.allOf.map((one) => this.type(one)),
        'with',
      )}`;
    if (schema.items) return html`array of ${this.type(schema.items)}`;
    const names = [schema.type ?? (schema.properties ? 'object' : 'any')].flat();
    return html`${names.join(' or ')}${schema.format && html` (${schema.format})`}`;
  }

  /** The properties of a schema as rows; those of objects without a name below the object. */
  rows(schema, prefix = '') {
    if (schema.items) return this.rows(schema.items, `${prefix}[]`);
    const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const path = prefix ? `${prefix}.${name}` : name;
      const isRequired = schema.required?.includes(name);
      const inner = property.$ref ? [] : this.rows(property, path);
      return [{ path, property, isRequired }, ...inner];
    });
    const combined = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
    return [...own, ...combined.flatMap((one) => (one.$ref ? [] : this.rows(one, prefix)))];
  }

  limits({ minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems, default: preset }) {
    const said = [
      minimum !== undefined && `at least ${minimum}`,
      exclusiveMinimum !== undefined && `above ${exclusiveMinimum}`,
      maximum !== undefined && `at most ${maximum}`,
      minLength > 1 && `at least ${minLength} characters`,
      maxLength !== undefined && `at most ${maxLength} characters`,
      minItems !== undefined && `at least ${minItems} items`,
      maxItems !== undefined && `at most ${maxItems} items`,
      preset !== undefined && `without it ${JSON.stringify(preset)}`,
    ].filter(Boolean);
    return said.length ? html` <span class="limits">${said.join(', ')}</span>` : '';
  }

  inline(text) {
    return raw(this.markdown.renderInline(text ?? ''));
  }

  properties(schema, label) {
    const rows = this.rows(schema);
    if (rows.length === 0) return html`<p>${this.type(schema)}</p>`;
    return this.fields(
      'Field',
      label,
      rows.map(({ path, property, isRequired }) => ({
        name: code(path),
        isRequired,
        schema: property,
        description: property.description,
      })),
    );
  }

  /** A table of fields or parameters; `head`: of the column with their names. */
  fields(head, label, rows) {
    return html`<div class="wide" tabindex="0" role="group" aria-label="${label}">
      <table class="fields">
        <thead>
          <tr>
            <th scope="col">${head}</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ name, isRequired, schema, description }) =>
              html`<tr>
                <td>${name}${isRequired && html` <span class="required">required</span>`}</td>
                <td>${this.type(schema)}</td>
                <td>${this.inline(description)}${this.limits(this.found(schema))}</td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>`;
  }

  parameters(operation) {
    const all = (operation.parameters ?? []).map((one) => this.found(one));
    if (all.length === 0) return '';
    const rows = all.map((one) => ({
      name: html`${code(one.name)} <span class="where">${one.in}</span>`,
      isRequired: one.required,
      schema: one.schema,
      description: one.description,
    }));
    return html`<h3>Parameters</h3>
      ${this.fields('Name', `Parameters of ${operation.summary}`, rows)}`;
  }

  /** What a body or an answer is, and one that was recorded. */
  content(content, label) {
    return Object.entries(content ?? {}).map(([media, { schema, example }]) => {
      const isJson = media.endsWith('json');
      const fields = schema && isJson && html`${this.named(schema)}${this.properties(this.found(schema), label)}`;
      return html`${!isJson && html`<p>${code(media)}</p>`}${fields}${
        example !== undefined && raw(codeBlock(isJson ? JSON.stringify(example, null, 2) : String(example), 'json'))
      }`;
    });
  }
  named(schema) {
    return schema.$ref ? html`<p>${this.link(schema.$ref)}</p>` : '';
  }

  /** The codes that a refusal may have, wherever its schema says them. */
  codes(schema, found = new Set()) {
    if (!schema || typeof schema !== 'object') return found;
    if (schema['x-code']) found.add(schema['x-code']);
    for (const name of schema['x-enum-varnames'] ?? []) found.add(name);
    for (const name of schema.properties?.error?.properties?.code?.enum ?? []) found.add(name);
    const inner = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    for (const one of [...inner, ...Object.values(schema.properties ?? {})]) this.codes(this.found(one), found);
    return found;
  }

  responses(operation) {
    const all = Object.entries(operation.responses).map(([status, one]) => [status, this.found(one)]);
    const good = all.filter(([status]) => /^[23]/.test(status));
    const refused = all
      .filter(([status]) => !/^[23]/.test(status))
      .map(([status, { content, description }]) => {
        const codes = new Set();
        for (const { schema } of Object.values(content ?? {})) this.codes(this.found(schema), codes);
        return { status, description, codes: [...codes].sort() };
      });
    return html`${good.map(
        ([status, one]) =>
          html`<h3>Answer ${status}</h3>
            <p>${this.inline(one.description)}</p>
            ${this.content(one.content, `Answer ${status} of ${operation.summary}`)}`,
      )}
      <h3>Refusals</h3>
      <ul class="refusals">
        ${refused.map(
          ({ status, description, codes }) =>
            html`<li>
              <strong>${status === 'default' ? 'Any operation' : status}</strong> ${this.inline(description)}${
                codes.length > 0 &&
                html`:
                ${joined(
                  codes.map((one) => html`<a href="${this.base}errors/#${one}"><code>${one}</code></a>`),
                  '·',
                )}`
              }
            </li> `,
        )}
      </ul>`;
  }

  operation({ path, method, operation }) {
    const body = this.found(operation.requestBody);
    return html`<section class="operation">
      <h2 id="${operation.operationId}">${operation.summary}</h2>
      <p class="route"><span class="method">${method.toUpperCase()}</span> <code>${path}</code></p>
      ${raw(this.markdown.render(operation.description ?? '', {}))} ${this.parameters(operation)}
      ${
        body &&
        html`<h3>Body</h3>
          ${this.content(body.content, `Body of ${operation.summary}`)}`
      }
      ${this.responses(operation)}
    </section>`;
  }

  operations() {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
    );
  }

  overview(tags, all) {
    return html`<h1 id="all-operations">All operations</h1>
      ${tags.map(
        ({ name, description }) =>
          html`<h2 id="${slug(name)}">${name}</h2>
            <p>${this.inline(description)}</p>
            ${this.list(all.filter(({ operation }) => operation.tags[0] === name))}`,
      )}`.toString();
  }

  /** What a secret key may call, by its scopes. A part that no key may call has no such page. */
  scopes(all) {
    const scopes = [...new Set(all.flatMap(({ operation }) => scopeOf(operation) ?? []))].sort();
    return (
      scopes.length > 0 &&
      html`<h1 id="scopes">Scopes of keys</h1>
        <p>What a secret key may call, by each of its scopes.</p>
        ${scopes.map(
          (scope) =>
            html`<h2 id="${slug(scope)}">${scope}</h2>
              ${this.list(all.filter(({ operation }) => scopeOf(operation) === scope))}`,
        )}`.toString()
    );
  }

  list(operations) {
    return html`<ul>
      ${operations.map(
        ({ path, method, operation }) =>
          html`<li>
            <a href="${this.base}${this.folder}/${slug(operation.tags[0])}/#${operation.operationId}"
              >${operation.summary}</a
            >: <code>${method.toUpperCase()} ${path}</code>
          </li> `,
      )}
    </ul>`;
  }

  pages(group) {
    const all = this.operations();
    const scopes = this.scopes(all);
    const used = this.document.tags.filter(({ name }) => all.some(({ operation }) => operation.tags[0] === name));
    const tagPages = used.map(({ name, description }) => {
      const own = all.filter(({ operation }) => operation.tags[0] === name);
      return {
        to: `${this.folder}/${slug(name)}`,
        title: name,
        group,
        body: html`<h1 id="${slug(name)}">${name}</h1>
          <p>${this.inline(description)}</p>
          ${own.map((one) => this.operation(one))}`.toString(),
      };
    });
    const schemas = Object.entries(this.document.components.schemas);
    return [
      { to: this.folder, title: 'All operations', group, body: this.overview(used, all) },
      ...(scopes ? [{ to: `${this.folder}/scopes`, title: 'Scopes of keys', group, body: scopes }] : []),
      ...tagPages,
      {
        to: `${this.folder}/schemas`,
        title: 'Schemas',
        group,
        body: html`<h1 id="schemas">Schemas</h1>
          <p>Every named shape of this part of the API.</p>
          ${schemas.map(
            ([name, schema]) =>
              html`<section class="schema">
                <h2 id="${name}">${name}</h2>
                ${schema.description && html`<p>${this.inline(schema.description)}</p>`}
                ${this.properties(schema, name)}
              </section>`,
          )}`.toString(),
      },
    ];
  }
}

/** The pages of a part of the reference. */
export const referencePages = (document, group, options) => new Part(document, options).pages(group);
