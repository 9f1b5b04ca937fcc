/** JSON as text: what JSON.parse would round or merge is found and passed on byte for byte. Texts given to
 *  `rawProperty` and `withRaw` have been parsed once, so they are known to be valid. */

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function afterSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The position after the string that starts at `from`. */
function afterString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The position after the value that starts at `from`. */
function afterValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return afterString(text, from);
  if (first !== '{' && first !== '[') {
    let at = from;
    while (at < text.length && !isSpace(text.charCodeAt(at)) && !',]}'.includes(text[at]!)) at++;
    return at;
  }
  let depth = 0;
  let at = from;
  do {
    const char = text[at];
    if (char === '"') {
      at = afterString(text, at);
      continue;
    }
    if (char === '{' || char === '[') depth++;
    if (char === '}' || char === ']') depth--;
    at++;
  } while (depth > 0);
  return at;
}

/** The text of property `name` of the object that `text` is, exactly as written; undefined where there is none. Of
 *  duplicates the last counts, as with JSON.parse. */
export function rawProperty(text: string, name: string): string | undefined {
  let at = afterSpace(text, 0);
  if (text[at] !== '{') return undefined;
  let found: string | undefined;
  at = afterSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = afterString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = afterSpace(text, afterSpace(text, keyEnd) + 1);
    const end = afterValue(text, start);
    if (key === name) found = text.slice(start, end);
    at = afterSpace(text, end);
    if (text[at] === ',') at = afterSpace(text, at + 1);
  }
  return found;
}

/** `object` as JSON with `raw`, a JSON text, as its last property `name`; without it where `raw` is null. */
export function withRaw(object: Readonly<Record<string, unknown>>, name: string, raw: string | null): string {
  const json = JSON.stringify(object);
  if (raw === null) return json;
  return `${json.slice(0, -1)}${json === '{}' ? '' : ','}${JSON.stringify(name)}:${raw}}`;
}

/** Whether brackets nest deeper than `limit`. Works on any text, before it is parsed. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (isInString) {
      if (char === 0x5c) at++;
      else if (char === 0x22) isInString = false;
    } else if (char === 0x22) isInString = true;
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > limit) return true;
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return false;
}
