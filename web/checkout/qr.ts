import { encode } from 'uqr';
import { Html } from './html';

/** Light modules around a code, as its standard asks. */
const quiet = 4;
/** Address and invoice of bitcoin in one. */
const longText = 300;

/** A QR code as one stroke per run of dark modules: a fraction of the bytes of a square per module. A long text has
 *  less redundancy: on a screen nothing is dirty, and larger modules are read more easily. */
export function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: text.length > longText ? 'L' : 'M', border: 0 });
  const width = size + 2 * quiet;
  const rows = data.map((row, y) => strokes(row, y + quiet)).join('');
  return new Html(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${width}" shape-rendering="crispEdges">` +
      `<path fill="#fff" d="M0 0h${width}v${width}H0z"/><path stroke="#000" d="${rows}"/></svg>`,
  );
}

function strokes(row: readonly boolean[], y: number): string {
  let path = '';
  let at = 0;
  for (let x = 0; x < row.length;) {
    let end = x;
    while (row[end]) end += 1;
    if (end > x) {
      path += path ? `m${x - at} 0h${end - x}` : `M${x + quiet} ${y}.5h${end - x}`;
      at = end;
    }
    x = end + 1;
  }
  return path;
}
