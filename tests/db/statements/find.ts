import { join, relative } from 'node:path';
import ts from 'typescript';
import { root } from '../../../sandbox/paths';
import { Evaluator, functionAround, Unresolved, type Calls } from './evaluate';
import { everyWorld, TooMany } from './worlds';

/** Every SQL statement of the source, with the type that its rows are read as. */

const folders = ['db', 'commands', 'txmanager', 'activities', 'api', 'workers', 'sandbox'];
/** Statements that the checker must refuse. */
const samples = 'tests/db/statements/samples.ts';
/** How each way to ask gives its answer. */
const ways = { query: 'as it comes', changedRows: 'rows of a change', changedCount: 'count of a change' } as const;
type Way = (typeof ways)[keyof typeof ways];

/** How the rows are read: not at all, only their number, as a type, or as anything at all. */
type Read = 'no' | 'count' | 'untyped' | Readonly<{ row: ts.Type; isPair: boolean }>;
export type Statement = Readonly<{
  /** `db/chains/cursor.ts moveCursor`: where a reader finds it, whatever stands above it. */
  at: string;
  line: number;
  way: Way;
  text: string;
  /** How many values it is given; undefined where only a run tells. */
  values: number | undefined;
  read: Read;
}>;
type Opaque = Readonly<{ at: string; line: number; part: string }>;
export type Source = Readonly<{
  statements: Statement[];
  opaque: Opaque[];
  checker: ts.TypeChecker;
  files: readonly ts.SourceFile[];
}>;

export function findStatements(): Source {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
      },
    },
  )!;
  const isOurs = (file: string): boolean =>
    folders.includes(relative(root, file).split('/')[0]!) || relative(root, file) === samples;
  const program = ts.createProgram(config.fileNames.filter(isOurs), { ...config.options, noEmit: true });
  const checker = program.getTypeChecker();
  const files = program
    .getSourceFiles()
    .filter(({ fileName }) => isOurs(fileName) && !fileName.includes('/db/migrations/'));
  const calls: Calls = callsIn(files);
  const finder = new Finder(checker, calls);
  for (const file of files) finder.visit(file);
  return { statements: finder.statements, opaque: finder.opaque, checker, files };
}

/** By the name that is called, for most names nobody asks about. */
function callsIn(files: readonly ts.SourceFile[]): Calls {
  const calls = new Map<string, ts.CallExpression[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      const { text } = node.expression;
      calls.set(text, [...(calls.get(text) ?? []), node]);
    }
    ts.forEachChild(node, visit);
  };
  files.forEach(visit);
  return calls;
}

class Finder {
  readonly statements: Statement[] = [];
  readonly opaque: Opaque[] = [];

  constructor(
    private readonly checker: ts.TypeChecker,
    private readonly calls: Calls,
  ) {}

  readonly visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) this.look(node);
    ts.forEachChild(node, this.visit);
  };

  private look(call: ts.CallExpression): void {
    const way = this.wayOf(call);
    if (!way) return;
    const [sql, values] = way === 'as it comes' ? call.arguments : call.arguments.slice(1);
    const file = call.getSourceFile();
    const at = `${relative(root, file.fileName)} ${outerName(call)}`;
    const line = file.getLineAndCharacterOfPosition(sql!.getStart()).line + 1;
    try {
      for (const found of everyWorld((choose) => {
        const evaluator = new Evaluator(this.checker, this.calls, choose);
        const text = evaluator.text(sql!);
        const read = this.readOf(call, evaluator);
        return { at, line, way, text, values: values ? evaluator.length(values) : 0, read };
      }))
        this.statements.push(found);
    } catch (error) {
      if (!(error instanceof Unresolved || error instanceof TooMany)) throw error;
      this.opaque.push({ at, line, part: error.message });
    }
  }

  /** Undefined where the call does not ask a database. The two functions of db/query.ts pass on what they are given. */
  private wayOf(call: ts.CallExpression): Way | undefined {
    const { expression } = call;
    if (call.getSourceFile().fileName.endsWith('/db/query.ts')) return undefined;
    if (ts.isIdentifier(expression))
      return expression.text === 'changedRows' || expression.text === 'changedCount'
        ? ways[expression.text]
        : undefined;
    if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'query' || !call.arguments[0])
      return undefined;
    const asked = this.checker.getTypeAtLocation(call.arguments[0]);
    return asked.flags & ts.TypeFlags.StringLike ? ways.query : undefined;
  }

  private readOf(call: ts.CallExpression, evaluator: Evaluator): Read {
    const outer = ts.findAncestor(
      call.parent,
      (at) => !ts.isAwaitExpression(at) && !ts.isParenthesizedExpression(at) && !ts.isNonNullExpression(at),
    )!;
    if (ts.isExpressionStatement(outer) || ts.isVoidExpression(outer)) return 'no';
    const type = this.checker.getAwaitedType(
      ts.isAsExpression(outer) ? this.checker.getTypeFromTypeNode(outer.type) : this.checker.getTypeAtLocation(call),
    )!;
    if (type.flags & ts.TypeFlags.Any) return 'untyped';
    if (type.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Void | ts.TypeFlags.Number)) return 'no';
    // `[Row[], number]` of a change; `[Row]` of what gives one row always; `QueryResult<Row>` without TypeORM.
    const parts = this.checker.isTupleType(type) ? this.checker.getTypeArguments(type as ts.TypeReference) : [];
    const isPair = parts.length === 2;
    const rows = isPair ? parts[0]! : type;
    const isRows = this.checker.isArrayType(rows) || parts.length === 1 || rows.symbol?.name === 'QueryResult';
    if (!isRows) return rows.flags & ts.TypeFlags.Unknown ? 'no' : 'untyped';
    const row = this.instantiated(this.checker.getTypeArguments(rows as ts.TypeReference)[0]!, evaluator);
    if (row.flags & ts.TypeFlags.Any) return 'untyped';
    return row.flags & ts.TypeFlags.Unknown ? 'count' : { row, isPair };
  }

  /** A type parameter of a function is what its caller gives. */
  private instantiated(type: ts.Type, evaluator: Evaluator): ts.Type {
    if (!type.isTypeParameter()) return type;
    const declared = type.symbol.declarations?.[0];
    const of = declared && (declared.parent as ts.FunctionLikeDeclaration);
    const call = of && evaluator.callOf(of);
    const signature = call && this.checker.getResolvedSignature(call);
    const given = signature && this.checker.getTypeArgumentsForResolvedSignature(signature);
    const index = of?.typeParameters?.indexOf(declared as ts.TypeParameterDeclaration) ?? -1;
    return given?.[index] ? this.instantiated(given[index], evaluator) : type;
  }
}

/** The name of the outermost function or constant that holds a node. */
function outerName(node: ts.Node): string {
  let name = '';
  for (let at: ts.Node | undefined = node; at; at = at.parent)
    if ((ts.isFunctionDeclaration(at) || ts.isVariableDeclaration(at) || ts.isClassDeclaration(at)) && at.name)
      name = at.name.getText();
  return name || functionAround(node)?.name?.getText() || '(file)';
}
