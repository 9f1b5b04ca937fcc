/** Icons of assets: our own drawings on a disc of 32 by 32, no trade mark. */

const stroke = (path: string, width: number): string =>
  `<path fill="none" stroke="#fff" stroke-width="${width}" stroke-linecap="round" d="${path}"/>`;
const fill = (path: string): string => `<path fill="#fff" d="${path}"/>`;

const drawings: Readonly<Record<string, readonly [colour: string, shape: string]>> = {
  BTC: [
    '#f7931a',
    stroke(
      'M11 9.5h6.2a3.2 3.2 0 0 1 0 6.4H13h5a3.3 3.3 0 0 1 0 6.6h-7M13 9.5v13M14.6 7v2.5M18 7v2.5M14.6 22.5V25M18 ' +
        '22.5V25',
      2.2,
    ),
  ],
  // An L with a stroke through it.
  LTC: ['#345d9d', stroke('M14.6 7.5l-3 16.5h10M9.6 18.6l9.6-3.8', 2.6)],
  // Two links of a chain.
  POL: ['#7b3fe4', stroke('M13 12.6l4-2.3 4 2.3v4.6l-4 2.3M19 19.4l-4 2.3-4-2.3v-4.6l4-2.3', 2.2)],
  // Four diamonds around one.
  BNB: [
    '#d9a400',
    fill(
      'M16 6.5l3.2 3.2-3.2 3.2-3.2-3.2zM9.7 12.8l3.2 3.2-3.2 3.2L6.5 16zM16 12.8l3.2 3.2-3.2 3.2-3.2-3.2z' +
        'M22.3 12.8l3.2 3.2-3.2 3.2-3.2-3.2zM16 19.1l3.2 3.2-3.2 3.2-3.2-3.2z',
    ),
  ],
  // Two arcs that turn their backs on each other.
  XRP: [
    '#23292f',
    stroke('M9.5 9.5l3.2 3.1a4.7 4.7 0 0 0 6.6 0l3.2-3.1M9.5 22.5l3.2-3.1a4.7 4.7 0 0 1 6.6 0l3.2 3.1', 2.4),
  ],
  // A kite.
  TRX: ['#b3121d', stroke('M8.5 9l13.6 2.6-7.4 12.6zM8.5 9l7.3 6.4-1.1 8.8M15.8 15.4l6.3-3.8', 1.8)],
  ETH: ['#627eea', fill('M16 5l-6.5 11L16 19.8 22.5 16zM9.5 17.6L16 27l6.5-9.4L16 21.4z')],
  USDT: [
    '#26a17b',
    `${fill('M9.5 8.5h13v3.2h-4.9V24h-3.2V11.7H9.5z')}${stroke('M13 14.2c-6 .8-6 3.4 3 3.4s9-2.6 3-3.4', 1.4)}`,
  ],
  USDC: [
    '#2775ca',
    stroke(
      'M19.6 12.6c-.5-1.2-1.8-1.9-3.6-1.9-2 0-3.6 1-3.6 2.6 0 3.6 7.4 1.8 7.4 5.4 0 1.6-1.7 2.6-3.8 2.6-1.9 ' +
        '0-3.2-.7-3.7-1.9M16 8.6v2.1m0 10.6v2.1M12.4 6a10.7 10.7 0 0 0 0 20m7.2-20a10.7 10.7 0 0 1 0 20',
      1.8,
    ),
  ],
};

/** What stands inside the `svg` element; an asset without a drawing has its letters. */
export function assetIcon(asset: string): string {
  const letters =
    '<text x="16" y="20" font-family="system-ui,sans-serif" font-size="10" font-weight="700" text-anchor="middle" ' +
    `fill="#fff">${asset.slice(0, 4)}</text>`;
  const [colour, shape] = drawings[asset] ?? ['#475569', letters];
  return `<circle cx="16" cy="16" r="16" fill="${colour}"/>${shape}`;
}
