/** What we use of jsdom: its own types would bring the browser's globals into a server. */
declare module 'jsdom' {
  type Node = { textContent: string | null };
  type Element = Node & { namespaceURI: string | null; querySelectorAll(selector: string): { length: number } };
  export class JSDOM {
    constructor(html: string);
    readonly window: { XMLSerializer: new () => { serializeToString(node: Element): string } };
  }
}

/** And of DOMPurify, for the same reason. */
declare module 'dompurify' {
  type Node = { textContent: string | null };
  type Element = Node & { namespaceURI: string | null; querySelectorAll(selector: string): { length: number } };
  type Purifier = {
    addHook(
      name: 'uponSanitizeAttribute',
      hook: (node: Node, attribute: { attrName: string; attrValue: string; keepAttr: boolean }) => void,
    ): void;
    addHook(name: 'uponSanitizeElement', hook: (node: Node, element: { tagName: string }) => void): void;
    sanitize(
      text: string,
      options: Readonly<Record<string, unknown>>,
    ): { querySelector(selector: string): Element | null };
  };
  const createPurifier: (window: object) => Purifier;
  export default createPurifier;
}
