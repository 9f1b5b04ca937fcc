import { DomainError } from '../../domain/errors';

/** Removes from a drawing whatever can run, load or link: DOMPurify decides, on the parser of jsdom. */

/** Loads other files, leads elsewhere, or changes attributes after they were checked. */
const noTags = ['a', 'animate', 'animateMotion', 'animateTransform', 'foreignObject', 'image', 'mpath', 'set', 'use'];
/** The only references of a drawing are to its own parts. */
const isForeign = (value: string): boolean =>
  /url\(\s*(?!["']?#)/i.test(value) || /@import|\\|expression\(|javascript:|data:/i.test(value);
/** What is seen, and where it is only kept for other parts, which could be drawn by `use` alone. */
const shapes = 'path, rect, circle, ellipse, line, polyline, polygon, text';
const kept = 'defs, symbol, clipPath, mask, pattern, marker';
const svgSpace = 'http://www.w3.org/2000/svg';

type Cleaner = (text: string) => Readonly<{ text: string; drawn: number }> | null;
let cleaner: Promise<Cleaner> | undefined;

/** Made at the first drawing: the parser takes tens of megabytes, and most processes never see a logo. */
async function makeCleaner(): Promise<Cleaner> {
  const [{ JSDOM }, { default: createPurifier }] = await Promise.all([import('jsdom'), import('dompurify')]);
  const { window } = new JSDOM('');
  const purifier = createPurifier(window);
  purifier.addHook('uponSanitizeAttribute', (_node, attribute) => {
    if (/^(xlink:)?href$/i.test(attribute.attrName)) attribute.keepAttr = attribute.attrValue.startsWith('#');
    else if (isForeign(attribute.attrValue)) attribute.keepAttr = false;
  });
  purifier.addHook('uponSanitizeElement', (node, { tagName }) => {
    if (tagName === 'style' && isForeign(node.textContent ?? '')) node.textContent = '';
  });
  return (text) => {
    const made = purifier.sanitize(text, {
      USE_PROFILES: { svg: true, svgFilters: true },
      FORBID_TAGS: noTags,
      ALLOW_DATA_ATTR: false,
      RETURN_DOM: true,
    });
    const svg = made.querySelector('svg');
    if (!svg || svg.namespaceURI !== svgSpace) return null;
    const drawn = svg.querySelectorAll(shapes).length - svg.querySelectorAll(`:is(${kept}) :is(${shapes})`).length;
    return { text: new window.XMLSerializer().serializeToString(svg), drawn };
  };
}

const refused = (message: string): DomainError => new DomainError('INVALID_LOGO', message);

/** The drawing as it is stored and shown. Throws INVALID_LOGO where nothing of it can be shown. */
export async function cleanSvg(file: Buffer): Promise<Buffer> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    throw refused('The logo is neither a PNG file nor an SVG file in UTF-8');
  }
  if (!/<svg[\s>]/i.test(text)) throw refused('The logo is neither a PNG file nor an SVG file');
  const clean = (await (cleaner ??= makeCleaner()))(text);
  if (!clean || clean.drawn === 0) throw refused('Nothing of the SVG file can be shown: scripts and links are removed');
  return Buffer.from(clean.text);
}
