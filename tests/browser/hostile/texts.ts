/** Texts that a page must show and never read: none is longer than the shortest field with the mark of its field. Each
 *  would make an element `x-hit`, call `hit`, or turn the text around it. */
const texts = [
  '<script>hit()</script>',
  '<img src=x onerror=hit()>',
  '<svg onload=hit()><x-hit>',
  `"'><x-hit onfocus=hit() autofocus>`,
  '</title></script></style><x-hit>',
  '{{hit()}}${hit()}<%=hit()%>',
  '<!--<x-hit>]]>&lt;x-hit&gt;&amp;',
  '\u202eevil\u2066\u2067 txt.exe\u200f',
  'javascript:hit()//',
  '__proto__',
  'W'.repeat(34),
] as const;

export const rounds = texts.length;

/** The text of round `round` for the field with this number: different ones at once in the fields of a form. */
export const textOf = (round: number, field: number): string => `${field}${texts[(round + field) % texts.length]!}`;

/** What the receiver of a webhook answers: all of them at once. */
export const hostileAnswer = texts.join('\n');

/** A logo that is all of this and a picture too. */
export const hostileLogo = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  width="9" height="9" viewBox="0 0 9 9" onload="hit()"><rect width="9" height="9" onclick="hit()"/>
  <script>hit()</script><style>@import "https://evil.example/hit";</style><a xlink:href="javascript:hit()"/>
  <image href="https://evil.example/hit" onerror="hit()"/><animate attributeName="href" values="javascript:hit()"/>
  <foreignObject width="9" height="9"><x-hit onload="hit()"/></foreignObject></svg>`;

/** Where an address of the web is asked for. */
export const hostileAddresses = [
  'javascript:hit()',
  'JavaScript:hit()//https://shop.example',
  'java\tscript:hit()',
  'data:text/html,<script>hit()</script>',
  'vbscript:hit()',
  '//evil.example/',
  '/\\evil.example/',
  'https://shop.example@evil.example/',
  'https://shop.example\\@evil.example/',
  'file:///etc/passwd',
] as const;
