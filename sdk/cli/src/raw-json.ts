/** JSON as text: events are forwarded byte for byte, and numbers or keys that a parser would change stay. Texts have
 *  been parsed once, so they are known to be valid. */

/** The members of an object or an array, each with its key and its text. */
export function membersOf(text: string): Array<Readonly<{ key?: string; value: string }>> {
  const members: Array<{ key?: string; value: string }> = [];
  const isObject = text.trimStart().startsWith('{');
  let at = text.search(/[{[]/) + 1;
  for (;;) {
    at = afterSpace(text, at);
    if (text[at] === ',') at = afterSpace(text, at + 1);
    if (at >= text.length || text[at] === '}' || text[at] === ']') return members;
    let key: string | undefined;
    if (isObject) {
      const end = afterString(text, at);
      key = JSON.parse(text.slice(at, end)) as string;
      at = afterSpace(text, afterSpace(text, end) + 1);
    }
    const end = afterValue(text, at);
    members.push({ key, value: text.slice(at, end) });
    at = end;
  }
}

/** The text of one property of an object. */
export const rawProperty = (text: string, name: string): string | undefined =>
  membersOf(text).findLast(({ key }) => key === name)?.value;

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \n\r\t'.includes(text[at]!)) at += 1;
  return at;
}

function afterString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function afterValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  for (;;) {
    const char = text[at]!;
    if (char === '"') at = afterString(text, at);
    else {
      if (char === '{' || char === '[') depth += 1;
      if (char === '}' || char === ']') depth -= 1;
      at += 1;
    }
    const next = text[at];
    if (depth === 0 && (next === undefined || ' \n\r\t,}]'.includes(next))) return at;
  }
}
