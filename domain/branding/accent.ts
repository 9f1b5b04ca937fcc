/** A merchant's colour, made readable: as text on our pages and below the text of buttons, in both themes (WCAG 2.2,
 *  1.4.3). */

type Rgb = readonly [number, number, number];
/** The surfaces with the least room, as web/checkout/public/checkout.css has them: `--page` in light, `--card` in
 *  dark. */
export const surfaces = { light: '#f4f6f8', dark: '#18202a' } as const;
const needed = 4.5;
const steps = 64;

const rgb = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
const hexOf = (color: Rgb): string =>
  `#${color.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;

function luminance(hex: string): number {
  const [r, g, b] = rgb(hex).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** From 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** The first mix of `color` with black or white that stands out from `surface` enough. */
function towards(end: Rgb, color: string, surface: string): string {
  const from = rgb(color);
  for (let step = 0; step < steps; step += 1) {
    const share = step / steps;
    const mixed = hexOf(from.map((value, at) => value + (end[at]! - value) * share) as unknown as Rgb);
    if (contrast(mixed, surface) >= needed) return mixed;
  }
  return hexOf(end);
}

export type Accent = Readonly<{ brand: string; onBrand: string }>;

/** The colour darker on light pages and lighter on dark ones, as far as it must be; and the text on it. */
export const accentOf = (color: string): Readonly<{ light: Accent; dark: Accent }> => ({
  light: { brand: towards([0, 0, 0], color, surfaces.light), onBrand: '#ffffff' },
  dark: { brand: towards([255, 255, 255], color, surfaces.dark), onBrand: '#000000' },
});
