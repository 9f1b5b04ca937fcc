import ts from 'typescript';
import type { Choose } from './worlds';

/** What an expression comes to, as far as its source tells: a template, a constant, a call of a function that returns
 *  one expression. Where it depends on what only a run knows, every way it can go is a world of its own. */

/** What the source alone does not tell. */
export const unknown = Symbol('unknown');
export type Value =
  string | number | boolean | null | undefined | Value[] | Fields | Closure | Unique | Later | typeof unknown;
/** A part that is looked at only where somebody asks for it. */
class Later {
  private found: { value: Value } | undefined;
  constructor(private readonly look: () => Value) {}
  get value(): Value {
    return (this.found ??= { value: now(this.look()) }).value;
  }
}
const now = (value: Value): Value => (value instanceof Later ? value.value : value);
type Fields = Readonly<{ fields: ReadonlyMap<string, Value> }>;
type Closure = Readonly<{ of: ts.FunctionLikeDeclaration; scope: Scope }>;
/** A `Symbol()`: equal to itself alone. */
type Unique = Readonly<{ symbol: ts.Node }>;
type Scope = ReadonlyMap<ts.Symbol, Value>;
/** All calls of functions, by the name that is called. */
export type Calls = ReadonlyMap<string, readonly ts.CallExpression[]>;

export class Unresolved extends Error {}

const nothing: Scope = new Map();
const isFields = (value: Value): value is Fields => typeof value === 'object' && value !== null && 'fields' in value;
const isUnique = (value: Value): value is Unique => typeof value === 'object' && value !== null && 'symbol' in value;
const isClosure = (value: Value): value is Closure => typeof value === 'object' && value !== null && 'of' in value;
/** A list of literals longer than this is no choice of fragments. */
const mostLiterals = 16;

export const functionAround = (node: ts.Node): ts.FunctionLikeDeclaration | undefined =>
  ts.findAncestor(node.parent, (at): at is ts.FunctionLikeDeclaration => ts.isFunctionLike(at) && 'body' in at);

export class Evaluator {
  /** Constants of this world: a list that a function adds to is one list. */
  private readonly constants = new Map<ts.Node, Value>();
  private isOneOfItsType = true;

  constructor(
    private readonly checker: ts.TypeChecker,
    private readonly calls: Calls,
    private readonly choose: Choose,
  ) {}

  /** The text of an expression. Throws Unresolved, in words that name the part. */
  text(node: ts.Expression): string {
    const value = this.value(node, nothing);
    if (typeof value === 'string') return value;
    throw new Unresolved(node.getText().slice(0, 60));
  }

  /** How many elements an array has; undefined where the source does not tell. */
  length(node: ts.Expression): number | undefined {
    const value = this.value(node, nothing);
    return Array.isArray(value) ? value.length : undefined;
  }

  symbolOf(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.checker.getSymbolAtLocation(node);
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The call of `of` that this world is about. */
  callOf(of: ts.FunctionLikeDeclaration): ts.CallExpression | undefined {
    const name = of.name ?? (ts.isVariableDeclaration(of.parent) ? of.parent.name : undefined);
    const symbol = name && this.symbolOf(name);
    const calls = (this.calls.get(symbol?.name ?? '') ?? []).filter(
      ({ expression }) => this.symbolOf(expression) === symbol,
    );
    return calls[this.choose(`calls of ${place(of)}`, calls.length)];
  }

  private value(node: ts.Expression, scope: Scope): Value {
    const value = now(this.plain(node, scope));
    return value === unknown ? this.oneOfItsType(node) : value;
  }

  /** A value that is asked about only to tell it from a symbol: which literal it is makes no difference. */
  private unlessLiteral(node: ts.Expression, scope: Scope): Value {
    const before = this.isOneOfItsType;
    this.isOneOfItsType = false;
    const value = this.value(node, scope);
    this.isOneOfItsType = before;
    return value;
  }

  /** Where the type is a union of literals, one of them. */
  private oneOfItsType(node: ts.Expression): Value {
    if (!this.isOneOfItsType) return unknown;
    const type = this.checker.getTypeAtLocation(node);
    const literals = type.isUnion() ? type.types : [type];
    if (literals.length > mostLiterals || !literals.every((one) => one.isStringLiteral())) return unknown;
    const key = `${place(functionAround(node))} ${node.getText()} of ${literals.map(({ value }) => value).join()}`;
    return literals[this.choose(key, literals.length)]!.value;
  }

  private plain(node: ts.Expression, scope: Scope): Value {
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isNumericLiteral(node)) return parseInt(node.text, 10);
    if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
    if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
    if (node.kind === ts.SyntaxKind.NullKeyword) return null;
    if (ts.isTemplateExpression(node)) return this.template(node, scope);
    if (ts.isIdentifier(node)) return node.text === 'undefined' ? undefined : this.named(this.symbolOf(node), scope);
    if (ts.isConditionalExpression(node))
      return this.value(this.isSo(node.condition, scope) ? node.whenTrue : node.whenFalse, scope);
    if (ts.isBinaryExpression(node)) return this.binary(node, scope);
    if (ts.isPropertyAccessExpression(node)) return part(this.value(node.expression, scope), node.name.text);
    if (ts.isElementAccessExpression(node))
      return part(this.value(node.expression, scope), this.value(node.argumentExpression, scope));
    if (ts.isObjectLiteralExpression(node)) return this.fields(node, scope);
    if (ts.isArrayLiteralExpression(node)) return this.elements(node, scope);
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node)) return { of: node, scope };
    if (ts.isCallExpression(node)) return this.called(node, scope);
    if (
      ts.isParenthesizedExpression(node) ||
      ts.isAsExpression(node) ||
      ts.isSatisfiesExpression(node) ||
      ts.isNonNullExpression(node)
    )
      return this.value(node.expression, scope);
    return unknown;
  }

  private template(node: ts.TemplateExpression, scope: Scope): string {
    const spans = node.templateSpans.map(({ expression, literal }) => {
      const value = this.value(expression, scope);
      if (typeof value !== 'string' && typeof value !== 'number') throw new Unresolved(`\${${expression.getText()}}`);
      return `${value}${literal.text}`;
    });
    return node.head.text + spans.join('');
  }

  private isSo(condition: ts.Expression, scope: Scope): boolean {
    const value = this.value(condition, scope);
    if (value !== unknown) return Boolean(value);
    return this.choose(`${place(functionAround(condition))} ${condition.getText()}`, 2) === 0;
  }

  private binary({ left, operatorToken, right }: ts.BinaryExpression, scope: Scope): Value {
    const second = (): Value => this.value(right, scope);
    if (
      operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken ||
      operatorToken.kind === ts.SyntaxKind.ExclamationEqualsEqualsToken
    ) {
      const other = second();
      const one =
        other === unknown ? unknown : isUnique(other) ? this.unlessLiteral(left, scope) : this.value(left, scope);
      if (one === unknown && !isUnique(other)) return unknown;
      return (one === other) === (operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken);
    }
    const first = this.value(left, scope);
    switch (operatorToken.kind) {
      case ts.SyntaxKind.QuestionQuestionToken:
        return first === null || first === undefined ? second() : first;
      case ts.SyntaxKind.AmpersandAmpersandToken:
        return first === unknown ? unknown : first ? second() : first;
      case ts.SyntaxKind.BarBarToken:
        return first === unknown ? unknown : first ? first : second();
      case ts.SyntaxKind.PlusToken: {
        const other = second();
        if (typeof first === 'string' && typeof other === 'string') return first + other;
        return typeof first === 'number' && typeof other === 'number' ? first + other : unknown;
      }
      case ts.SyntaxKind.MinusToken: {
        const other = second();
        return typeof first === 'number' && typeof other === 'number' ? first - other : unknown;
      }
      default:
        return unknown;
    }
  }

  private named(symbol: ts.Symbol | undefined, scope: Scope): Value {
    if (!symbol) return unknown;
    if (scope.has(symbol)) return scope.get(symbol);
    const declared = symbol.valueDeclaration;
    if (!declared) return unknown;
    if (ts.isFunctionDeclaration(declared)) return { of: declared, scope: nothing };
    if (ts.isVariableDeclaration(declared)) return this.variable(declared, scope);
    if (ts.isBindingElement(declared)) return this.bound(declared, scope);
    if (ts.isParameter(declared)) return this.argument(declared);
    return unknown;
  }

  private variable(declared: ts.VariableDeclaration, scope: Scope): Value {
    if (!(ts.getCombinedNodeFlags(declared) & ts.NodeFlags.Const)) return unknown;
    if (declared.initializer) {
      if (!this.constants.has(declared)) this.constants.set(declared, this.value(declared.initializer, scope));
      return this.constants.get(declared);
    }
    const loop = declared.parent.parent;
    if (!ts.isForOfStatement(loop)) return unknown;
    const list = this.value(loop.expression, scope);
    return Array.isArray(list) && list.length ? list[this.choose(`turn of ${place(loop)}`, list.length)] : unknown;
  }

  private bound(declared: ts.BindingElement, scope: Scope): Value {
    const pattern = declared.parent;
    const of = pattern.parent;
    const whole = ts.isParameter(of)
      ? this.argument(of)
      : ts.isBindingElement(of)
        ? this.bound(of, scope)
        : this.variable(of, scope);
    if (declared.dotDotDotToken) return unknown;
    const key = ts.isArrayBindingPattern(pattern)
      ? pattern.elements.indexOf(declared)
      : (declared.propertyName ?? declared.name).getText();
    const value = now(part(now(whole), key));
    return value === undefined && declared.initializer ? this.value(declared.initializer, scope) : value;
  }

  private argument(parameter: ts.ParameterDeclaration): Value {
    const given = this.given(parameter);
    return given === unknown ? unknown : given && this.value(given, nothing);
  }

  /** What the call that this world is about gives for a parameter. */
  private given(parameter: ts.ParameterDeclaration): ts.Expression | undefined | typeof unknown {
    const of = parameter.parent as ts.FunctionLikeDeclaration;
    const call = this.callOf(of);
    if (!call || parameter.dotDotDotToken) return unknown;
    return call.arguments[of.parameters.indexOf(parameter)] ?? parameter.initializer;
  }

  /** The names of all that a parameter may have, by its type; undefined where they are not asked for, or it is no
   *  parameter. */
  private keysOf(node: ts.Expression, asked: string): Value[] | undefined {
    const declared = ts.isIdentifier(node) ? this.symbolOf(node)?.valueDeclaration : undefined;
    if (asked !== 'keys' || !declared || !ts.isParameter(declared)) return undefined;
    const { typeParameters = [] } = declared.parent as ts.FunctionLikeDeclaration;
    const isOpen = typeParameters.some(({ name }) => declared.type?.getText().match(/\w+/g)?.includes(name.text));
    const given = isOpen ? this.given(declared) : node;
    if (!given || given === unknown) return undefined;
    if (given !== node && ts.isIdentifier(given)) return this.keysOf(given, asked) ?? this.namesOf(given);
    return this.namesOf(given);
  }

  private namesOf(node: ts.Expression): string[] {
    return this.checker.getPropertiesOfType(this.checker.getTypeAtLocation(node)).map(({ name }) => name);
  }

  private fields(node: ts.ObjectLiteralExpression, scope: Scope): Value {
    const fields = new Map<string, Value>();
    for (const one of node.properties)
      if (ts.isPropertyAssignment(one) && !ts.isComputedPropertyName(one.name))
        fields.set(nameOf(one.name), new Later(() => this.value(one.initializer, scope)));
      else if (ts.isShorthandPropertyAssignment(one))
        fields.set(one.name.text, this.named(this.checker.getShorthandAssignmentValueSymbol(one), scope));
      else if (ts.isSpreadAssignment(one)) {
        const spread = this.value(one.expression, scope);
        if (!isFields(spread)) return unknown;
        for (const [name, value] of spread.fields) fields.set(name, value);
      } else return unknown;
    return { fields };
  }

  private elements(node: ts.ArrayLiteralExpression, scope: Scope): Value {
    const elements: Value[] = [];
    for (const one of node.elements)
      if (!ts.isSpreadElement(one)) elements.push(new Later(() => this.value(one, scope)));
      else {
        const spread = this.value(one.expression, scope);
        if (!Array.isArray(spread)) return unknown;
        elements.push(...spread);
      }
    return elements;
  }

  private called(node: ts.CallExpression, scope: Scope): Value {
    if (node.expression.getText() === 'Symbol') return { symbol: node };
    // A text is made at once, for what it is made of may change; a value only where somebody asks for it.
    const values = (): Value[] =>
      node.arguments.map((one) =>
        ts.isCallExpression(one) || ts.isTemplateExpression(one)
          ? this.value(one, scope)
          : new Later(() => this.value(one, scope)),
      );
    if (ts.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      // What it says is a value like any other: the types of a statement do not hang on it.
      if (node.expression.getText() === 'JSON.stringify') return '[]';
      if (expression.getText() === 'Object') {
        const [asked] = node.arguments;
        const known = this.keysOf(asked!, name.text) ?? ofObject(name.text, this.value(asked!, scope));
        return known === unknown && name.text === 'keys' ? this.namesOf(asked!) : known;
      }
      const on = this.value(expression, scope);
      if (Array.isArray(on) || typeof on === 'string') return this.method(on, name.text, values());
    }
    const closure = this.value(node.expression, scope);
    return isClosure(closure) ? this.apply(closure, values()) : unknown;
  }

  private apply({ of, scope }: Closure, values: readonly Value[]): Value {
    const inner = new Map(scope);
    const bind = (name: ts.BindingName, value: Value): void => {
      if (ts.isIdentifier(name)) return void inner.set(this.symbolOf(name)!, value);
      for (const [index, one] of name.elements.entries())
        if (ts.isBindingElement(one))
          bind(
            one.name,
            part(now(value), ts.isArrayBindingPattern(name) ? index : (one.propertyName ?? one.name).getText()),
          );
    };
    for (const [index, { name, initializer }] of of.parameters.entries())
      bind(name, initializer && now(values[index]) === undefined ? this.value(initializer, inner) : values[index]);
    if (!of.body) return unknown;
    return ts.isBlock(of.body) ? this.run(of.body.statements, inner, bind)?.value : this.value(of.body, inner);
  }

  /** Does what statements do as far as constants, lists and branches go; what is returned, if anything is. */
  private run(
    statements: readonly ts.Statement[],
    scope: Scope,
    bind: (name: ts.BindingName, value: Value) => void,
  ): { value: Value } | undefined {
    for (const one of statements) {
      if (ts.isReturnStatement(one)) return { value: one.expression && this.value(one.expression, scope) };
      if (ts.isVariableStatement(one)) {
        for (const { name, initializer } of one.declarationList.declarations)
          bind(name, initializer ? new Later(() => this.value(initializer, scope)) : unknown);
      } else if (ts.isExpressionStatement(one)) this.value(one.expression, scope);
      else if (ts.isIfStatement(one)) {
        const branch = this.isTaken(one, scope) ? one.thenStatement : one.elseStatement;
        const returned = branch && this.run(ts.isBlock(branch) ? branch.statements : [branch], scope, bind);
        if (returned) return returned;
      } else return { value: unknown };
    }
    return undefined;
  }

  /** Steps without another way out are taken all or none: what is right with all of them is right with some. */
  private isTaken({ expression, thenStatement, elseStatement }: ts.IfStatement, scope: Scope): boolean {
    const isStep = !elseStatement && !/\b(return|throw)\b/.test(thenStatement.getText());
    const value = isStep ? unknown : this.value(expression, scope);
    if (value !== unknown) return Boolean(value);
    const around = place(functionAround(expression));
    return this.choose(isStep ? `steps of ${around}` : `${around} ${expression.getText()}`, 2) === 0;
  }

  private method(on: Value[] | string, name: string, values: readonly Value[]): Value {
    if (name === 'push' && Array.isArray(on)) return on.push(...values);
    const [first, second] = values.map(now);
    if (typeof on === 'string') {
      if (name === 'trim') return on.trim();
      if (name === 'replaceAll' && typeof first === 'string' && typeof second === 'string')
        return on.replaceAll(first, second);
      return unknown;
    }
    if ((name === 'map' || name === 'flatMap') && isClosure(first ?? null)) {
      const mapped = on.map((one, index) => new Later(() => this.apply(first as Closure, [one, index])));
      return name === 'map' ? mapped : mapped.map(now).flat();
    }
    if (name !== 'join') return unknown;
    const joined = on.map(now);
    if (!joined.every((one) => typeof one === 'string' || typeof one === 'number')) return unknown;
    return joined.join(typeof first === 'string' ? first : ',');
  }
}

function part(of: Value, key: Value): Value {
  if (Array.isArray(of)) return key === 'length' ? of.length : typeof key === 'number' ? of[key] : unknown;
  if (of === undefined || !isFields(of)) return unknown;
  return typeof key === 'string' ? of.fields.get(key) : unknown;
}

function ofObject(name: string, of: Value): Value {
  if (of === undefined || !isFields(of)) return unknown;
  if (name === 'keys') return [...of.fields.keys()];
  if (name === 'values') return [...of.fields.values()];
  return name === 'entries' ? [...of.fields] : unknown;
}

const nameOf = (name: ts.PropertyName): string => (ts.isStringLiteralLike(name) ? name.text : name.getText());
const place = (node: ts.Node | undefined): string =>
  node ? `${node.getSourceFile().fileName}:${node.getStart()}` : 'file';
