import { Type } from 'typebox';
import { assetIcon } from '../../domain/chains/asset-icons';
import { assets } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { route } from '../http/route';

/** Where an asset's icon is served. */
export const iconPath = (asset: string): string => `/icons/${asset.toLowerCase()}.svg`;

const iconOf = (asset: string): string =>
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" role="img">' +
  `<title>${asset}</title>${assetIcon(asset)}</svg>`;

export const getIcon = route({
  name: 'getIcon',
  method: 'get',
  path: '/icons/{file}',
  summary: 'Icon of an asset',
  tag: 'Currencies',
  envelope: 'B',
  params: Type.Object({ file: Type.String({ description: 'Asset in lower case, with .svg.' }) }),
  success: { status: 200, type: 'image/svg+xml', description: 'An SVG image.' },
  errors: ['NOT_FOUND'],
  answer({ params }) {
    const known = assets.find(({ asset }) => iconPath(asset) === `/icons/${params.file}`);
    if (!known) throw new DomainError('NOT_FOUND');
    return { text: iconOf(known.asset), type: 'image/svg+xml', headers: { 'Cache-Control': 'public, max-age=86400' } };
  },
});
