import { relative } from 'node:path';
import ts from 'typescript';
import { root } from '../../../sandbox/paths';
import type { Source } from '../statements/find';

/** Which declarations of the source a process can come to, from the file that starts it: what a reached declaration
 *  names is reached as well. A place reads as `Statement.at`: file, blank, name of the outermost declaration. */

type Place = string;

/** The top-level statement of a file that holds `node`. */
function topOf(node: ts.Node): ts.Statement | undefined {
  for (let at: ts.Node = node; at.parent; at = at.parent) if (ts.isSourceFile(at.parent)) return at as ts.Statement;
  return undefined;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  if ((ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) && statement.name)
    return [statement.name.getText()];
  return ['(file)'];
}

const placesOf = (statement: ts.Statement): Place[] => {
  const file = relative(root, statement.getSourceFile().fileName);
  return namesOf(statement).map((name) => `${file} ${name}`);
};

export class Reach {
  private readonly files: ReadonlySet<string>;
  private readonly known = new Map<ts.Statement, ReadonlySet<ts.Statement>>();

  constructor(private readonly source: Source) {
    this.files = new Set(source.files.map(({ fileName }) => fileName));
  }

  /** Every place that the process of `entry` can come to. */
  of(entry: string): ReadonlySet<Place> {
    const file = this.source.files.find(({ fileName }) => relative(root, fileName) === entry);
    if (!file) throw new Error(`There is no file ${entry}`);
    const reached = new Set<ts.Statement>();
    const waiting = [...file.statements];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(...this.namedBy(next));
    }
    return new Set([...reached].flatMap(placesOf));
  }

  private namedBy(statement: ts.Statement): ReadonlySet<ts.Statement> {
    const before = this.known.get(statement);
    if (before) return before;
    const found = new Set<ts.Statement>();
    this.known.set(statement, found);
    if (ts.isImportDeclaration(statement) || ts.isInterfaceDeclaration(statement)) return found;
    if (ts.isTypeAliasDeclaration(statement)) return found;
    const visit = (node: ts.Node): void => {
      if (ts.isTypeNode(node)) return;
      if (ts.isIdentifier(node)) for (const one of this.declaredAt(node)) found.add(one);
      ts.forEachChild(node, visit);
    };
    visit(statement);
    return found;
  }

  private declaredAt(node: ts.Identifier): ts.Statement[] {
    const { checker } = this.source;
    let symbol = ts.isShorthandPropertyAssignment(node.parent)
      ? checker.getShorthandAssignmentValueSymbol(node.parent)
      : checker.getSymbolAtLocation(node);
    if (!symbol) return [];
    if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
    return (symbol.declarations ?? [])
      .filter((declared) => this.files.has(declared.getSourceFile().fileName))
      .map(topOf)
      .filter((one): one is ts.Statement => one !== undefined);
  }
}
